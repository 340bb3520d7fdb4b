// Bad logs of every kind through every command that reads a log: each is told in one message that names the log and
// what was found, with exit code 2 for what was asked wrongly and 1 for what could not be done. No command
// crashes, takes long, or changes a log that it does not take. The commands come from the application's own list: one that reads a log and
// has no line in `calls` fails the first test.

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <sstream>

#include "admission/rules.hpp"
#include "cli/application.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "schemas/envelope_generated.h"
#include "tests/cli/commands_of.hpp"
#include "tests/cli/in_process.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::cli {
namespace {

using test::errors_in;
using test::expect_orderly;
using test::expect_told;
using test::Said;
using test::say;
using test::TemporaryFolder;
using test::text_of_call;
using test::Words;

/// `LOG` stands for the log that is tried.
const std::string log_word = "LOG", new_word = "NEW";

struct Call {
  Words words;
  bool whole = true;  ///< It needs every record, so that a damaged one fails it.
};

/// What only reads the log.
std::map<std::string, std::vector<Call>> calls() {
  std::map<std::string, std::vector<Call>> out;
  const auto add = [&](const std::string& command, const Words& more, bool whole = true) {
    std::istringstream names(command);
    Words words{std::istream_iterator<std::string>(names), {}};
    words.insert(words.end(), more.begin(), more.end());
    if (command != "log copy") words.insert(words.end(), {"--log", log_word});
    out[command].push_back({std::move(words), whole});
  };
  add("get", {"workloads"});
  add("get", {"cq,lq,cohorts,rf,topologies,nodes,admissionchecks,wpc,gates,quarantined", "-A", "-o", "wide"});
  add("get", {"events"});
  add("get", {"workloads", "-o", "json", "--at", "3"}, false);
  add("describe", {"cq", "cq"});
  add("history", {"job/holder"});
  add("why", {"job/holder"});
  add("why", {"job/huge", "-o", "json"});
  add("why", {"cq/cq"});
  add("how", {});
  add("how", {"latest", "job/huge", "-o", "json"});
  add("audit", {});
  add("evidence", {"--for", "job/holder", "-o", new_word + ".tar.gz"});
  add("top", {});
  add("top", {"--reasons"});
  add("top", {"localqueues", "--since", "1"});
  add("plan defrag", {"--topology", "t"});
  add("diff", {"1", "latest"});
  add("compare-kueue", {});
  add("verify", {});
  add("verify", {"--from-snapshot"});
  add("what-if", {"--from", "1"});
  add("what-if", {"--from", "1", "--compare"});
  add("eta", {"job/huge", "--futures", "10", "--horizon", "1m"});
  add("export", {});
  add("export", {"--format", "trace"});
  add("debug",
      {"-e", "step 2", "-e", "back", "-e", "next", "-e", "break event QuotaReserved", "-e", "run", "-e", "reverse", "-e", "record"});
  add("bisect", {"event QuotaReserved and clusterqueue/none"});
  add("blame", {"clusterqueue/cq"});
  add("replay", {});
  add("replay", {"--from-start", "--fields"});
  add("nodes", {});
  add("log cat", {});
  add("log cat", {"-o", "json"});
  add("log stats", {});
  add("log check", {});
  add("log copy", {log_word, new_word});
  add("log trim", {"--before", "5", "--dry-run"}, false);
  add("log quarantine", {"7", "--dry-run"}, false);
  add("log checkpoints", {}, false);
  return out;
}

/// What writes to the log: never to one that it does not take.
std::vector<Words> writers(const std::string& manifests, const std::string& good) {
  return {{"simulate", manifests, "--log", log_word},
          {"run", "--quickstart", manifests, "--log", log_word, "--log-level", "off"},
          {"what-if", "--from", "5", "--log", good, "--result", log_word},
          {"log", "copy", good, log_word},
          {"log", "trim", "--before", "5", "--log", log_word},
          {"log", "quarantine", "7", "--force", "--log", log_word},
          {"log", "checkpoints", "--drop", "7", "--log", log_word}};
}

// What has --log and reads no file that was there before, or none at all, or is there until it is told to end (tests/page/), or tells of a
// bad log as of all else that is wrong (tests/doctor/).
const std::set<std::string> of_writers{"run", "simulate", "log init", "ui", "doctor"};

class EveryBadLog : public test::SmallLog {
 protected:
  std::string fresh(const std::string& name) { return own_.file(std::to_string(++made_) + "-" + name); }
  std::string copy() {
    const std::string file = fresh("log.db");
    std::filesystem::copy_file(small, file);
    return file;
  }
  /// A copy of the small log, changed by SQL.
  std::string changed(const std::string& sql) {
    const std::string file = copy();
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(db);
    return file;
  }
  std::string with_bytes(std::size_t at, std::size_t count) {
    std::string all = test::contents(small);
    for (std::size_t i = at; i < std::min(all.size(), at + count); ++i) all[i] = static_cast<char>(~static_cast<unsigned char>(all[i]));
    return test::write(fresh("flipped.db"), all);
  }
  std::string cut_to(std::size_t size) { return test::write(fresh("cut.db"), test::contents(small).substr(0, size)); }
  static std::uint64_t last_of(const std::string& file) {
    return events::SqliteLog::open(file, {.read_only = true}).value()->last().value();
  }

