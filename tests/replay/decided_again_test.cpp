// A decision on record is made again with what the rules looked at, comes out as recorded, and what was noted agrees with its events.

#include "replay/decided_again.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "admission/rules.hpp"
#include "events/sqlite_log.hpp"
#include "replay/scan.hpp"
#include "replay/snapshots.hpp"
#include "replay/trim.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/kept_logs.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::QueueOf;
using Names = std::multiset<std::string>;

std::vector<Position> decisions_of(const Log& log, const std::string& domain = "default") {
  std::vector<Position> out;
  EXPECT_TRUE(scan(log, domain, 1, log.last().value(), [&](const events::StoredRecord& stored, const RecordView& record) {
    if (std::holds_alternative<Decisions>(record.body)) out.push_back(stored.offset);
    return true;
  }));
  return out;
}

/// What a cycle did, in its events or in its trace.
struct Deeds {
  Names reserved, requeued, migrated, preempted;
  friend bool operator==(const Deeds&, const Deeds&) = default;
};

Deeds deeds_in_events(const std::vector<Event>& events) {
  Deeds out;
  for (const Event& e : events) {
    if (const auto* q = std::get_if<QuotaReserved>(&e)) out.reserved.emplace(q->workload.uid);
    if (const auto* r = std::get_if<EntryRequeued>(&e)) out.requeued.emplace(r->workload.uid);
    if (const auto* m = std::get_if<MigrationStarted>(&e)) out.migrated.emplace(m->workload.uid);
    if (const auto* p = std::get_if<WorkloadPreempted>(&e))
      out.preempted.insert(std::string(p->workload.namespace_) + "/" + std::string(p->workload.name) + " for " +
                           std::string(p->preemptor.uid));
  }
  for (const auto& uid : out.migrated)
    if (const auto it = out.requeued.find(uid); it != out.requeued.end()) out.requeued.erase(it);
  return out;
}

Deeds deeds_in_trace(const admission::DecisionTrace& trace) {
  using Kind = admission::Outcome::Kind;
  Deeds out;
  for (const auto& tree : trace.trees()) {
    if (!tree.recorded) continue;
    for (const auto& round : tree.rounds)
      for (const auto& e : round.entries) {
        if (!e.recorded) continue;
        (e.kind == Kind::admit ? out.reserved : e.kind == Kind::migrate ? out.migrated : out.requeued).insert(e.uid);
        for (const auto& [victim, reason] : e.victims.list) out.preempted.insert(victim + " for " + e.uid);
      }
  }
  return out;
}

/// Every victim was taken by a search of the entry that it goes for.
void expect_victims_taken(const admission::DecisionTrace& trace) {
  for (const auto& tree : trace.trees())
    for (const auto& round : tree.rounds)
      for (const auto& e : round.entries) {
        std::set<std::string> taken;
        for (const auto& n : e.nominations)
          for (const auto& a : n.attempts.list)
            for (const auto& s : a.searches.list)
              for (const auto& c : s.candidates.list)
                if (c.victim) taken.insert(c.workload);
        for (const auto& [victim, reason] : e.victims.list) EXPECT_TRUE(taken.contains(victim)) << victim << " for " << e.workload;
      }
}

class KeptLogAgain : public ::testing::TestWithParam<const char*> {};

TEST_P(KeptLogAgain, EveryDecisionComesOutAsRecordedAndIsExplained) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("log.db");
  std::filesystem::copy_file(std::filesystem::path("tests/replay/logs") / GetParam(), path);
  const auto log = events::SqliteLog::open(path, {.read_only = true});
  ASSERT_TRUE(log) << log.error().message;
  const auto decisions = decisions_of(**log);
  ASSERT_FALSE(decisions.empty());
  std::size_t cycles = 0;
  for (const Position at : decisions) {
    const auto again = decide_again(**log, "default", at);
    ASSERT_TRUE(again) << at << ": " << again.error().message;
    ASSERT_TRUE(again->as_recorded()) << at << ": " << again->judgement.difference->field << " by rules " << again->rules;
    if (again->judgement.repeats) continue;
    ASSERT_TRUE(again->step) << at;
    // The same without anybody who follows.
    Past past(**log, "default");
    ASSERT_TRUE(past.go_to(again->base));
    const auto plain = past.driver().decide();
    ASSERT_TRUE(plain) << at;
    ASSERT_FALSE(first_difference(Decisions{plain->base, plain->kind, plain->events},
                                  Decisions{again->step->base, again->step->kind, again->step->events}))
        << at;
    if (again->kind != StepKind::cycle) continue;
    ++cycles;
    EXPECT_FALSE(again->trace.is_cut());
    EXPECT_EQ(deeds_in_trace(again->trace), deeds_in_events(again->step->events)) << at;
    expect_victims_taken(again->trace);
  }
  EXPECT_GT(cycles, 0U);
}

INSTANTIATE_TEST_SUITE_P(Files, KeptLogAgain, hindsight::testing::kept_logs(), hindsight::testing::test_name_of);

