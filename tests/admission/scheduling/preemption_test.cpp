#include <gtest/gtest.h>

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;

QueueSpec flat_queue(std::string_view name, std::int64_t nominal) { return QueueSpec(name, "root").cpu("f", nominal); }

// BA-107, BA-113: S13
TEST(ClassicalPreemption, FillsBackVictimsThatAreNotNeeded) {
  World w({QueueSpec("q").cpu("f", 10).within(lower_priority)});
  w.run(Work("p1", "q").cpu(1).priority(0));
  w.run(Work("p2", "q").cpu(2).priority(1));
  w.run(Work("p3", "q").cpu(7).priority(2));
  w.pend(Work("in", "q").cpu(7).priority(100)).cycle();
  EXPECT_EQ(w.victims("in"), "p3(InClusterQueue)");
}

// BA-103: S14
TEST(ClassicalPreemption, TakesTheMostRecentOfEqualPriority) {
  World w({QueueSpec("q").cpu("f", 10).within(lower_priority)});
  w.run(Work("low1", "q").cpu(2).reserved(10));
  w.run(Work("low2", "q").cpu(3).reserved(20));
  w.run(Work("mid", "q").cpu(4).priority(50));
  w.pend(Work("in", "q").cpu(4).priority(100)).cycle();
  EXPECT_EQ(w.victims("in"), "low2(InClusterQueue)");
}

struct Reclaim : ::testing::Test {
  World w;
  void start(PreemptionPolicy policy) {
    w.members({flat_queue("A", 6).reclaim(policy), flat_queue("B", 4), flat_queue("C", 4)});
    w.run(Work("b1", "B").cpu(3).priority(10).reserved(1));
    w.run(Work("b2", "B").cpu(3).priority(10).reserved(2));
    w.run(Work("b3", "B").cpu(2).priority(100).reserved(3));
    w.run(Work("c1", "C").cpu(5).priority(0).reserved(1));
  }
};

// BA-104, BA-105: S15
TEST_F(Reclaim, TakesQuotaBackFromABorrower) {
  start(any);
  w.pend(Work("in", "A").cpu(5)).cycle();
  EXPECT_EQ(w.victims("in"), "c1(InCohortReclamation)");
  EXPECT_EQ(w.verdict("in"), "WaitingForPreemptedWorkloads");
}

// BA-101: S15
TEST_F(Reclaim, FindsNoCandidateOfEqualPriority) {
  start(lower_priority);
  w.pend(Work("in", "A").cpu(5)).cycle();
  EXPECT_EQ(w.of("in").requeue_reason, RequeueReason::preemption_no_candidates);
  w.pend(Work("urgent", "A").cpu(5).priority(50)).cycle();
  EXPECT_EQ(w.victims("urgent"), "c1(InCohortReclamation)");
}

// BA-108: S18
TEST_F(Reclaim, DoesNotPreemptOthersWhileBorrowing) {
  start(any);
  w.pend(Work("in", "A").cpu(8)).cycle();
  EXPECT_EQ(w.of("in").requeue_reason, RequeueReason::no_fit);
  EXPECT_EQ(w.verdict("in"), "WaitingForQuota");
  EXPECT_EQ(w.of("in").message, "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 7 more needed");
}

// BA-106, BA-107: S16
TEST(ClassicalPreemption, StopsTakingFromAQueueWithinNominal) {
  World w({flat_queue("A", 6).reclaim(any), flat_queue("B", 4), flat_queue("C", 4)});
  w.run(Work("b1", "B").cpu(3).reserved(1));
  w.run(Work("b2", "B").cpu(3).reserved(2));
  w.run(Work("c1", "C").cpu(6).priority(5));
  w.pend(Work("in", "A").cpu(6)).cycle();
  EXPECT_EQ(w.victims("in"), "c1(InCohortReclamation)");
}

struct BorrowWithin : ::testing::Test {
  World w;
  void start(std::optional<std::int32_t> threshold) {
    w.members({flat_queue("std", 10).reclaim(lower_priority).borrow_within(lower_priority, threshold), flat_queue("best-effort", 0),
               flat_queue("shared", 5)});
    w.run(Work("own", "std").cpu(6).priority(300));
    w.run(Work("lo", "best-effort").cpu(4).priority(50));
    w.run(Work("hi", "best-effort").cpu(4).priority(200));
  }
};

// BA-109: S17
TEST_F(BorrowWithin, PreemptsLowerPrioritiesWhileBorrowing) {
  for (const std::optional<std::int32_t> threshold : {std::optional<std::int32_t>(), std::optional<std::int32_t>(300)}) {
    w = World();
    start(threshold);
    w.pend(Work("in", "std").cpu(8).priority(400)).cycle();
    EXPECT_EQ(w.victims("in"), "lo(InCohortReclaimWhileBorrowing) hi(InCohortReclaimWhileBorrowing)");
  }
}

