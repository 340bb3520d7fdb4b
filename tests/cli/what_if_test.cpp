// What `hindsight what-if` says beside the table of waits: how far the model is off, which decisions differ, who starts when, and from
// when on is counted (issue 19, section 3).

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/in_process.hpp"

namespace hindsight::test {
namespace {

/// `holder` runs from second 0 to 60, `waiter` from then on, `huge` never.
class WhatIfSays : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    file = folder->file("small.db");
    const std::string manifests = write(folder->file("small.yaml"), small_world_with_jobs);
    ASSERT_EQ(say({"simulate", manifests, "--log", file}).status, 0);
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }
  static Said what_if(Words words, const std::string& log = file) {
    words.insert(words.begin(), "what-if");
    return say(on(log, std::move(words)));
  }
  static std::string line_with(const std::string& text, const std::string& part) {
    const auto at = text.find(part);
    if (at == std::string::npos) return {};
    const auto begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  }

  static inline TemporaryFolder* folder = nullptr;
  static inline std::string file;
};

TEST_F(WhatIfSays, FromTheBeginningOnIsCountedFromTheFirstRecord) {
  const auto said = what_if({"--from", "0", "-o", "json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const Json whole = Json::parse(said.out);
  for (const char* side : {"was", "wouldBe"})
    EXPECT_TRUE(whole[side]["begin"].get<std::string>().starts_with("2026-01-01T00:00:0")) << side << whole[side]["begin"];
  // So is what was used: 3 cpu for a minute and 2 cpu for half of one, of the time that was played.
  const auto text = what_if({"--from", "0"});
  const std::string usage = line_with(text.out, "   cpu ");
  EXPECT_NE(usage.find(" 2666m      2666m "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("Waiting, from 2026-01-01T00:00:0"), std::string::npos) << text.out;
}

TEST_F(WhatIfSays, NobodyIsModelledWhereNothingIsOtherwise) {
  const auto said = what_if({"--from", "5"});
  EXPECT_NE(said.out.find("; all jobs and Workloads fare as on record\n"), std::string::npos) << said.out;
  EXPECT_NE(what_if({"--from", "5", "--set", "cq/cq:cpu=+2"}).out.find("the world was modelled for "), std::string::npos);
}

TEST_F(WhatIfSays, TellsHowFarTheModelIsOff) {
  const auto said = what_if({"--from", "0", "--model-all"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("How far the model is off: of "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("Start times of 2 workloads with a start on both sides: off by "), std::string::npos) << said.out;
  const Json error = Json::parse(what_if({"--from", "0", "--model-all", "-o", "json"}).out)["modelError"];
  EXPECT_GE(error["decisions"]["share"].get<double>(), 0.9);
  EXPECT_GT(error["decisions"]["recorded"].get<int>(), 5);
  EXPECT_EQ(error["starts"]["both"], 2);
  EXPECT_EQ(error["starts"]["onlyRecorded"], 0);
  EXPECT_LE(error["starts"]["maxSeconds"].get<double>(), 1);
  EXPECT_FALSE(Json::parse(what_if({"--from", "0", "-o", "json"}).out).contains("modelError"));
}

TEST_F(WhatIfSays, WhoStartsWhenIsDrawn) {
  const auto said = what_if({"--from", "5", "--set", "cq/cq:cpu=+2"});
  const auto at = said.out.find("Who starts when");
  ASSERT_NE(at, std::string::npos) << said.out;
  const std::string drawn = said.out.substr(at);
  const std::string was = line_with(drawn, "default/job-waiter"), would_be = line_with(drawn, "  would be ");
  EXPECT_NE(was.find("░░░░░"), std::string::npos) << drawn;  // it waits for the end of the other one
  EXPECT_NE(was.find("█████"), std::string::npos) << drawn;
  EXPECT_EQ(would_be.find("░░"), std::string::npos) << drawn;  // and would not
  EXPECT_NE(would_be.find("█████"), std::string::npos) << drawn;
}

/// A log as another build would have written it: `edit` changes the events of the record at `position`, behind which nothing is kept.
template <class Edit>
std::string written_otherwise(const std::string& from, const std::string& to, Edit&& edit) {
  const auto source = events::SqliteLog::open(from, {.read_only = true}).value();
  const auto out = events::SqliteLog::open(to, {}).value();
  events::RecordReader reader;
  events::RecordBatch batch;
  bool edited = false;
  for (events::Position at = 1; at <= source->last().value() && !edited; ++at) {
    EXPECT_TRUE(source->read(at, {.records = 1}, batch));
    const auto stored = batch[0];
    RecordView record = **reader.read(stored.bytes);
    std::vector<Event> kept;
    if (auto* d = std::get_if<Decisions>(&record.body)) {
      kept.assign(d->events.begin(), d->events.end());
      edited = edit(kept);
      d->events = {kept.data(), kept.size()};
    }
    const auto bytes = events::encode(record);
    const events::EncodedRecord one{stored.domain, stored.sequence, stored.epoch, stored.time, bytes};
    EXPECT_TRUE(out->append({&one, 1}, std::nullopt));
  }
  EXPECT_TRUE(edited);
  return to;
}

TEST_F(WhatIfSays, CompareListsTheDecisionsThatDiffer) {
  const auto same = what_if({"--from", "0", "--compare"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_NE(same.out.find(", 0 are not made again, 0 are made at another time, and 0 others are made\n"), std::string::npos) << same.out;

  // Another build that let `holder` wait.
  const std::string idle = written_otherwise(file, folder->file("idle.db"), [](std::vector<Event>& events) {
    return std::erase_if(events, [](const Event& e) { return std::holds_alternative<QuotaReserved>(e); }) > 0;
  });
  const auto more = what_if({"--from", "0", "--compare"}, idle);
  EXPECT_EQ(more.status, 1) << more.out << more.err;
  EXPECT_NE(more.out.find("made here only: Workload default/job-holder"), std::string::npos) << more.out;
  EXPECT_NE(more.out.find(" 0 are not made again, "), std::string::npos) << more.out;

  // Another build that gave it something else.
  const std::string other = written_otherwise(file, folder->file("other.db"), [](std::vector<Event>& events) {
    bool found = false;
    for (Event& e : events)
      if (auto* q = std::get_if<QuotaReserved>(&e)) {
        q->cluster_queue = "elsewhere";
        found = true;
      }
    return found;
  });
  const auto differs = what_if({"--from", "0", "--compare"}, other);
  EXPECT_EQ(differs.status, 1) << differs.out << differs.err;
  const std::string was = line_with(differs.out, "not made here: Workload default/job-holder");
  EXPECT_NE(was.find("record "), std::string::npos) << differs.out;
  EXPECT_NE(was.find("elsewhere"), std::string::npos) << differs.out;
  EXPECT_NE(differs.out.find("made here only: Workload default/job-holder"), std::string::npos) << differs.out;
}

// A decision that does not count was never carried out: on Kafka a writer that was replaced leaves such ones behind, and one whose append
// seemed lost writes it again.
TEST_F(WhatIfSays, CompareLeavesOutWhatDoesNotCount) {
  const std::string repeated = folder->file("repeated.db");
  const auto source = events::SqliteLog::open(file, {.read_only = true}).value();
  {
    const auto out = events::SqliteLog::open(repeated, {}).value();
    events::RecordReader reader;
    events::RecordBatch batch;
    std::vector<std::vector<std::byte>> again;
    const auto append = [&](const RecordView& record) {
      const auto bytes = events::encode(record);
      const events::EncodedRecord one{record.envelope.domain, record.envelope.sequence, record.envelope.epoch, record.envelope.time, bytes};
      ASSERT_TRUE(out->append({&one, 1}, std::nullopt));
    };
    const events::Position last = source->last().value();
    for (events::Position at = 1; at <= last; ++at) {
      ASSERT_TRUE(source->read(at, {.records = 1}, batch));
      const auto read = reader.read(batch[0].bytes);
      append(**read);
      if (std::holds_alternative<Decisions>((*read)->body)) again.emplace_back(batch[0].bytes.begin(), batch[0].bytes.end());
    }
    ASSERT_GT(again.size(), 3U);
    for (std::size_t i = 0; i < again.size(); ++i) {
      RecordView record = **reader.read(again[i]);
      record.envelope.domain = "default";
      record.envelope.sequence = last + 1 + i;
      record.envelope.epoch = 1;
      record.envelope.time = batch[0].time;
      append(record);
    }
  }
  const auto once = what_if({"--from", "0", "--compare"}), twice = what_if({"--from", "0", "--compare"}, repeated);
  EXPECT_EQ(twice.status, 0) << twice.out << twice.err;
  EXPECT_EQ(twice.out, once.out);
}

TEST_F(WhatIfSays, CompareGoesNowhereBeyondTheRecord) {
  const auto said = what_if({"--from", "0", "--compare", "--beyond", "1h"});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("excludes"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace hindsight::test
