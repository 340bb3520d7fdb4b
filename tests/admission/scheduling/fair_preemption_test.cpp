#include <gtest/gtest.h>

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;
using enum Settings::FairStrategy;

using Strategies = std::vector<Settings::FairStrategy>;

QueueSpec in_root(std::string_view name, std::int64_t nominal, std::int64_t weight = 1) {
  return QueueSpec(name, "root").cpu("f", nominal).weight(weight * 1'000'000'000);
}

/// n workloads of one core, named prefix1 … prefixn, each reserved a second after the one before.
void run_ones(World& w, std::string_view prefix, std::string_view queue, int n) {
  for (int i = 1; i <= n; ++i) w.run(Work(std::string(prefix) + std::to_string(i), queue).cpu(1).reserved(i));
}

World fair(const std::vector<QueueSpec>& queues,
           const Strategies& strategies = {less_than_or_equal_to_final_share, less_than_initial_share},
           const std::vector<CohortSpec>& cohorts = {}) {
  World w(queues, cohorts);
  w.settings.fair_sharing = true;
  w.settings.fair_strategies = strategies;
  return w;
}

const Strategies all_lists[] = {
    {less_than_or_equal_to_final_share}, {less_than_initial_share}, {less_than_or_equal_to_final_share, less_than_initial_share}, {}};

World three(const Strategies& strategies) {
  World w = fair({in_root("a", 3).reclaim(any), in_root("b", 3), in_root("c", 3)}, strategies);
  w.run(Work("a1", "a").cpu(3));
  return w;
}

// BA-113, BA-117, BA-120: S24
TEST(FairPreemption, TakesASmallVictimUnderEveryStrategy) {
  for (const auto& strategies : all_lists) {
    World w = three(strategies);
    run_ones(w, "b", "b", 6);
    w.pend(Work("in", "a").cpu(1)).cycle();
    EXPECT_EQ(w.victims("in"), "b6(InCohortFairSharing)");
  }
}

// BA-120: S25
TEST(FairPreemption, TakesABigVictimOnlyByTheInitialShare) {
  for (const auto& strategies : all_lists) {
    World w = three(strategies);
    w.run(Work("b1", "b").cpu(6));
    w.pend(Work("in", "a").cpu(1)).cycle();
    const bool final_only = strategies == Strategies{less_than_or_equal_to_final_share};
    EXPECT_EQ(w.victims("in"), final_only ? "" : "b1(InCohortFairSharing)");
  }
}

// BA-121: S26
TEST(FairPreemption, RetriesWithTheRemovalsOfTheFirstStrategyKept) {
  for (const auto& strategies : all_lists) {
    World w = three(strategies);
    w.run(Work("b2", "b").cpu(1).reserved(1));
    w.run(Work("b1", "b").cpu(5).reserved(2));
    w.pend(Work("in", "a").cpu(2)).cycle();
    const bool initial_only = strategies == Strategies{less_than_initial_share};
    EXPECT_EQ(w.victims("in"), initial_only ? "b1(InCohortFairSharing)" : "");
  }
}

// BA-118, BA-120: S26, weights
TEST(FairPreemption, WeighsShares) {
  const auto victims = [](std::int64_t weight_a, std::int64_t weight_b) {
    World w = fair({in_root("a", 2, weight_a).reclaim(any), in_root("b", 2, weight_b), in_root("c", 2), in_root("d", 6)});
    w.run(Work("a1", "a").cpu(4));
    run_ones(w, "b", "b", 8);
    w.pend(Work("in", "a").cpu(1)).cycle();
    return w.victims("in");
  };
  EXPECT_EQ(victims(1, 1), "b8(InCohortFairSharing)");
  EXPECT_EQ(victims(2, 1), "b8(InCohortFairSharing)");
  EXPECT_EQ(victims(1, 3), "");
}

// BA-122: S27
TEST(FairPreemption, IsEntitledToItsNominalQuota) {
  for (const bool gate : {true, false}) {
    World w = fair({in_root("a", 3).reclaim(any), in_root("b", 3), in_root("c", 3)});
    w.settings.fair_sharing_preempt_within_nominal = gate;
    w.run(Work("a1", "a").cpu(1));
    w.run(Work("b1", "b").cpu(8));
    w.pend(Work("in", "a").cpu(2)).cycle();
    EXPECT_EQ(w.victims("in"), gate ? "b1(InCohortReclamation)" : "b1(InCohortFairSharing)");
  }
}

// BA-122: its own victims bring it back to its nominal quota, and from then on it is entitled to it (fair-5053)
TEST(FairPreemption, IsEntitledAfterItsOwnVictims) {
  for (const bool gate : {true, false}) {
    World w = fair({in_root("a", 4).within(lower_priority).reclaim(any), in_root("b", 1)});
    w.settings.fair_sharing_preempt_within_nominal = gate;
    w.run(Work("a1", "a").cpu(3));
    w.run(Work("b1", "b").cpu(2));
    w.pend(Work("in", "a").cpu(4).priority(100)).cycle();
    EXPECT_EQ(w.victims("in"), gate ? "a1(InClusterQueue) b1(InCohortReclamation)" : "a1(InClusterQueue) b1(InCohortFairSharing)");
  }
}

// BA-122: the gate decides when the preemptor borrows on an uncontested resource
TEST(FairPreemption, LooksOnlyAtTheContestedResourceForEntitlement) {
  for (const bool gate : {true, false}) {
    std::vector<QueueSpec> queues;
    for (const auto* name : {"a", "b", "c"}) {
      queues.emplace_back(name, "root");
      queues.back().quota({"cpu"}, "f", {{cores(3), {}, {}}}).quota({"memory"}, "m", {{3, {}, {}}}).reclaim(any);
    }
    World w = fair(queues);
    w.settings.fair_sharing_preempt_within_nominal = gate;
    w.run(Work("a1", "a").pods("main", 1, {{"memory", 7}}), "m");
    w.run(Work("b1", "b").cpu(9));
    w.pend(Work("in", "a").cpu(3)).cycle();
    // a's share by memory, 4/9, is below b's initial one by cpu, 6/9, so that only one strategy decides.
    EXPECT_EQ(w.victims("in"), gate ? "b1(InCohortReclamation)" : "b1(InCohortFairSharing)");
    w.settings.fair_strategies = {less_than_or_equal_to_final_share};
    w.pend(Work("in", "a").cpu(3)).cycle();
    EXPECT_EQ(w.victims("in"), gate ? "b1(InCohortReclamation)" : "");
  }
}

// BA-123: S28
TEST(FairPreemption, ComparesBelowTheLowestCommonAncestor) {
  World w = fair({QueueSpec("a", "L").cpu("f", 2).reclaim(any), QueueSpec("b", "L").cpu("f", 2), QueueSpec("c", "R").cpu("f", 2),
                  QueueSpec("d", "root").cpu("f", 6)},
                 {less_than_or_equal_to_final_share, less_than_initial_share}, {CohortSpec("L", "root"), CohortSpec("R", "root")});
  w.run(Work("a1", "a").cpu(2));
  run_ones(w, "b", "b", 5);
  run_ones(w, "c", "c", 5);
  w.pend(Work("in", "a").cpu(1)).cycle();
  EXPECT_EQ(w.victims("in"), "b5(InCohortFairSharing)");
}

// BA-126: S29
TEST(FairPreemption, GivesAZeroWeightPreemptorNothingOfFiniteShares) {
  World w = fair({in_root("a", 0, 0).reclaim(any), in_root("b", 4), in_root("c", 4)});
  run_ones(w, "b", "b", 8);
  w.pend(Work("in", "a").cpu(1)).cycle();
  EXPECT_EQ(w.victims("in"), "");
  EXPECT_EQ(w.of("in").requeue_reason, RequeueReason::preemption_no_candidates);
}

// BA-126: S29, the other way round
TEST(FairPreemption, TakesFromAZeroWeightQueueWhileItBorrows) {
  World w = fair({in_root("a", 4).reclaim(any), in_root("b", 0, 0), in_root("c", 4)});
  run_ones(w, "b", "b", 4);
  w.run(Work("a1", "a").cpu(4));
  w.pend(Work("in", "a").cpu(3)).cycle();
  EXPECT_EQ(w.victims("in"), "b4(InCohortFairSharing) b3(InCohortFairSharing) b2(InCohortFairSharing)");
}

// BA-124: after a victim the queue with the highest share is chosen again
TEST(FairPreemption, ChoosesTheQueueAgainAfterEveryVictim) {
  World w = fair({in_root("a", 6).reclaim(any), in_root("b", 2), in_root("c", 2)});
  run_ones(w, "b", "b", 5);
  run_ones(w, "c", "c", 5);
  w.pend(Work("in", "a").cpu(4)).cycle();
  // b and c tie; b5 and c5 are equally good victims, so that the uid decides: then shares alternate.
  EXPECT_EQ(w.of("in").victims.size(), 4U);
  EXPECT_NE(w.victims("in").find("b4"), std::string::npos);
  EXPECT_NE(w.victims("in").find("c4"), std::string::npos);
}

// BA-125
TEST(FairPreemption, LeavesAQueueThatStoppedBorrowing) {
  World w = fair({in_root("a", 4, 10).within(lower_priority).reclaim(any), in_root("b", 2), in_root("c", 2)}, {less_than_initial_share});
  run_ones(w, "own", "a", 4);
  run_ones(w, "b", "b", 4);
  w.pend(Work("in", "a").cpu(3).priority(1)).cycle();
  // b gives two and is within nominal then; the third core comes from the preemptor's own queue.
  EXPECT_EQ(w.victims("in"), "b4(InCohortFairSharing) b3(InCohortFairSharing) own4(InClusterQueue)");
}

// BA-117
TEST(FairPreemption, IgnoresBorrowWithinCohort) {
  World w = fair({in_root("a", 3).reclaim(any).borrow_within(lower_priority, -100), in_root("b", 3), in_root("c", 3)});
  w.run(Work("a1", "a").cpu(3));
  run_ones(w, "b", "b", 6);
  w.pend(Work("in", "a").cpu(1)).cycle();
  EXPECT_EQ(w.victims("in"), "b6(InCohortFairSharing)");
}

// BA-104: without a cohort the only target is the own queue
TEST(FairPreemption, PreemptsInAQueueWithoutCohort) {
  World w = fair({QueueSpec("q").cpu("f", 4).within(lower_priority)});
  w.run(Work("p1", "q").cpu(2).priority(1));
  w.run(Work("p2", "q").cpu(2).priority(2));
  w.pend(Work("in", "q").cpu(2).priority(9)).cycle();
  EXPECT_EQ(w.victims("in"), "p1(InClusterQueue)");
  w.pend(Work("low", "q").cpu(2).priority(0)).cycle();
  EXPECT_EQ(w.victims("low"), "");
}

// BA-103: an evicted workload that is out of reach hides none behind it
TEST(FairPreemption, LooksBehindAnEvictedWorkloadOfHigherPriority) {
  World w = fair({QueueSpec("q").cpu("f", 4).within(lower_priority)});
  w.run(Work("going", "q").cpu(2).priority(9).evicted());
  w.run(Work("low", "q").cpu(2));
  w.pend(Work("in", "q").cpu(2).priority(5)).cycle();
  EXPECT_EQ(w.victims("in"), "low(InClusterQueue)");
}

// BA-101
TEST(FairPreemption, KeepsToThePolicyOfPriorities) {
  World w = fair({in_root("a", 3).reclaim(lower_priority), in_root("b", 3), in_root("c", 3)});
  w.run(Work("a1", "a").cpu(3));
  run_ones(w, "b", "b", 6);
  w.pend(Work("in", "a").cpu(1)).cycle();
  EXPECT_EQ(w.victims("in"), "");
  w.pend(Work("in", "a").cpu(1).priority(1)).cycle();
  EXPECT_EQ(w.victims("in"), "b6(InCohortFairSharing)");
}

}  // namespace
}  // namespace hindsight::admission::testing