// BA-110: S17
TEST_F(BorrowWithin, LeavesThoseAboveTheThreshold) {
  start(100);
  w.pend(Work("in", "std").cpu(8).priority(400)).cycle();
  EXPECT_EQ(w.of("in").requeue_reason, RequeueReason::preemption_no_candidates);
  EXPECT_EQ(w.verdict("in"), "WaitingForQuota");
}

// BA-72: S17. A head that does not borrow comes first and may take the last core; one that borrows finds it reserved.
TEST_F(BorrowWithin, ReservesWhatItCannotPreemptFor) {
  start(100);
  w.pend(Work("in", "std").cpu(8).priority(400)).pend(Work("small", "best-effort").cpu(1)).cycle();
  EXPECT_EQ(w.order(), "in small");
  EXPECT_EQ(w.of("small").message, "Workload no longer fits after processing another workload");
  w.pend(Work("in", "std").cpu(8).priority(400)).pend(Work("small", "shared").cpu(1)).cycle();
  EXPECT_EQ(w.order(), "small in");
  EXPECT_EQ(w.verdict("small"), "admit f");
}

// BA-109, BA-112: S17
TEST_F(BorrowWithin, ReclaimsWithinNominalWhateverTheThreshold) {
  for (const std::optional<std::int32_t> threshold : {std::optional<std::int32_t>(), std::optional<std::int32_t>(100)}) {
    w = World();
    start(threshold);
    w.pend(Work("in", "std").cpu(4).priority(400)).cycle();
    EXPECT_EQ(w.victims("in"), "lo(InCohortReclamation)");
  }
}

// BA-111: S19
TEST(ClassicalPreemption, HasPrecedenceInASubtreeThatHoldsTheRequest) {
  const auto make = [] {
    World w({QueueSpec("a", "L").cpu("f", 4).reclaim(lower_priority), QueueSpec("b", "L").cpu("f", 6), QueueSpec("c", "R").cpu("f", 4)},
            {CohortSpec("L", "root"), CohortSpec("R", "root")});
    w.run(Work("a1", "a").cpu(4).priority(500));
    w.run(Work("b1", "b").cpu(3));
    w.run(Work("c1", "c").cpu(3).priority(10));
    w.run(Work("c2", "c").cpu(4).priority(50));
    return w;
  };
  World w = make();
  w.pend(Work("in", "a").cpu(3).priority(60)).cycle();
  EXPECT_EQ(w.victims("in"), "c1(InCohortReclamation)");

  World other = make();
  other.pend(Work("in", "a").cpu(4).priority(60)).cycle();
  EXPECT_EQ(other.of("in").requeue_reason, RequeueReason::preemption_no_candidates);
}

// BA-73: S20
TEST(ClassicalPreemption, DefersAnEntryWhoseVictimIsGoneAlready) {
  World w({flat_queue("A", 4).reclaim(any), flat_queue("B", 4).reclaim(any), flat_queue("C", 0)});
  w.run(Work("c1", "C").cpu(8));
  w.pend(Work("a", "A").cpu(4).at(5)).pend(Work("b", "B").cpu(4).at(6)).cycle();
  EXPECT_EQ(w.order(), "a b");
  EXPECT_EQ(w.victims("a"), "c1(InCohortReclamation)");
  EXPECT_EQ(w.victims("b"), "");
  EXPECT_EQ(w.of("b").requeue_reason, RequeueReason::pending_preemption);
  EXPECT_EQ(w.verdict("b"), "WaitingForPreemptedWorkloads");
  EXPECT_EQ(w.of("b").message,
            "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete");
}

// BA-73: variant of S20
TEST(ClassicalPreemption, ChoosesAnotherVictimWhenTheFirstIsTaken) {
  World w({flat_queue("A", 4).reclaim(any), flat_queue("B", 4).reclaim(any), flat_queue("C", 0)});
  w.run(Work("c1", "C").cpu(4).reserved(2));
  w.run(Work("c2", "C").cpu(4).reserved(1));
  w.pend(Work("a", "A").cpu(4).at(5)).pend(Work("b", "B").cpu(4).at(6)).cycle();
  EXPECT_EQ(w.victims("a"), "c1(InCohortReclamation)");
  EXPECT_EQ(w.victims("b"), "c2(InCohortReclamation)");
}

}  // namespace
}  // namespace hindsight::admission::testing
