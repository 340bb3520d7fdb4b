// What two controllers made of the same Workloads, and where they differ (issue 21, section 2: the report of `run --observe`). The notes
// are those of a node that looks on: found by a trial of the state (events/trial.hpp), put into the log, and read back.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "events/proposals.hpp"
#include "events/trial.hpp"
#include "projections/beside.hpp"
#include "tests/actors/foreign_controller.hpp"

namespace hindsight::projections {
namespace {

using actors::testing::Facts;
using actors::testing::ForeignController;

/// A log that is written as it is read, with what an observer would note in it.
class TwoControllers : public ::testing::Test {
 protected:
  TwoControllers() : driver_([](Text) -> Result<admission::Settings> { return admission::Settings{}; }) {
    append(EpochStarted{"test", "1.0", admission::rules_version, true});
    for (const auto& o : {facts.flavor(), facts.namespace_(), Observation(MirrorSynced{})}) append(o);
  }

  void append(const Body& body) {
    now = now + Duration::seconds(1);
    RecordView record;
    record.envelope = {"default", driver_.domain().sequence() + 1, 1, now, 0};
    record.body = body;
    const auto kept = *events::decode(events::encode(record));
    ASSERT_TRUE(driver_.apply(kept->view()));
    if (beside) beside->after(driver_.domain().sequence(), kept->view(), driver_);
  }
  void observe(const Observation& o) { append(o); }
  void queue(Amount cpu, PreemptionPolicy within = PreemptionPolicy::never) {
    observe(facts.queue("cq", cpu, within));
    observe(facts.local_queue("lq", "cq"));
  }
  /// What the node does when nothing is left to apply.
  void look() {
    const auto trial = events::try_out(
        driver_.entities(), [](Text) -> Result<admission::Settings> { return admission::Settings{}; }, "default");
    ASSERT_TRUE(trial) << trial.error().message;
    EXPECT_TRUE(trial->at_rest);
    const auto news = proposals.take(*trial, driver_);
    if (news.empty()) return;
    append(DecisionsNoted{driver_.domain().sequence(),
                          driver_.domain().rules(),
                          {news.events.data(), news.events.size()},
                          {news.withdrawn.data(), news.withdrawn.size()}});
  }
  /// What the node does before it applies what the other controller decided; `may_look`: there is time for it.
  void decided(const WorkloadObserved& seen, bool may_look = true) {
    const RecordView record{{}, Observation(seen)};
    const auto decision = events::foreign_decision(record, driver_);
    ASSERT_TRUE(decision);
    if (may_look && !proposals.foresees(*decision)) look();
    const bool otherwise = may_look && !proposals.foresees(*decision);
    const std::uint64_t base = driver_.domain().sequence();
    observe(seen);
    if (otherwise) append(DecisionsNoted{base, driver_.domain().rules(), {}, {}, {&decision->workload, 1}});
  }
  void compare(Duration tolerance = Duration::seconds(5)) {
    beside = std::make_unique<Beside>(BesideOptions{.tolerance = tolerance, .matters_max = 100, .keep_same = true});
    beside->begin(driver_);
  }
  void wait(std::int64_t seconds) {
    now = now + Duration::seconds(seconds);
    observe(TimerFired{});
  }
  void finish() { beside->finish(driver_); }
  [[nodiscard]] Matter matter(const std::string& workload) const {
    const auto& all = beside->matters();
    const auto it = std::find_if(all.begin(), all.end(), [&](const Matter& m) { return m.workload == "default/" + workload; });
    EXPECT_NE(it, all.end()) << workload;
    return it == all.end() ? Matter{} : *it;
  }
  [[nodiscard]] std::string verdict(const std::string& workload) const { return std::string(name_of(matter(workload).verdict)); }

