// Bad input of every kind: one message that says which object, which field, what was found and what is allowed; exit code 2 for what was
// asked wrongly and 1 for what could not be done; no crash; and what is good of a damaged log stays readable.

#include <filesystem>
#include <functional>

#include <sqlite3.h>

#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "schemas/envelope_generated.h"
#include "tests/cli/worlds.hpp"

namespace hindsight::test {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

// ---- the command line ------------------------------------------------------------------------------------------------------------------

class BadUse : public Logs {};

TEST_F(BadUse, EachMistakeNamesWhatWasFoundAndWhatIsAllowed) {
  const std::vector<std::pair<Words, Words>> mistakes{
      {{}, {"A subcommand is required", "hindsight --help"}},
      {{"bogus"}, {"found command \"bogus\"; allowed: run, simulate, ui, get"}},
      {{"gett"}, {"found command \"gett\", did you mean get, eta?"}},
      {{"log", "cta"}, {"found command \"cta\", did you mean cat?; allowed: cat, stats, check", "hindsight log --help"}},
      {{"get"}, {"kind is required"}},
      {on(small, {"get", "pods"}), {"kind: found kind \"pods\"; allowed: workloads, clusterqueues"}},
      {on(small, {"get", "wl", "-o", "xml"}),
       {"--output: xml not in {table,wide,json,yaml,name,jsonpath=TEMPLATE,custom-columns=HEADING:PATH}"}},
      {on(small, {"get", "wl", "--frob"}), {"--frob"}},
      {on(small, {"get", "wl", "--at", "yesterday"}), {"--at: found \"yesterday\" for a moment; allowed: a position (120), a time"}},
      {on(small, {"diff", "never"}), {"found \"never\" for a moment"}},
      {on(small, {"why", "a/b/c"}), {"found \"a/b/c\" for a workload; allowed: NAME, NAMESPACE/NAME"}},
      {on(small, {"how", "1"}), {"record 1 is no decision; the decision behind it is record"}},
      {on(small, {"how", "yesterday"}), {"found \"yesterday\" for a moment; allowed: a position (120), a time"}},
      {on(small, {"how", "latest", "cohort/co"}), {"found \"cohort/co\" for whom to tell of; allowed: NAME, NAMESPACE/NAME"}},
      {on(small, {"how", "latest", "--heads", "0"}), {"--heads: found \"0\"; allowed: a whole number, 1 to 10000"}},
      {{"get", "wl", "--log", "postgres:x"}, {"--log: found postgres:x; allowed: sqlite:FILE"}},
      {{"get", "wl", "--log", "kafka:x"}, {"--log: Kafka log: a broker is \"x\"; allowed: HOST:PORT"}},
      {{"get", "wl", "--log", "kafka:x:1/a b"}, {"the prefix of the topics is \"a b\"; allowed: "}},
      {{"get", "wl", "--log", "x.db", "--log-config", "y"}, {"--log-config: is for logs on Kafka; --log is x.db"}},
      {{"get", "wl", "--log", "kafka:x:1", "--log-config", "nowhere"}, {"--log-config: nowhere cannot be read"}},
      {{"log", "init", "--log", "x.db"}, {"--log: found x.db; allowed: a log on Kafka"}},
      {{"get", "wl", "--log", "sqlite:"}, {"--log: found no file; allowed: sqlite:FILE"}},
      {{"get", "wl", "--log", "/tmp"}, {"--log: found /tmp, which is a folder; allowed: sqlite:FILE"}},
      {{"run", "--http", "nonsense", "--log-level", "off"}, {"--http", "found \"nonsense\"; allowed: HOST:PORT"}},
      {{"run", "--probe-address", "nonsense", "--log-level", "off"}, {"--probe-address", "found \"nonsense\"; allowed: HOST:PORT"}},
      {{"run", "--metrics", "--metrics-address", "x", "--log-level", "off"}, {"--metrics-address", "found \"x\"; allowed: HOST:PORT"}},
      {{"run", "--webhooks", "--webhook-address", "x", "--log-level", "off"}, {"--webhook-address", "found \"x\"; allowed: HOST:PORT"}},
      {{"run", "--webhooks", "--webhook-url", "http://h:1", "--log-level", "off"},
       {"--webhook-url: found \"http://h:1\"; allowed: https://HOST:PORT"}},
      {{"run", "--webhooks", "--webhook-url", "https://h:1/path", "--log-level", "off"}, {"allowed: https://HOST:PORT"}},
      {{"run", "--webhooks", "--webhook-cert-lifetime", "1s", "--log-level", "off"},
       {"--webhook-cert-lifetime: found \"1s\"; allowed: a duration of at least 10s"}},
      {{"run", "--webhook-cert-dir", "d"}, {"--webhook-cert-dir requires --webhooks"}},
      {{"run", "--visibility", "--visibility-address", "x", "--log-level", "off"},
       {"--visibility-address", "found \"x\"; allowed: HOST:PORT"}},
      {{"run", "--visibility-service", "s"}, {"--visibility-service requires --visibility"}},
      {{"run", "--log-level", "loud"}, {"log level: found \"loud\"; allowed: trace, debug"}},
      {{"run", "--durability", "some"}, {"--durability: some not in {fsync,normal,off}"}},
      {{"run", "--keep-history", "soon", "--log", "sqlite:never.db"},
       {"--keep-history: found \"soon\"; allowed: a duration of at least 1s"}},
      {{"run", "--keep-history", "1h", "--role", "connector", "--log", "kafka:h:1"},
       {"--keep-history: --role is connector; allowed: all, node"}},
      {{"run", "--keep-history", "1h", "--quickstart", "examples/quickstart"}, {"--keep-history: not with --quickstart"}},
      {{"run", "--domains", "forests"}, {"--domains: forests not in {one,trees}"}},
      {{"run", "--domains", "trees", "--log", "sqlite:never.db"}, {"--domains trees: --role is all; allowed: connector"}},
      {{"run", "--role", "connector", "--domains", "trees", "--log", "kafka:h:1", "--domain", "a/b"},
       {"--domain: found \"a/b\"; allowed with --domains trees: a name without \"/\""}},
      {{"run", "--max-in-flight", "0"}, {"--max-in-flight: Value 0 not in range 1 to 10000"}},
      {{"doctor", "--only", "lag"}, {"--only: found \"lag\"; allowed: server, clocks, rights"}},
      {{"doctor", "--print", "nothing"}, {"--print: found \"nothing\"; allowed: crds, crds/admissionchecks.kueue.x-k8s.io"}},
      {{"doctor", "--as-controller", "x"}, {"--as-controller: found \"x\"; allowed: NAMESPACE/NAME"}},
      {{"doctor", "--server", "h:1"}, {"--server: found \"h:1\"; allowed: http://HOST:PORT"}},
      {{"doctor", "--log-limit", "much", "--log", "x.db"}, {"--log-limit: found \"much\""}},
      {{"doctor", "--log-limit", "8Gi"}, {"--log-limit requires --log"}},
      {{"completion", "powershell"}, {"shell: powershell not in {bash,zsh,fish}"}}};
  for (const auto& [words, parts] : mistakes) {
    SCOPED_TRACE(::testing::PrintToString(words));
    expect_error(hindsight(words), 2, parts);
  }
}

TEST_F(BadUse, WhatIsNotInTheLogIsAFailure) {
  expect_error(hindsight(on(small, {"get", "wl", "--at", "9999"})), 1, {"position 9999 is past the end of log", small});
  expect_error(hindsight(on(small, {"get", "wl", "--at", "2020-01-01T00:00:00Z"})), 1, {"2020-01-01T00:00:00"});
  expect_error(hindsight(on(small, {"get", "wl", "--at", "-100000w"})), 1, {"begins at", "after 1970-01-01T00:00:00"});
  for (const char* zone : {"", "Mars", "zone.tab", "../zoneinfo/UTC", "/etc/localtime"})
    expect_error(hindsight(on(small, {"get", "wl", "--at", "2030-01-01", "--tz", zone})), 2, {"--tz", "for a time zone", "allowed: UTC"});
  EXPECT_EQ(hindsight(on(small, {"get", "wl", "--at", "2030-01-01 14:03", "--tz", "UTC"})).status, 0);
  expect_error(hindsight(on(small, {"get", "wl", "nobody"})), 1, {"workloads \"nobody\" not found"});
  expect_error(hindsight(on(small, {"get", "wl", "--domain", "x"})), 1, {"has no domain \"x\"; it has: default"});
}

// ---- manifests
// ----------------------------------------------------------------------------------------------------------------------------

class BadManifests : public ::testing::Test {
 protected:
  Outcome simulate(const std::string& text) { return hindsight({"simulate", write(file_, text), "--log", "sqlite:" + log_}); }
  /// Refused as wrong use by each command that reads manifests, and no log comes into being.
  void expect_refused(const std::string& text, const Words& parts) {
    expect_error(simulate(text), 2, parts);
    EXPECT_FALSE(std::filesystem::exists(log_));
    expect_error(hindsight({"run", "--quickstart", file_, "--log", "sqlite:" + log_}), 2, parts);
    EXPECT_FALSE(std::filesystem::exists(log_));
  }
  TemporaryFolder folder_;
  std::string file_ = folder_.file("m.yaml"), log_ = folder_.file("log.db");
};

TEST_F(BadManifests, MalformedYaml) {
  expect_refused("a: [1\n b: c", {"m.yaml: line 2: not YAML"});
  expect_refused("a: 1\na: 2\n", {"m.yaml", "line 2", "stands twice"});
  expect_refused(std::string("kind: \xff\xfe\n"), {"m.yaml"});
  expect_refused("- just\n- a list\n", {"m.yaml"});
  expect_error(simulate(""), 2, {"nothing to simulate"});
}

TEST_F(BadManifests, UnknownKindsAndFields) {
  expect_refused("apiVersion: batch/v1\nkind: Jobb\nmetadata: {name: x}\n",
                 {"m.yaml:2: Jobb \"x\": kind: Unsupported value: \"Jobb\": did you mean \"Job\"?"});
  expect_refused("apiVersion: batch/v2\nkind: Job\nmetadata: {name: x}\n",
                 {"m.yaml:1: Job \"x\": apiVersion: Unsupported value: \"batch/v2\"", "must be \"batch/v1\""});
  expect_refused(replaced(small_world, "namespaceSelector", "namespaceSelectr"),
                 {"m.yaml:9: ClusterQueue \"cq\": spec.namespaceSelectr: unknown field; did you mean \"namespaceSelector\"?"});
  expect_refused(replaced(small_world, "metadata: {name: cq}", "metadata: {}"), {"ClusterQueue", "metadata.name: Required value"});
  expect_refused(replaced(small_world, "metadata: {name: cq}", "metadata: {name: C_Q}"),
                 {"metadata.name: Invalid value: \"C_Q\": must be a DNS name"});
}

// BA-3
TEST_F(BadManifests, NegativeAndAbsurdQuantities) {
  const auto quota = [](const std::string& amount) { return replaced(small_world, "nominalQuota: 4", "nominalQuota: " + amount); };
  const std::string field = "m.yaml:16: ClusterQueue \"cq\": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: ";
  expect_refused(quota("-4"), {field + "-4: must be greater than or equal to 0"});
  expect_refused(quota("lots"), {field + "\"lots\": must be a quantity"});
  expect_refused(quota("99999999999999999999999"), {"is more than can be counted; allowed: at most 9223372036854775807 units"});
  expect_refused(quota("99E"), {"\"99E\": is more than can be counted"});
  expect_refused(quota("[]"), {"nominalQuota"});
  expect_refused(small_world + job("j", "-1"), {"Job \"j\": spec.template.spec.containers[0].resources.requests.cpu: Invalid value: -1"});
  expect_refused(replaced(small_world + job("j", "1"), "run-seconds: '60'", "run-seconds: 'soon'"),
                 {"found \"soon\", allowed: a number of seconds"});
}

TEST_F(BadManifests, FilesThatCannotBeRead) {
  for (const char* command : {"simulate", "run"}) {
    Words words{command};
    if (words[0] == "run") words.emplace_back("--quickstart");
    words.push_back(folder_.file("absent.yaml"));
    words.insert(words.end(), {"--log", "sqlite:" + folder_.file("run.db")});
    expect_error(hindsight(words), 2, {"absent.yaml: no such file or directory"});
  }
  std::filesystem::create_directory(folder_.file("empty"));
  expect_error(hindsight({"simulate", folder_.file("empty")}), 2, {"empty: holds no file that ends in .yaml, .yml or .json"});
  const std::string deep = std::string(200'000, '[');
  expect_refused(deep, {"m.yaml"});
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) laughs += ", " + before;
    laughs += "]\n";
  }
  expect_refused(laughs, {"m.yaml: line 6: aliases repeat more than 1000000 values"});
}

// base-api §6.4: what Kueue takes and cannot serve is taken here too, and the queue says why it does not admit
TEST_F(BadManifests, CyclesOfCohortsAndMissingFlavorsMakeAQueueInactive) {
  const std::string cycle =
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a}\nspec: {parentName: b}\n---\napiVersion: "
      "kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: b}\nspec: {parentName: a}\n";
  ASSERT_EQ(
      simulate(replaced(small_world, "namespaceSelector: {}", "namespaceSelector: {}\n  cohortName: a") + cycle + job("j", "1")).status, 0);
  EXPECT_NE(text_of(on(log_, {"get", "cq", "-o", "wide"})).find("False/"), std::string::npos);
  EXPECT_NE(text_of(on(log_, {"why", "job/j"})).find("its cohorts form a cycle: a -> b -> a"), std::string::npos);
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);

  std::filesystem::remove(log_);
  ASSERT_EQ(simulate(replaced(small_world, "metadata: {name: default}", "metadata: {name: other}") + job("j", "1")).status, 0);
  EXPECT_NE(text_of(on(log_, {"why", "job/j"})).find("references missing ResourceFlavor(s): default"), std::string::npos);
}