  /// A record behind the last one, as another program or a later release may leave it: its checksum is right.
  static void append(const std::string& file, std::span<const std::byte> bytes, std::uint64_t sequence, std::uint64_t epoch = 1) {
    const auto log = events::SqliteLog::open(file, {}).value();
    const events::EncodedRecord record{"default", sequence, epoch, Time::from_seconds(1'800'000'000), bytes};
    ASSERT_TRUE(log->append({&record, 1}, std::nullopt));
  }
  static void append(const std::string& file, RecordView record) {
    record.envelope.domain = "default";
    record.envelope.sequence = last_of(file) + 1;
    if (record.envelope.epoch == 0) record.envelope.epoch = 1;
    record.envelope.time = Time::from_seconds(1'800'000'000);
    append(file, events::encode(record), record.envelope.sequence, record.envelope.epoch);
  }
  static void append_rubbish(const std::string& file) {
    const std::string_view rubbish = "this is no record at all";
    append(file, std::as_bytes(std::span(rubbish)), last_of(file) + 1);
  }

  Words filled(Words words, const std::string& log) {
    for (auto& word : words) {
      if (word == log_word) word = log;
      if (word.starts_with(new_word)) word = fresh("copy") + word.substr(new_word.size());
    }
    return words;
  }
  std::vector<std::pair<Words, bool>> reading(const std::string& log) {
    std::vector<std::pair<Words, bool>> out;
    for (const auto& [command, all] : calls())
      for (const auto& call : all) out.emplace_back(filled(call.words, log), call.whole);
    return out;
  }

  TemporaryFolder own_;
  int made_ = 0;
};

TEST_F(EveryBadLog, EveryCommandThatReadsALogIsTried) {
  std::ostringstream out, err;
  Session session{out, err};
  const auto app = make_application(session);
  const auto tried = calls();
  for (const auto& [name, command] : test::commands_of(*app)) {
    const bool reads = command->get_option_no_throw("--log") != nullptr || name == "log copy";
    if (of_writers.contains(name)) continue;
    EXPECT_EQ(tried.contains(name), reads) << "\"" << name << "\" needs a line in calls()";
  }
  for (const auto& [words, whole] : reading(small)) {
    const Said said = say(words);
    expect_orderly(said, words);
    EXPECT_LE(said.status, 1) << text_of_call(words) << " is asked wrongly: " << said.err;
  }
}

// ---- what is no log -------------------------------------------------------------------------------------------------------------------

TEST_F(EveryBadLog, WhatIsNoLogIsRefusedByAllAndLeftAsItWas) {
  const std::string empty_database = fresh("other.db");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(empty_database.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  struct Case {
    std::string file;
    Words parts;
    bool written = true;  ///< Who writes refuses it as well; else it may begin a new log there.
  };
  const std::vector<Case> cases{
      {fresh("absent.db"), {"absent.db", "no such file"}, false},
      {own_.path().string(), {own_.path().string(), "which is a folder; allowed: "}},
      {fresh("absent/log.db"), {"absent/log.db", "o such file"}},
      {test::write(fresh("text"), test::small_world), {"not a Hindsight log"}},
      {test::write(fresh("nothing"), ""), {"not a Hindsight log"}, false},
      {empty_database, {"not a Hindsight log: application id is 0, expected "}},
      {changed("PRAGMA user_version = 7"), {"its format version is 7, written by a newer release; this build reads up to "}},
      {changed("PRAGMA user_version = 0"), {"its format version is 0"}},
      {changed("DROP TABLE records"), {"no such table: records"}}};
  for (const auto& one : cases) {
    const bool file = std::filesystem::is_regular_file(one.file);
    const std::string before = file ? test::contents(one.file) : "";
    std::vector<Words> tried;
    for (const auto& [words, whole] : reading(one.file)) tried.push_back(words);
    for (const auto& words : writers(manifests, small))
      if (one.written || words[1] == "trim" || words[1] == "quarantine") tried.push_back(filled(words, one.file));
    for (const auto& words : tried) {
      const Said said = say(words);
      expect_orderly(said, words);
      expect_told(said, words, one.parts);
      EXPECT_EQ(errors_in(said.err), 1U) << text_of_call(words) << "\n" << said.err;
    }
    EXPECT_EQ(std::filesystem::is_regular_file(one.file), file) << one.file;
    if (file) {
      EXPECT_TRUE(test::contents(one.file) == before) << one.file << " was changed";
    }
  }
}

// ---- what is damaged ------------------------------------------------------------------------------------------------------------------

TEST_F(EveryBadLog, ADamagedRecordFailsWhoeverNeedsItAndNamesIt) {
  const auto later = [&](const std::string& file, std::span<const std::byte> bytes) {
    append(file, bytes, last_of(file) + 1);
    return file;
  };
  const auto newer = [&] {
    flatbuffers::FlatBufferBuilder b;
    const auto body = flatbuffers::Offset<void>(b.EndTable(b.StartTable()));
    b.Finish(wire::CreateEnvelope(b, b.CreateString("default"), last_of(small) + 1, 1, 0, 0, events::schema_version + 1,
                                  wire::Body::TimerFired, body),
             wire::EnvelopeIdentifier());
    return later(copy(), std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize())));
  };
  const std::string_view rubbish = "this is no record at all";
  struct Case {
    std::string file;
    Words parts;
    bool undecoded = false;  ///< Its checksum is right.
  };
  const std::string last = std::to_string(last_of(small));
  const std::vector<Case> cases{
      {changed("UPDATE records SET checksum = checksum + 1 WHERE offset = 45"), {"record 45 is damaged: its checksum does not match"}},
      {changed("UPDATE records SET body = CAST(substr(body, 1, 40) || x'FF' || substr(body, 42) AS BLOB) WHERE offset = 45"),
       {"record 45 is damaged: its checksum does not match"}},
      {changed("DELETE FROM records WHERE offset = 45"), {"record 45 is damaged: it is missing"}},
      {changed("UPDATE records SET offset = 9223372036854775807 WHERE offset = " + last),
       {"record " + last + " is damaged: it is missing"}},
      {changed("UPDATE records SET domain = 99 WHERE offset = 45"), {"45"}},
      {cut_to(std::filesystem::file_size(small) / 2), {"record 1 is damaged"}},
      {later(copy(), std::as_bytes(std::span(rubbish))), {std::to_string(last_of(small) + 1) + ": "}, true},
      {newer(), {"it was written with schema version " + std::to_string(events::schema_version + 1) + " by a newer release"}, true}};
  for (const auto& one : cases)
    for (const auto& [words, whole] : reading(one.file)) {
      const Said said = say(words);
      expect_orderly(said, words);
      if (!whole || (one.undecoded && words[1] == "copy")) continue;  // which copies bytes
      Words parts = one.parts;
      // The last decision is looked for from the end, which stands far behind what is missing.
      if (words[0] == "how" && parts.front().starts_with("record " + last)) parts.front() = "is damaged: it is missing";
      parts.push_back(one.file);
      expect_told(said, words, words[1] == "check" ? one.parts : parts);
    }
}

/// The state up to the damage is told as it is of the good log, by whoever asks for it; the error of who asks for more says how far that
/// is.
TEST_F(EveryBadLog, WhoFoldsSaysHowFarTheLogStaysUsable) {
  const std::string bad = changed("UPDATE records SET checksum = checksum + 1 WHERE offset = 45");
  for (const Words& words : std::vector<Words>{{"get", "wl"},
                                               {"get", "events"},
                                               {"describe", "cq", "cq"},
                                               {"history", "job/waiter"},
                                               {"top", "--since", "1"},
                                               {"diff", "1", "latest"},
                                               {"export"},
                                               {"bisect", "clusterqueue/none"},
                                               {"blame", "cq/cq"},
                                               {"debug", "-e", "where"},
                                               {"replay"}}) {
    const Said said = say(test::on(bad, words));
    if (words[0] == "history") {  // it reads before it folds
      expect_told(said, words, {"record 45"});
    } else {
      expect_told(said, words, {"what is before stays usable, up to position 44"});
    }
  }
  EXPECT_EQ(say(test::on(bad, {"get", "wl", "--at", "44"})).out, say(test::on(small, {"get", "wl", "--at", "44"})).out);
}

TEST_F(EveryBadLog, FlippedBytesAnywhereAndCutsAnywhereAreTold) {
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(small));
  std::map<std::string, std::string> good;
  // What a command writes has another name in each call.
  const auto is_own_file = [](const std::string& word) { return word.ends_with(".tar.gz"); };
  const auto key = [&](Words words, const std::string& file) {
    for (auto& word : words) {
      if (word == file) word = log_word;
      if (is_own_file(word)) word = "FILE";
    }
    return text_of_call(words);
  };
  const auto nameless = [&](std::string out, const Words& words) {
    for (const auto& word : words)
      for (std::size_t at = 0; is_own_file(word) && (at = out.find(word, at)) != std::string::npos;) out.replace(at, word.size(), "FILE");
    return out;
  };
  for (const auto& [words, whole] : reading(small))
    if (words[1] != "copy") good[key(words, small)] = nameless(say(words).out, words);
  for (int i = 0; i < 12; ++i) {
    const std::size_t at = size * static_cast<std::size_t>(i % 6) / 6 + 700;
    const std::string file = i < 6 ? with_bytes(at, 16) : cut_to(at);
    for (const auto& [words, whole] : reading(file)) {
      const Said said = say(words);
      expect_orderly(said, words);
      // What is answered without an error is the truth.
      if (said.status != 0 || words[0] == "verify" || words[1] == "copy" || words[1] == "stats" || words[0] == "nodes" ||
          words[1] == "trim")
        continue;
      EXPECT_EQ(nameless(said.out, words), good[key(words, file)]) << text_of_call(words) << " of " << file;
    }
  }
}

/// What is beside the records is checked, or of no use to mislead.
TEST_F(EveryBadLog, TablesBesideTheRecordsMislead) {
  for (const char* sql :
       {"UPDATE time_marks SET time_us = -9223372036854775808", "UPDATE time_marks SET time_us = 9223372036854775807",
        "UPDATE domains SET last_offset = 9223372036854775807, last_sequence = -1, last_epoch = -1", "DELETE FROM domains",
        "UPDATE domains SET name = ''", "INSERT INTO domains VALUES (7, 'ghost', 1, 1, 1)",
        "INSERT INTO snapshots VALUES (50, 'default', 1, 0, 9, 1, '', 1, 1, 1); INSERT INTO snapshot_parts VALUES (1, x'00112233')",
        "INSERT INTO snapshots VALUES (50, 'default', 1, 0, 9, 1, '', 1, 1, 9223372036854775807)",
        "INSERT INTO snapshots VALUES (9223372036854775807, 'default', -1, -1, -1, -1, '', -1, -1, -1)",
        "UPDATE records SET offset = -5 WHERE offset = 60", "UPDATE records SET time_us = 9223372036854775807"})
    for (const auto& [words, whole] : reading(changed(sql))) {
      SCOPED_TRACE(sql);
      expect_orderly(say(words), words);
    }
}

// ---- what is in order, and out of the ordinary ----------------------------------------------------------------------------------------

/// A log whose rules this build does not know is read, and that is said.
TEST_F(EveryBadLog, RulesOfALaterReleaseAreTold) {
  const std::string file = copy();
  RecordView record;
  record.envelope.epoch = 2;
  record.body = EpochStarted{"host", "99.0", admission::rules_version + 3};
  append(file, record);
  const std::string told = "a later release has decided by rules " + std::to_string(admission::rules_version + 3);
  for (const auto& [words, whole] : reading(file)) {
    const Said said = say(words);
    expect_orderly(said, words);
  }
  for (const Words& words : std::vector<Words>{{"get", "wl"},
                                               {"describe", "cq", "cq"},
                                               {"why", "job/huge"},
                                               {"top"},
                                               {"diff", "1", "latest"},
                                               {"export"},
                                               {"blame", "cq/cq"},
                                               {"replay"},
                                               {"what-if", "--from", "1"}}) {
    const Said said = say(test::on(file, words));
    EXPECT_EQ(said.status, 0) << said.err;
    EXPECT_NE(said.err.find(told), std::string::npos) << text_of_call(words) << "\n" << said.err;
    EXPECT_EQ(said.err.find(told), said.err.rfind(told)) << text_of_call(words) << " says it twice\n" << said.err;
    EXPECT_EQ(say(test::on(small, words)).err.find("later release"), std::string::npos);
  }
}

TEST_F(EveryBadLog, ARecordThatWasSetAsideFailsNobody) {
  const std::string file = copy();
  append_rubbish(file);
  const auto at = last_of(file);
  RecordView said_so;
  said_so.body = Observation(RecordQuarantined{at, at, "somebody", "1.0", "no record at all"});
  append(file, said_so);
  for (const auto& [words, whole] : reading(file)) {
    const Said said = say(words);
    expect_orderly(said, words);
    EXPECT_EQ(said.err.find("is damaged"), std::string::npos) << text_of_call(words) << "\n" << said.err;
    const std::string first = words[0];
    if (first == "get" || first == "describe" || first == "top" || first == "replay" || first == "blame" || first == "verify" ||
        first == "export" || first == "diff" || words[1] == "cat" || words[1] == "copy" || words[1] == "check") {
      EXPECT_EQ(said.status, 0) << text_of_call(words) << "\n" << said.err << said.out;
    }
  }
}

TEST_F(EveryBadLog, AnEmptyLogAndATrimmedOneAreReadByAll) {
  const std::string empty = fresh("empty.db"), trimmed = copy();
  ASSERT_TRUE(events::SqliteLog::open(empty, {}));
  ASSERT_EQ(say({"log", "trim", "--before", "30", "--log", trimmed}).status, 0);
  for (const auto& file : {empty, trimmed})
    for (const auto& [words, whole] : reading(file)) expect_orderly(say(words), words);
  for (const Words& words : std::vector<Words>{{"get", "wl"},
                                               {"get", "events"},
                                               {"top"},
                                               {"verify"},
                                               {"replay"},
                                               {"nodes"},
                                               {"export"},
                                               {"log", "cat"},
                                               {"log", "stats"},
                                               {"log", "check"},
                                               {"debug", "-e", "step", "-e", "back"}})
    EXPECT_EQ(say(test::on(empty, words)).status, 0) << text_of_call(words) << "\n" << say(test::on(empty, words)).err;
  // What tells from the beginning on tells from where the log begins, and says so.
  for (const Words& words :
       std::vector<Words>{{"export"}, {"blame", "cq/cq:.status.pendingWorkloads", "--limit", "0"}, {"bisect", "event QuotaReserved"}}) {
    const Said said = say(test::on(trimmed, words));
    EXPECT_EQ(said.status, 0) << text_of_call(words) << "\n" << said.err;
    EXPECT_NE(said.err.find("what is told begins behind record 29"), std::string::npos) << said.err;
  }
  const Said back = say(test::on(trimmed, {"debug", "-e", "break event QuotaReserved", "-e", "reverse", "-e", "back 100"}));
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_NE(back.out.find("The log begins here"), std::string::npos) << back.out;
  expect_told(say(test::on(trimmed, {"verify", "--from-snapshot", "1"})), {"verify"}, {"was trimmed, only its snapshots lead on"});
  EXPECT_EQ(say(test::on(trimmed, {"verify", "--from-snapshot", "1"})).out.find("NOT SOUND"), std::string::npos);
}

TEST_F(EveryBadLog, ALogThatIsBeingWrittenIsReadByAll) {
  const std::string live = fresh("live.db");
  test::Program writer({"run", "--quickstart", "examples/quickstart", "--log", "sqlite:" + live, "--keep"});
  ASSERT_TRUE(writer.wait_for("dmitted")) << writer.said();  // it goes on meanwhile
  for (const auto& [words, whole] : reading(live)) {
    const Said said = say(words);
    expect_orderly(said, words);
    EXPECT_EQ(said.err.find("damaged"), std::string::npos) << text_of_call(words) << "\n" << said.err;
  }
  for (const auto& words : writers(manifests, small)) {
    const Words tried = filled(words, live);
    const Said said = say(tried);
    expect_orderly(said, tried);
    expect_told(said, tried, {std::to_string(writer.id())});
  }
  ASSERT_TRUE(writer.wait_for("Staying until interrupted")) << writer.said();
  writer.signal(SIGTERM);
  EXPECT_EQ(writer.wait().status, 0);
  EXPECT_EQ(say({"verify", "--log", live}).status, 0);
  EXPECT_EQ(say({"log", "check", "--log", live}).status, 0);
}

TEST_F(EveryBadLog, AFolderThatCannotBeWrittenIsReadByAll) {
  const std::string shut = own_.file("shut");
  std::filesystem::create_directory(shut);
  const std::string file = shut + "/log.db";
  std::filesystem::copy_file(small, file);
  chmod(own_.path().c_str(), 0755);
  chmod(file.c_str(), 0444);
  chmod(shut.c_str(), 0555);
  test::ProgramOptions options;
  if (geteuid() == 0) options.user = 65534;
  const auto as_stranger = [&](const Words& words) { return test::hindsight(words, options); };
  for (const Words& words : std::vector<Words>{{"get", "wl"}, {"why", "job/huge"}, {"verify"}, {"log", "check"}, {"export"}, {"nodes"}})
    EXPECT_EQ(as_stranger(test::on(file, words)).out, say(test::on(small, words)).out) << text_of_call(words);
  for (const Words& words : {Words{"log", "trim", "--before", "5", "--log", file}, {"log", "quarantine", "7", "--force", "--log", file}}) {
    const auto done = as_stranger(words);
    EXPECT_EQ(done.status, 1) << done.err;
    EXPECT_NE(done.err.find(file), std::string::npos) << done.err;
  }
  chmod(shut.c_str(), 0755);
}

}  // namespace
}  // namespace hindsight::cli