  Facts facts;
  ForeignController kueue;
  Time now = facts.now;
  events::Proposals proposals;
  admission::LoopDriver driver_;
  std::unique_ptr<Beside> beside;
};

TEST_F(TwoControllers, WhatBothAdmitTheSameWayWithinTheToleranceIsTheSame) {
  queue(2'000);
  compare();
  const auto w = facts.workload("w", "lq", 1'000);
  observe(w);
  look();
  observe(kueue.admitted(w, "cq", "default", now));
  look();
  finish();
  EXPECT_EQ(verdict("w"), "Same");
  EXPECT_EQ(beside->differences(), 0U);
  EXPECT_EQ(matter("w").hindsight->assignments, std::vector<std::string>{"main x1: cpu=default"});
  EXPECT_EQ(matter("w").kueue->assignments, std::vector<std::string>{"main x1: cpu=default"});
  EXPECT_TRUE(beside->was_observed());
  EXPECT_GE(beside->noted().at("QuotaReserved"), 1U);
}

TEST_F(TwoControllers, HindsightIsEarlierWhereTheOtherOneTakesLongerThanTheTolerance) {
  queue(2'000);
  compare();
  const auto w = facts.workload("w", "lq", 1'000);
  observe(w);
  look();
  wait(60);
  observe(kueue.admitted(w, "cq", "default", now));
  finish();
  EXPECT_EQ(verdict("w"), "Earlier");
  EXPECT_GE(matter("w").difference, Duration::seconds(60));
  EXPECT_EQ(beside->differences(), 1U);
}

TEST_F(TwoControllers, OtherFlavorsAreToldWithBoth) {
  queue(2'000);
  compare();
  const auto w = facts.workload("w", "lq", 1'000);
  observe(w);
  look();
  decided(kueue.admitted(w, "cq", "another", now));
  finish();
  EXPECT_EQ(verdict("w"), "OtherFlavors");
  EXPECT_EQ(matter("w").kueue->assignments, std::vector<std::string>{"main x1: cpu=another"});
}

TEST_F(TwoControllers, WhoIsAdmittedByOneAloneIsTold) {
  queue(1'000);
  compare();
  const auto first = facts.workload("first", "lq", 1'000, 10), second = facts.workload("second", "lq", 1'000, 0);
  observe(first);
  observe(second);
  look();
  wait(10);
  decided(kueue.admitted(second, "cq", "default", now));
  look();
  wait(10);
  finish();
  EXPECT_EQ(verdict("first"), "OnlyHindsight");
  EXPECT_EQ(verdict("second"), "OnlyKueue");
  EXPECT_FALSE(matter("second").why.empty());
  EXPECT_EQ(beside->differences(), 2U);
}

TEST_F(TwoControllers, WhatHindsightWouldOnlyForAMomentIsTakenBack) {
  queue(1'000);
  compare();
  observe(facts.workload("w", "lq", 1'000));
  look();
  queue(500);
  look();
  wait(100);
  finish();
  EXPECT_EQ(verdict("w"), "TakenBack");
  EXPECT_EQ(beside->differences(), 0U);
}

TEST_F(TwoControllers, WhatIsNewerThanTheToleranceIsOpenAndWhoWaitsForBothWaits) {
  queue(1'000);
  compare();
  observe(facts.workload("huge", "lq", 5'000));
  observe(facts.workload("w", "lq", 1'000));
  look();
  finish();
  EXPECT_EQ(verdict("w"), "Open");
  EXPECT_EQ(verdict("huge"), "BothWait");
}

TEST_F(TwoControllers, OtherVictimsAreFoundAndTheSameOnesAreNoDifference) {
  queue(2'000, PreemptionPolicy::lower_priority);
  const auto a = facts.workload("a", "lq", 1'000, 0), b = facts.workload("b", "lq", 1'000, 1);
  observe(a);
  observe(b);
  const auto a_runs = kueue.admitted(a, "cq", "default", now), b_runs = kueue.admitted(b, "cq", "default", now);
  observe(a_runs);
  observe(b_runs);
  look();
  compare();
  const auto high = facts.workload("high", "lq", 1'000, 10);
  observe(high);
  look();  // it would preempt the lowest, a
  const auto b_goes = kueue.preempted(b_runs, "uid-high", now);
  decided(b_goes);
  look();
  observe(kueue.released(b_goes, now));
  look();
  observe(kueue.admitted(high, "cq", "default", now));
  finish();
  EXPECT_EQ(verdict("high"), "OtherVictims");
  EXPECT_EQ(matter("high").hindsight->victims, std::set<std::string>{"default/a"});
  EXPECT_EQ(matter("high").kueue->victims, std::set<std::string>{"default/b"});
}

TEST_F(TwoControllers, AnEvictionByTheOtherOneAloneIsTold) {
  queue(2'000);
  const auto w = facts.workload("w", "lq", 1'000);
  observe(w);
  const auto runs = kueue.admitted(w, "cq", "default", now);
  observe(runs);
  look();
  compare();
  decided(kueue.evicted(runs, "PodsReadyTimeout", now));
  look();
  wait(10);
  finish();
  const auto found = matter("w");
  EXPECT_TRUE(found.eviction);
  EXPECT_EQ(name_of(found.verdict), "OnlyKueue");
  EXPECT_EQ(found.kueue->reason, "PodsReadyTimeout");
}

// The same histories, where nobody had the time to look before the other controller's decision was applied: what Hindsight would have done
// then is not known, so the report names no difference, and counts what was not looked at.
TEST_F(TwoControllers, WhatNobodyLookedAtIsNoDifferenceAndIsCounted) {
  queue(1'000);
  compare();
  const auto first = facts.workload("first", "lq", 1'000, 10), second = facts.workload("second", "lq", 1'000, 0);
  observe(first);
  observe(second);
  look();
  wait(10);
  decided(kueue.admitted(second, "cq", "default", now), false);
  finish();
  EXPECT_EQ(verdict("second"), "NotLooked");
  ASSERT_EQ(matter("second").why.size(), 1U) << "what an older look said of it is not about this moment";
  EXPECT_NE(matter("second").why[0].text.find("nobody found out"), std::string::npos);
  EXPECT_EQ(beside->count(Verdict::only_kueue), 0U);
  EXPECT_EQ(beside->count(Verdict::not_looked), 1U);
}

TEST_F(TwoControllers, OtherFlavorsAndEvictionsAndVictimsThatNobodyLookedAtAreNoDifferences) {
  queue(3'000, PreemptionPolicy::lower_priority);
  const auto a = facts.workload("a", "lq", 1'000, 0), b = facts.workload("b", "lq", 1'000, 1), c = facts.workload("c", "lq", 1'000, 2);
  std::vector<WorkloadObserved> run;
  for (const auto& w : {a, b, c}) {
    observe(w);
    run.push_back(kueue.admitted(w, "cq", "default", now));
    observe(run.back());
  }
  look();
  compare();
  const auto high = facts.workload("high", "lq", 1'000, 10);
  observe(high);
  look();  // it would preempt the lowest, a
  const auto b_goes = kueue.preempted(run[1], "uid-high", now);
  decided(b_goes, false);
  observe(kueue.released(b_goes, now));
  decided(kueue.admitted(high, "cq", "default", now), false);
  decided(kueue.evicted(run[2], "PodsReadyTimeout", now), false);
  finish();
  EXPECT_EQ(verdict("high"), "NotLooked");
  EXPECT_EQ(verdict("c"), "NotLooked");
  EXPECT_EQ(beside->differences(), 0U);
  EXPECT_EQ(beside->count(Verdict::not_looked), 2U);
}

TEST_F(TwoControllers, AFlavorThatWasNotedBeforeOthersTookItIsNoDifference) {
  queue(2'000);
  compare();
  const auto w = facts.workload("w", "lq", 1'000);
  observe(w);
  look();
  decided(kueue.admitted(w, "cq", "another", now), false);
  finish();
  EXPECT_EQ(verdict("w"), "NotLooked");
}

// After a start the statuses tell what happened while nobody looked on.
TEST_F(TwoControllers, WhatHappenedBeforeAnybodyLookedOnIsNoDifference) {
  queue(2'000);
  compare();
  const auto w = facts.workload("w", "lq", 1'000), seen_late = facts.workload("late", "lq", 1'000);
  observe(w);
  append(EpochStarted{"test", "1.0", admission::rules_version, true});
  observe(kueue.admitted(w, "cq", "default", now));
  observe(kueue.admitted(seen_late, "cq", "default", now));
  observe(MirrorSynced{});
  finish();
  EXPECT_EQ(verdict("w"), "Unseen");
  EXPECT_EQ(beside->count(Verdict::unseen), 2U);
  EXPECT_EQ(beside->differences(), 0U);
}

TEST_F(TwoControllers, KeepsNoMoreThanItIsToldToAndCountsAll) {
  queue(50'000);
  beside = std::make_unique<Beside>(BesideOptions{.tolerance = Duration::seconds(5), .matters_max = 3, .keep_same = false});
  beside->begin(driver_);
  for (int i = 0; i < 10; ++i) {
    const auto w = facts.workload("w" + std::to_string(i), "lq", 1'000);
    observe(w);
    look();
    decided(kueue.admitted(w, "cq", "another", now));
  }
  finish();
  EXPECT_EQ(beside->matters().size(), 3U);
  EXPECT_EQ(beside->left_out(), 7U);
  EXPECT_EQ(beside->differences(), 10U);
}

// A rule that the report names can be looked up.
TEST(KnownCauses, EachRuleStandsAmongTheKnownDepartures) {
  std::ifstream file("docs/deviations.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  for (const auto rule : rules_of_known_causes()) EXPECT_NE(text.find(std::string(rule)), std::string::npos) << rule;
}

}  // namespace
}  // namespace hindsight::projections