// ---- logs
// -----------------------------------------------------------------------------------------------------------------------------------

class BadLogs : public Logs {
 protected:
  /// A copy of the small log, changed by SQL.
  std::string changed(const std::string& name, const std::string& sql) {
    std::string file = own_.file(name);
    std::filesystem::copy_file(small, file);
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(db);
    return file;
  }
  /// All readers end with a failure and one message; none crashes.
  static void expect_unreadable(const std::string& log, const Words& parts) {
    for (const Words& words : readers()) expect_error(hindsight(on(log, words)), 1, parts);
    expect_error(hindsight(on(log, {"log", "check"})), 1, parts);
  }
  /// What stands before the damage is as in the good log; what needs more fails and names the record.
  static void expect_prefix(const std::string& log, int damaged, const std::string& what) {
    const std::string before = std::to_string(damaged - 1);
    for (const Words& words : readers()) {
      Words at = words;
      at.insert(at.end(), {"--at", before});
      EXPECT_EQ(text_of(on(log, at)), text_of(on(small, at)));
      expect_error(hindsight(on(log, words)), 1, {log, what});
    }
    EXPECT_EQ(text_of(on(log, {"log", "cat", "--to", before})), text_of(on(small, {"log", "cat", "--to", before})));
    const Outcome cat = hindsight(on(log, {"log", "cat"}));
    expect_error(cat, 1, {log, what});
    EXPECT_EQ(cat.out, text_of(on(small, {"log", "cat", "--to", before})));
    const Outcome verify = hindsight(on(log, {"verify"}));
    EXPECT_EQ(verify.status, 1);
    EXPECT_NE(verify.out.find("NOT SOUND"), std::string::npos);
    EXPECT_NE(verify.out.find(what), std::string::npos) << verify.out;
    const Outcome check = hindsight(on(log, {"log", "check"}));
    EXPECT_EQ(check.status, 1);
    EXPECT_NE(check.out.find(what), std::string::npos) << check.out;
    expect_error(hindsight(on(log, {"replay"})), 1, {"what is before stays usable, up to position " + before});
  }
  static std::vector<Words> readers() {
    return {{"get", "workloads"}, {"describe", "cq", "cq"}, {"history", "job/holder"}, {"why", "job/holder"}};
  }

