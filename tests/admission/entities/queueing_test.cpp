// Queueing and admission of Workloads that no job owns, through all entities.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class Queueing : public ::testing::Test {
 protected:
  FactWorld w;
  void set_up(FactWorld::Queue q) {
    w.namespace_("default");
    w.flavor("default");
    w.queue(q);
    w.local_queue("lq", q.name);
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
};

// BA-51, S10
TEST_F(Queueing, BestEffortParksAnUnfitHeadAndAdmitsTheNext) {
  set_up({.name = "cq", .cpu = 10'000});
  w.observe(w.workload("w1", "lq", 12'000));
  w.now = w.now + Duration::seconds(1);
  w.observe(w.workload("w2", "lq", 3'000));
  EXPECT_EQ(w.settle(), (Lines{"requeued w1 ExceedsMaxQuota", "reserved w2 admitted"}));
  EXPECT_TRUE(w.state("w2").admitted());
  EXPECT_EQ(w.driver().queue(Symbol("cq"))->counters().pending, 1);
  EXPECT_EQ(w.driver().queue(Symbol("cq"))->counters().admitted, 1);
}

// BA-50, S10
TEST_F(Queueing, StrictFifoLetsNothingPassAnUnfitHead) {
  set_up({.name = "cq", .cpu = 10'000, .strategy = QueueingStrategy::strict_fifo});
  w.observe(w.workload("w1", "lq", 12'000));
  w.now = w.now + Duration::seconds(1);
  w.observe(w.workload("w2", "lq", 3'000));
  EXPECT_EQ(w.settle(), (Lines{"requeued w1 ExceedsMaxQuota"}));
  EXPECT_EQ(w.state("w2").find(ConditionType::quota_reserved), nullptr);
}

// BA-41, BA-58, BA-59, BA-128: a finished Workload frees its quota, and what was parked is tried again when the requests of a
// moment have gathered
TEST_F(Queueing, AFinishedWorkloadWakesWhatWasParked) {
  set_up({.name = "cq", .cpu = 4'000});
  auto first = w.workload("w1", "lq", 4'000);
  w.observe(first);
  w.now = w.now + Duration::seconds(1);
  w.observe(w.workload("w2", "lq", 4'000));
  EXPECT_EQ(w.settle(), (Lines{"reserved w1 admitted", "requeued w2 WaitingForQuota"}));
  auto conditions = std::vector<ConditionFacts>{{ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", w.now}};
  first.meta.resource_version = w.next_version();
  first.conditions = conditions;
  w.observe(first);
  EXPECT_EQ(w.settle(), Lines{});
  const Duration batch = Settings{}.reactivation_batch;
  EXPECT_EQ(w.driver().domain().next_due(), w.now + batch);
  w.tick(batch);
  EXPECT_EQ(w.settle(), (Lines{"reactivated cq", "reserved w2 admitted"}));
}

// BA-41: what ended before its eviction could be written is over; nothing is written to it any more
TEST_F(Queueing, AnEvictionThatCameTooLateIsNotWritten) {
  set_up({.name = "cq", .cpu = 4'000, .within = PreemptionPolicy::lower_priority});
  auto victim = w.workload("low", "lq", 4'000, 0);
  w.observe(victim);
  (void)w.settle();
  w.admit(victim, "cq");
  w.observe(victim);
  w.observe(w.workload("high", "lq", 4'000, 10));
  EXPECT_EQ(w.settle().front(), "preempted low InClusterQueue");
  auto conditions = std::vector<ConditionFacts>(victim.conditions.begin(), victim.conditions.end());
  conditions.push_back({ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", w.now});
  victim.meta.resource_version = w.next_version();
  victim.conditions = conditions;
  w.observe(victim);
  EXPECT_FALSE(w.state("low").evicted());
  w.tick(Settings{}.reactivation_batch);
  (void)w.settle();
  EXPECT_TRUE(w.state("high").reserved());
  for (const auto& intent : w.wanted<WorkloadIntent>()) EXPECT_NE(intent.name, "low");
}

// BA-55, S11: one evaluation parks a hundred equal ones
TEST_F(Queueing, EqualWorkloadsAreParkedTogether) {
  set_up({.name = "cq", .cpu = 3'000});
  for (int i = 0; i < 100; ++i) w.observe(w.workload("w" + std::to_string(100 + i), "lq", 4'000));
  const auto decided = w.settle();
  EXPECT_EQ(decided, (Lines{"requeued w100 ExceedsMaxQuota"}));
  EXPECT_EQ(w.driver().queue(Symbol("cq"))->counters().pending, 100);
}

// BA-101, BA-116, BA-131: the victim keeps its quota until its maker clears it; then the preemptor is admitted
TEST_F(Queueing, APreemptorWaitsUntilItsVictimIsGone) {
  set_up({.name = "cq", .cpu = 4'000, .within = PreemptionPolicy::lower_priority});
  auto victim = w.workload("low", "lq", 4'000, 0);
  w.observe(victim);
  EXPECT_EQ(w.settle(), (Lines{"reserved low admitted"}));
  w.observe(w.workload("high", "lq", 4'000, 10));
  EXPECT_EQ(w.settle(), (Lines{"preempted low InClusterQueue", "requeued high WaitingForPreemptedWorkloads"}));
  EXPECT_TRUE(w.state("low").evicted());
  // the API server shows what was decided, then the victim's maker completes the eviction
  const auto& s = w.state("low");
  std::vector<ConditionFacts> shown;
  for (const auto& c : s.conditions) shown.push_back({c.type, c.status, c.reason.text(), c.message, c.last_transition});
  auto seen = victim;
  seen.meta.resource_version = w.next_version();
  std::vector<FlavorChoice> flavors{{"cpu", "default"}};
  std::vector<ResourceAmount> usage{{"cpu", 4'000}};
  std::vector<PodSetAssignmentFacts> assignments{{"main", 1, flavors, usage}};
  std::vector<EvictionCount> evictions{{"Preempted", "", 1}};
  seen.conditions = shown;
  seen.has_admission = true;
  seen.admission_cluster_queue = "cq";
  seen.assignments = assignments;
  seen.evictions = evictions;
  w.observe(seen);
  EXPECT_EQ(w.state("low").unconfirmed, 0U);
  for (auto& c : shown)
    if (c.type == ConditionType::quota_reserved || c.type == ConditionType::admitted)
      c = {c.type, ConditionStatus::false_, c.type == ConditionType::admitted ? "NoReservation" : "PendingEvaluation", "evicted", w.now};
  seen.meta.resource_version = w.next_version();
  seen.has_admission = false;
  seen.assignments = {};
  seen.conditions = shown;
  w.observe(seen);
  EXPECT_EQ(w.settle(), (Lines{"reserved high admitted", "requeued low WaitingForQuota"}));
}

// BA-60, §3.7: what only the status tells, and is not in the list, wakes nobody
TEST_F(Queueing, AChangeOfTheStatusAloneMovesNoParkedWorkload) {
  set_up({.name = "cq", .cpu = 4'000});
  w.observe(w.workload("runs", "lq", 4'000));
  w.now = w.now + Duration::seconds(1);
  w.observe(w.workload("parked", "lq", 4'000));
  ASSERT_EQ(w.settle(), (Lines{"reserved runs admitted", "requeued parked WaitingForQuota"}));
  const auto with_condition = [&](const char* name, ConditionFacts added) {
    auto o = w.seen_as(name);
    auto conditions = w.arena().make<ConditionFacts>(o.conditions.size() + 1);
    std::copy(o.conditions.begin(), o.conditions.end(), conditions.begin());
    conditions[o.conditions.size()] = added;
    o.conditions = conditions;
    w.observe(o);
    return w.settle();
  };
  EXPECT_EQ(with_condition("parked", {ConditionType::blocked_on_preemption_gates, ConditionStatus::false_, "Other", "m", w.now}), Lines{});
  EXPECT_EQ(with_condition("runs", {ConditionType::pods_ready, ConditionStatus::true_, "Started", "m", w.now}), Lines{});
  auto shown = w.seen_as("parked");
  shown.accumulated_exec_seconds = 17;
  w.observe(shown);
  EXPECT_EQ(w.settle(), Lines{});
  w.tick(Duration::seconds(10));
  EXPECT_EQ(w.settle(), Lines{});
  // What is in the list does move it.
  auto other = w.seen_as("parked");
  other.priority = 7;
  w.observe(other);
  EXPECT_EQ(w.settle(), Lines{"requeued parked WaitingForQuota"});
}

// BA-47, §3.2: priority, where none is 0, then time, then uid
TEST_F(Queueing, TheOrderOfAQueue) {
  set_up({.name = "cq", .cpu = 1'000, .strategy = QueueingStrategy::strict_fifo});
  w.observe(w.workload("earlier", "lq", 1'000));
  w.now = w.now + Duration::seconds(1);
  w.observe(w.workload("b", "lq", 1'000));
  auto without = w.workload("a", "lq", 1'000);
  without.priority.reset();
  w.observe(without);
  w.observe(w.workload("c", "lq", 1'000));
  w.observe(w.workload("lower", "lq", 1'000, -1));
  w.now = w.now + Duration::seconds(1);
  w.observe(w.workload("higher", "lq", 1'000, 1));
  Lines order;
  for (int i = 0; i < 6; ++i) {
    std::string name;
    for (const auto& line : w.settle())
      if (line.starts_with("reserved ")) name = line.substr(9, line.find(' ', 9) - 9);
    ASSERT_NE(name, "") << i;
    order.push_back(name);
    w.observe(ObjectDeleted{ObjectKind::workload, "default", w.keep(name), w.keep("uid-" + name)});
    w.tick(Settings{}.reactivation_batch);
  }
  EXPECT_EQ(order, (Lines{"higher", "earlier", "a", "b", "c", "lower"}));
}

}  // namespace
}  // namespace hindsight::admission::testing
