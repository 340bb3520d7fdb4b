// A log of notes, as `hindsight run --observe` writes it, and every command that tells what stands in it (issue 21, section 2).

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "events/proposals.hpp"
#include "events/settings.hpp"
#include "events/sqlite_log.hpp"
#include "events/trial.hpp"
#include "tests/actors/foreign_controller.hpp"
#include "tests/cli/in_process.hpp"

namespace hindsight::test {
namespace {

using actors::testing::Facts;
using actors::testing::ForeignController;

Result<admission::Settings> default_settings(Text json) { return events::read_settings(json); }

/// Three Workloads in a queue of two: both controllers admit the first one; Hindsight would admit the second next, and Kueue takes the
/// third.
class LogOfNotes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    file = folder->file("observed.db");
    auto opened = events::SqliteLog::open(file, {});
    ASSERT_TRUE(opened) << opened.error().message;
    Facts facts;
    ForeignController kueue;
    admission::LoopDriver driver(default_settings);
    events::Proposals proposals;
    Time now = facts.now;
    const auto append = [&](const Body& body) {
      now = now + Duration::seconds(10);
      RecordView record;
      record.envelope = {"default", driver.domain().sequence() + 1, 1, now, 0};
      record.body = body;
      const auto bytes = events::encode(record);
      const events::EncodedRecord encoded{"default", record.envelope.sequence, 1, now, bytes};
      ASSERT_TRUE((*opened)->append({&encoded, 1}, std::nullopt));
      const auto read = events::decode(bytes);
      ASSERT_TRUE(read);
      ASSERT_TRUE(driver.apply((*read)->view()));
    };
    const auto look = [&] {
      const auto trial = events::try_out(driver.entities(), default_settings, "default");
      ASSERT_TRUE(trial) << trial.error().message;
      const auto news = proposals.take(*trial, driver);
      if (!news.empty())
        append(DecisionsNoted{driver.domain().sequence(),
                              admission::rules_version,
                              {news.events.data(), news.events.size()},
                              {news.withdrawn.data(), news.withdrawn.size()}});
    };
    append(EpochStarted{"observer", "1.0", admission::rules_version, true});
    for (const auto& o :
         {facts.flavor(), facts.namespace_(), facts.queue("cq", 2'000), facts.local_queue("lq", "cq"), Observation(MirrorSynced{})})
      append(o);
    const auto first = facts.workload("first", "lq", 1'000, 30), second = facts.workload("second", "lq", 1'000, 20),
               third = facts.workload("third", "lq", 1'000, 10);
    for (const auto& w : {first, second, third}) append(Observation(w));
    look();
    append(Observation(kueue.admitted(first, "cq", "default", now)));
    look();
    const std::uint64_t before_third = driver.domain().sequence();
    append(Observation(kueue.admitted(third, "cq", "default", now)));
    const WorkloadRef not_third[] = {{"uid-third", "default", "third"}};
    append(DecisionsNoted{before_third, admission::rules_version, {}, {}, not_third});
    look();
    append(Observation(TimerFired{}));
  }
  static void TearDownTestSuite() { delete folder; }

  static Json said_json(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json", "--log", file});
    const Said said = say(words);
    EXPECT_EQ(said.status, 0) << said.err;
    return Json::parse(said.out, nullptr, false);
  }
  static std::string said_text(std::vector<std::string> words) {
    words.insert(words.end(), {"--log", file});
    const Said said = say(words);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.out;
  }

  /// Of a copy of the log with a note at its end that says so.
  static void expect_found(const std::vector<Event>& said_events, const std::vector<WorkloadRef>& would_not) {
    const std::string forged = folder->file("forged.db");
    std::filesystem::copy_file(file, forged, std::filesystem::copy_options::overwrite_existing);
    {
      const auto log = events::SqliteLog::open(forged, {}).value();
      const auto last = log->last().value();
      events::RecordBatch batch;
      ASSERT_TRUE(log->read(last, {}, batch));
      const std::uint64_t sequence = batch[0].sequence;
      const RecordView record{
          {"default", sequence + 1, 1, batch[0].time, sequence},
          DecisionsNoted{
              sequence, admission::rules_version, {said_events.data(), said_events.size()}, {}, {would_not.data(), would_not.size()}}};
      const auto bytes = events::encode(record);
      const events::EncodedRecord encoded{"default", sequence + 1, 1, batch[0].time, bytes};
      ASSERT_TRUE(log->append({&encoded, 1}, std::nullopt));
    }
    const Said said = say({"verify", "-o", "json", "--log", forged});
    EXPECT_EQ(said.status, 1);
    EXPECT_EQ(Json::parse(said.out)["mismatchedDecisions"], 1) << said.out;
    std::filesystem::remove(forged);
  }

  static inline TemporaryFolder* folder = nullptr;
  static inline std::string file;
};

TEST_F(LogOfNotes, TheReportTellsWhereTheTwoDiffer) {
  const Json report = said_json({"compare-kueue", "--tolerance", "25s"});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["differences"], 2);
  EXPECT_EQ(report["sums"]["OnlyHindsight"], 1);
  EXPECT_EQ(report["sums"]["OnlyKueue"], 1);
  ASSERT_EQ(report["matters"].size(), 2U);
  for (const auto& m : report["matters"]) {
    EXPECT_EQ(m["verdict"], m["workload"] == "default/second" ? "OnlyHindsight" : "OnlyKueue");
    EXPECT_FALSE(m["why"].empty());
  }
  EXPECT_GE(report["noted"]["QuotaReserved"], 2);

  const Json all = said_json({"compare-kueue", "--tolerance", "1h", "--all"});
  EXPECT_EQ(all["sums"]["Same"], 1) << "within an hour the first one is the same";
  EXPECT_EQ(all["matters"].size(), 3U);

  const std::string table = said_text({"compare-kueue", "--tolerance", "25s"});
  for (const char* part : {"default/second", "OnlyHindsight", "OnlyKueue", "2 differences in ", "main x1: cpu=default"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  EXPECT_NE(said_text({"compare-kueue", "--tolerance", "25s", "-o", "yaml"}).find("verdict: OnlyKueue"), std::string::npos);
  const Json one = said_json({"compare-kueue", "--tolerance", "25s", "--limit", "1"});
  EXPECT_EQ(one["matters"].size(), 1U);
  EXPECT_EQ(one["mattersLeftOut"], 1);
  EXPECT_EQ(one["differences"], 2);
}

TEST_F(LogOfNotes, AMomentBoundsWhatIsCompared) {
  EXPECT_EQ(said_json({"compare-kueue", "--until", "6"})["differences"], 0);
  const Said behind = say({"compare-kueue", "--from", "12", "--until", "3", "--log", file});
  EXPECT_EQ(behind.status, 2);
  EXPECT_NE(behind.err.find("--until: found 3"), std::string::npos) << behind.err;
  const Said wrong = say({"compare-kueue", "--tolerance", "soon", "--log", file});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("--tolerance: found \"soon\"; allowed: "), std::string::npos) << wrong.err;
}

TEST_F(LogOfNotes, NotesAreToldAsWhatWouldHaveBeen) {
  EXPECT_NE(said_text({"history", "second"}).find("would have: quota reserved in cq"), std::string::npos);
  const Json history = said_json({"history", "second", "--full"});
  bool noted = false;
  for (const auto& line : history) noted = noted || (line["source"] == "noted" && line["kind"] == "noted" && line.contains("base"));
  EXPECT_TRUE(noted) << history.dump(1);
  EXPECT_NE(said_text({"why", "second"}).find("Hindsight would have, by its newest notes"), std::string::npos);
  EXPECT_FALSE(said_json({"why", "second"})["noted"].empty());
  const std::string records = said_text({"log", "cat", "--kind", "DecisionsNoted"});
  EXPECT_NE(records.find("would have: "), std::string::npos) << records;
  EXPECT_EQ(records.find("EpochStarted"), std::string::npos);
  EXPECT_TRUE(said_text({"log", "cat", "--kind", "Decisions"}).empty());
  EXPECT_NE(said_text({"log", "stats"}).find("DecisionsNoted"), std::string::npos);
}

TEST_F(LogOfNotes, VerifyFindsTheNotesAgain) {
  const Json report = said_json({"verify"});
  EXPECT_TRUE(report["clean"]) << report.dump(1);
  EXPECT_EQ(report["decisions"], 0);
  EXPECT_GE(report["notes"], 2);
  EXPECT_EQ(report["notesJudged"], report["notes"]);
  EXPECT_NE(said_text({"verify"}).find("notes of what would be decided"), std::string::npos);
}

TEST_F(LogOfNotes, WhatNobodyLookedAtIsCountedAndNoDifference) {
  std::istringstream lines(said_text({"log", "cat", "--kind", "DecisionsNoted", "-o", "json"}));
  std::uint64_t would_not = 0;
  for (std::string line; std::getline(lines, line);)
    if (const Json record = Json::parse(line); !record["body"]["wouldNot"].empty()) would_not = record["offset"];
  ASSERT_NE(would_not, 0U);
  const Json report = said_json({"compare-kueue", "--tolerance", "25s", "--until", std::to_string(would_not - 1)});
  EXPECT_EQ(report["sums"]["NotLooked"], 1);
  EXPECT_EQ(report["sums"]["OnlyKueue"], 0);
  const std::string table = said_text({"compare-kueue", "--until", std::to_string(would_not - 1)});
  EXPECT_NE(table.find("of 1 matter (NotLooked) nobody found out"), std::string::npos) << table;
  EXPECT_NE(said_text({"history", "third"}).find("would not have done what the other controller did next"), std::string::npos);
}

TEST_F(LogOfNotes, ANoteThatDeniesWhatNobodyDecidedIsFound) { expect_found({}, {{"uid-third", "default", "third"}}); }

TEST_F(LogOfNotes, ANoteThatItsBaseDoesNotLeadToIsFound) {
  QuotaReserved lie;
  lie.workload = {"uid-third", "default", "third"};
  lie.cluster_queue = "cq";
  expect_found({lie}, {});
}

}  // namespace
}  // namespace hindsight::test