  TemporaryFolder own_;
};

TEST_F(BadLogs, AFileThatIsNoLog) {
  expect_unreadable(write(own_.file("text"), small_world_with_jobs),
                    {"log " + own_.file("text") + ": not a Hindsight log", "file is not a database"});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(own_.file("other.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  for (const Words& words : readers())
    expect_error(hindsight(on(own_.file("other.db"), words)), 2, {"not a Hindsight log: application id is 0, expected 1213418567"});
  for (const Words& words : readers()) expect_error(hindsight(on(own_.file("absent.db"), words)), 1, {"absent.db: no such file"});
  EXPECT_FALSE(std::filesystem::exists(own_.file("absent.db")));
  const std::string before = contents(own_.file("other.db"));
  expect_error(hindsight({"simulate", folder->file("small.yaml"), "--log", "sqlite:" + own_.file("other.db")}), 2, {"not a Hindsight log"});
  EXPECT_EQ(contents(own_.file("other.db")), before);
}

TEST_F(BadLogs, ANewerFormat) {
  expect_unreadable(changed("newer.db", "PRAGMA user_version = 7"),
                    {"its format version is 7, written by a newer release; this build reads up to 5"});
}

/// A record of a schema version that is not out yet is never passed over.
TEST_F(BadLogs, ARecordOfANewerSchema) {
  const std::string file = changed("schema.db", "");
  const int last = json_of(on(small, {"replay"}))["position"];
  {
    auto log = events::SqliteLog::open(file).value();
    flatbuffers::FlatBufferBuilder b;
    const auto body = flatbuffers::Offset<void>(b.EndTable(b.StartTable()));
    const auto sequence = static_cast<std::uint64_t>(last) + 1;
    b.Finish(
        wire::CreateEnvelope(b, b.CreateString("default"), sequence, 1, 0, 0, events::schema_version + 1, wire::Body::TimerFired, body),
        wire::EnvelopeIdentifier());
    const events::EncodedRecord record{"default", sequence, 1, Time{1'800'000'000'000'000},
                                       std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()))};
    ASSERT_TRUE(log->append(std::span(&record, 1), {}));
  }
  expect_prefix(file, last + 1, "it was written with schema version " + std::to_string(events::schema_version + 1) + " by a newer release");
}

TEST_F(BadLogs, ATruncatedLogKeepsItsBeginning) {
  const std::string all = contents(small);
  // cut to the header, or to nothing: no log any more
  for (const std::size_t size : {std::size_t{0}, std::size_t{50}})
    for (const Words& words : readers()) EXPECT_NE(hindsight(on(write(own_.file("cut.db"), all.substr(0, size)), words)).status, 0);
  // cut at many places: an answer equal to that of the good log, or one message
  for (std::size_t part = 1; part < 10; ++part) {
    const std::string cut = write(own_.file("cut.db"), all.substr(0, all.size() * part / 10));
    const Outcome check = hindsight(on(cut, {"log", "check", "-o", "json"}));
    EXPECT_EQ(check.status, 1) << part;
    const Outcome cat = hindsight(on(cut, {"log", "cat"}));
    if (cat.status != 0) expect_error(cat, 1, {cut});
    EXPECT_TRUE(text_of(on(small, {"log", "cat"})).starts_with(cat.out)) << part;
    const auto good = std::count(cat.out.begin(), cat.out.end(), '\n');
    if (good > 20) {
      EXPECT_EQ(text_of(on(cut, {"get", "workloads", "--at", "20"})), text_of(on(small, {"get", "workloads", "--at", "20"})));
    }
  }
}

TEST_F(BadLogs, AFlippedBitIsFoundAtItsRecord) {
  expect_prefix(
      changed("flip.db", "UPDATE records SET body = CAST(substr(body, 1, 40) || x'FF' || substr(body, 42) AS BLOB) WHERE offset = 45"), 45,
      "record 45 is damaged: its checksum does not match");
  expect_prefix(changed("time.db", "UPDATE records SET time_us = time_us + 1 WHERE offset = 45"), 45,
                "record 45 is damaged: its checksum does not match");
  expect_prefix(changed("gap.db", "DELETE FROM records WHERE offset = 45"), 45, "record 45 is damaged: it is missing");
}

TEST_F(BadLogs, BitsOfTheFileAnywhere) {
  const std::string all = contents(small);
  const std::string good = text_of(on(small, {"log", "cat"}));
  for (std::size_t i = 1; i <= 40; ++i) {
    std::string bad = all;
    const std::size_t at = (all.size() * i / 41) ^ 5U;
    bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1U << (i % 8)));
    const std::string file = write(own_.file("bits.db"), bad);
    const Outcome cat = hindsight(on(file, {"log", "cat"}));
    EXPECT_TRUE(cat.status == 0 || cat.status == 1 || cat.status == 2) << "byte " << at << ": status " << cat.status << "\n" << cat.err;
    EXPECT_TRUE(good.starts_with(cat.out)) << at;
    if (cat.status == 0) {
      EXPECT_EQ(cat.out, good) << at;
    } else {
      expect_error(cat, cat.status, {file});
    }
    const Outcome check = hindsight(on(file, {"log", "check"}));
    EXPECT_LE(check.status, 2) << check.err;
  }
}