TEST(KeptLogAgainFiles, AreAllThereAre) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/replay/logs")) files += entry.path().extension() == ".db" ? 1 : 0;
  EXPECT_EQ(files, 6U) << "a kept log is missing in the list above";
}

class DecidedAgainTest : public ::testing::Test {
 protected:
  DecidedAgainTest() {
    w_.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
    w_.submit({.name = "low", .cpu = 3000});
    w_.settle();
    w_.submit({.name = "high", .cpu = 2000, .priority = 5});
    w_.settle();
    w_.flush();
  }
  [[nodiscard]] std::string refused(Position at) const {
    const auto again = decide_again(log_, "default", at);
    EXPECT_FALSE(again);
    return again ? std::string() : again.error().message;
  }
  events::MemoryLog log_;
  LogWorld w_{log_};
};

TEST_F(DecidedAgainTest, NamesTheDecisionsNextToARecordThatIsNone) {
  const auto decisions = decisions_of(log_);
  ASSERT_GE(decisions.size(), 2U);
  const std::string before_the_first = refused(1);
  EXPECT_NE(before_the_first.find("record 1 is no decision; the decision behind it is record " + std::to_string(decisions.front())),
            std::string::npos)
      << before_the_first;
}

TEST_F(DecidedAgainTest, RefusesPositionsThatAreNotThere) {
  const Position last = log_.last().value();
  EXPECT_NE(refused(last + 1).find("found record " + std::to_string(last + 1)), std::string::npos);
  EXPECT_NE(refused(last + 1).find("allowed: 1 to " + std::to_string(last)), std::string::npos);
  EXPECT_NE(refused(0).find("found record 0"), std::string::npos);
  EXPECT_NE(refused(~Position{0}).find("which is not in the log"), std::string::npos);
  const auto other = decide_again(log_, "another", decisions_of(log_).back());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("is of the domain default, not of another"), std::string::npos);
}

TEST_F(DecidedAgainTest, SaysOfAnUncountedDecisionThatNoReaderCountsIt) {
  const auto stale = w_.driver().domain().sequence();
  w_.start_epoch(5);
  w_.decide({StepKind::cycle, stale, w_.now, {}, {}, {}}, 1);  // of the epoch before
  w_.flush();
  const std::string said = refused(log_.last().value());
  EXPECT_NE(said.find("a decision that no reader counts"), std::string::npos) << said;
}

// A decision that the rules do not lead to is told as such, without a trace of another one.
TEST(DecidedOtherwise, IsToldWithWhatDiffers) {
  events::MemoryLog log;
  LogWorld w(log);
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "other", .cpu = 100});
  auto step = w.driver().decide();
  ASSERT_TRUE(step);
  ASSERT_EQ(step->kind, StepKind::cycle);
  ASSERT_FALSE(step->events.empty());
  step->events.pop_back();
  w.decide(*step, w.driver().domain().epoch());
  w.flush();
  const auto again = decide_again(log, "default", log.last().value());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->as_recorded());
  ASSERT_TRUE(again->judgement.difference);
  EXPECT_EQ(again->judgement.difference->field, "event");
}

TEST(DecidedAgainTrimmed, SaysThatABaseIsNotKept) {
  const test::TemporaryFolder folder;
  const auto log = events::SqliteLog::open(folder.file("log.db"), {});
  ASSERT_TRUE(log);
  LogWorld w(**log);
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one"});
  w.settle();
  w.flush();
  const auto early = decisions_of(**log);
  ASSERT_FALSE(early.empty());
  w.submit({.name = "two"});
  w.settle();
  w.snapshot();
  const Position middle = (*log)->last().value();
  w.submit({.name = "three"});
  w.settle();
  w.flush();
  const auto trimmed = trim(**log, middle, "1.0", false);
  ASSERT_TRUE(trimmed) << trimmed.error().message;
  const auto gone = decide_again(**log, "default", early.front());
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("not kept"), std::string::npos) << gone.error().message;
  // What is behind the snapshot is explained from there.
  const auto kept = decide_again(**log, "default", decisions_of(**log).back());
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(kept->as_recorded());
}

TEST(DecidedAgainTrimmed, SaysThatTheStateBeforeTheCutIsNotKept) {
  const test::TemporaryFolder folder;
  const auto log = events::SqliteLog::open(folder.file("log.db"), {});
  ASSERT_TRUE(log);
  LogWorld w(**log);
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one"});
  const auto step = w.driver().decide();
  ASSERT_TRUE(step);
  w.namespace_("meanwhile");
  w.flush();
  const Position cut = (*log)->last().value();
  w.decide(*step, w.driver().domain().epoch());
  w.flush();
  const Position at = (*log)->last().value();
  ASSERT_TRUE(decide_again(**log, "default", at));
  ASSERT_TRUE(trim(**log, cut, "1.0", false));
  const auto gone = decide_again(**log, "default", at);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::not_found);
  EXPECT_NE(gone.error().message.find("the state that it was decided on"), std::string::npos) << gone.error().message;
}

}  // namespace
}  // namespace hindsight::replay