// ---- disks
// ------------------------------------------------------------------------------------------------------------------------------------

TEST_F(BadLogs, AFolderThatCannotBeWritten) {
  // also for root: /proc takes no files from anybody
  expect_error(hindsight({"simulate", folder->file("small.yaml"), "--log", "sqlite:/proc/log.db"}), 1,
               {"log /proc/log.db: cannot be opened for writing"});
  expect_error(hindsight({"run", "--quickstart", folder->file("small.yaml"), "--log", "sqlite:/proc/log.db"}), 1,
               {"log /proc/log.db: cannot be opened for writing"});
  expect_error(hindsight({"simulate", folder->file("small.yaml"), "--log", "sqlite:" + own_.file("absent/log.db")}), 1,
               {"absent/log.db", "No such file or directory"});
}

TEST_F(BadLogs, AFullDiskLosesNothingThatWasWritten) {
  // Quota for files below what the run needs: the write that meets it fails, the program says so, and the log is in order up to there.
  for (const std::uint64_t limit : {60'000, 150'000, 250'000}) {
    const std::string file = own_.file("full-" + std::to_string(limit) + ".db");
    const Outcome done = hindsight({"simulate", "examples/quickstart", "--log", "sqlite:" + file}, {.file_size_max = limit});
    expect_error(done, 1, {"log " + file + ":"});
    const Json check = json_of(on(file, {"log", "check"}));
    EXPECT_TRUE(check["findings"].empty()) << check;
    if (check["records"] > 0) {
      EXPECT_TRUE(text_of(on(quick, {"log", "cat"})).size() > text_of(on(file, {"log", "cat"})).size());
      EXPECT_EQ(json_of(on(file, {"verify"}))["damage"], Json());
    }
  }
}

TEST_F(BadLogs, OutputThatCannotBeWrittenIsAFailure) {
  const std::string command = std::string(HINDSIGHT_BINARY) + " log cat --log " + quick + " > /dev/full 2> " + own_.file("err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_EQ(contents(own_.file("err")), "hindsight: error: standard output cannot be written\n");
}

// Where the signal for that is ignored, as it is for children of many programs.
TEST_F(BadLogs, AReaderThatHasEnoughIsNoError) {
  for (const std::string what :
       {"log cat", "export", "export --format trace", "get workloads -A -o json", "get events -A", "history job/team-a/sweep-1"}) {
    const std::string status = own_.file("status");
    const std::string program = std::string(HINDSIGHT_BINARY) + " " + what + " --log " + quick + " 2> " + own_.file("err");
    // The reader has gone before the first byte is written.
    const std::string command = "{ trap '' PIPE; sleep 0.2; " + program + "; echo $? > " + status + "; } | true; while [ ! -s " + status +
                                " ]; do sleep 0.05; done";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(contents(own_.file("err")), "") << what;
    EXPECT_EQ(contents(status), "1\n") << what;
    std::filesystem::remove(status);
  }
}

TEST_F(BadLogs, ALogThatHasRecordsIsNotWrittenOver) {
  const std::string before = text_of(on(small, {"log", "cat"}));
  expect_error(hindsight({"simulate", folder->file("small.yaml"), "--log", "sqlite:" + small}), 1,
               {"has records already; allowed: a new file"});
  expect_error(hindsight({"run", "--quickstart", folder->file("small.yaml"), "--log", "sqlite:" + small}), 1,
               {"has records already; allowed with --quickstart: a new file"});
  EXPECT_EQ(text_of(on(small, {"log", "cat"})), before);
}

}  // namespace
}  // namespace hindsight::test
