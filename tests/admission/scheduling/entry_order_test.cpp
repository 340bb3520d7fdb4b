#include "admission/scheduling/entry_order.hpp"

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;

QueueSpec in_root(std::string_view name, std::int64_t nominal, std::int64_t weight = 1) {
  return QueueSpec(name, "root").cpu("f", nominal).weight(weight * 1'000'000'000);
}

World s8() {
  World w({in_root("A", 4), in_root("B", 4), in_root("C", 4)});
  w.run(Work("busy", "A").cpu(4));
  w.pend(Work("a", "A").cpu(2).priority(1000)).pend(Work("b", "B").cpu(4).at(10)).pend(Work("c", "C").cpu(3).priority(5).at(20));
  return w;
}

// BA-69, BA-71, BA-95: S8
TEST(ClassicalOrder, GoesByLevelThenPriorityThenTime) {
  World w = s8();
  w.cycle();
  EXPECT_EQ(w.order(), "c b a");
  EXPECT_EQ(w.verdict("c"), "admit f");
  EXPECT_EQ(w.verdict("b"), "admit f");
  EXPECT_EQ(w.verdict("a"), "WaitingForQuota");
  EXPECT_EQ(w.of("a").message, "Workload no longer fits after processing another workload");
  EXPECT_EQ(w.of("a").requeue_reason, RequeueReason::failed_after_nomination);
}

// BA-96
TEST(ClassicalOrder, IgnoresPriorityWithoutTheGate) {
  World w = s8();
  w.settings.priority_sorting_within_cohort = false;
  w.cycle();
  EXPECT_EQ(w.order(), "b c a");
}

// BA-78
TEST(ClassicalOrder, BreaksTiesByTheNameOfTheQueue) {
  for (const auto* names : {"abc", "bca", "cba"}) {
    World w({in_root("a", 1), in_root("b", 1), in_root("c", 1)});
    for (const char* n = names; *n != 0; ++n) w.pend(Work(std::string(1, *n), std::string(1, *n)).cpu(1));
    w.cycle();
    EXPECT_EQ(w.order(), "a b c");
  }
}

// BA-72: S9
TEST(ClassicalOrder, LetsAWaitingHeadReserveItsNominalQuota) {
  for (const auto policy : {never, any}) {
    World w({in_root("a", 6).reclaim(policy), in_root("b", 6)});
    w.run(Work("busy", "b").cpu(8));
    w.pend(Work("w", "a").cpu(6)).pend(Work("v", "b").cpu(2)).cycle();
    EXPECT_EQ(w.order(), "w v");
    if (policy == never) {
      EXPECT_EQ(w.of("w").requeue_reason, RequeueReason::preemption_no_candidates);
      EXPECT_EQ(w.of("v").message, "Workload no longer fits after processing another workload");
    } else {
      EXPECT_EQ(w.victims("w"), "busy(InCohortReclamation)");
    }
  }
}

// BA-72: with reclaimWithinCohort Any nothing is reserved, though there is no victim now
TEST(ClassicalOrder, ReservesNothingWhereReclaimIsAlwaysPossible) {
  for (const auto policy : {never, any}) {
    World w({in_root("a", 6).reclaim(policy), in_root("b", 6), in_root("c", 0)});
    w.run(Work("own", "a").cpu(4));
    w.run(Work("other", "b").cpu(6));
    w.pend(Work("w", "a").cpu(4).at(1)).pend(Work("v", "c").cpu(2).at(2)).cycle();
    EXPECT_EQ(w.order(), "w v");
    EXPECT_EQ(w.of("w").requeue_reason, RequeueReason::preemption_no_candidates);
    EXPECT_EQ(w.verdict("v"), policy == any ? "admit f" : "WaitingForQuota");
  }
}

// BA-196: with the gate a queue's preemptor comes first, whatever its level, and reserves also where reclaim is always possible
TEST(ClassicalOrder, APreemptorComesFirstAndReserves) {
  for (const bool gate : {false, true}) {
    World w({in_root("a", 6).reclaim(any), in_root("b", 6), in_root("c", 0)});
    w.settings.prioritize_preemptors = gate;
    w.run(Work("own", "a").cpu(4));
    w.run(Work("other", "b").cpu(6));
    w.pend(Work("w", "a").cpu(4).at(2));  // borrows, and nobody can be preempted for it
    w.heads.back().preemptor = true;
    w.pend(Work("v", "c").cpu(2).priority(9).at(1)).cycle();
    EXPECT_EQ(w.order(), gate ? "w v" : "v w");
    EXPECT_EQ(w.verdict("v"), gate ? "WaitingForQuota" : "admit f");
  }
}

// BA-196: so it is with fair sharing
TEST(FairOrder, APreemptorWinsTheTournament) {
  for (const bool gate : {false, true}) {
    World w({in_root("a", 4), in_root("b", 4)});
    w.settings.fair_sharing = true;
    w.settings.prioritize_preemptors = gate;
    w.run(Work("own", "a").cpu(4));
    w.pend(Work("w", "a").cpu(4));  // borrows
    w.heads.back().preemptor = true;
    w.pend(Work("v", "b").cpu(2)).cycle();
    EXPECT_EQ(w.order(), gate ? "w v" : "v w");
  }
}

// BA-72: how much is reserved
TEST(ClassicalOrder, ReservesUpToTheBorrowingLimit) {
  for (const std::int64_t left : {1, 2}) {
    // w could borrow 1 and uses 4 of 6: it reserves 3 of the 4 free cores.
    World w({QueueSpec("a", "root").cpu("f", 6, 1), in_root("b", 8), in_root("c", 0)});
    w.run(Work("own", "a").cpu(4));
    w.run(Work("other", "b").cpu(6));
    w.pend(Work("w", "a").cpu(4).at(1)).pend(Work("v", "c").cpu(left).at(2)).cycle();
    EXPECT_EQ(w.order(), "w v");
    EXPECT_EQ(w.of("w").requeue_reason, RequeueReason::preemption_no_candidates);
    EXPECT_EQ(w.verdict("v"), left == 1 ? "admit f" : "WaitingForQuota");
  }
}

World s21() {
  World w({in_root("a", 20), in_root("b", 10), in_root("c", 10, 2), in_root("d", 10, 0).reclaim(any)});
  w.settings.fair_sharing = true;
  w.run(Work("ra", "a").cpu(20));
  w.run(Work("rb", "b").cpu(14));
  w.run(Work("rc", "c").cpu(13));
  return w;
}

// BA-97, BA-98, BA-118, BA-119: S21
TEST(FairOrder, GoesByShareWithTheEntry) {
  World w = s21();
  EXPECT_EQ(w.tree.weighted_share(Symbol("a")), 0);
  EXPECT_EQ(w.tree.weighted_share(Symbol("b")), 80);
  EXPECT_EQ(w.tree.weighted_share(Symbol("c")), 30);
  EXPECT_EQ(w.tree.weighted_share(Symbol("d")), 0);
  w.pend(Work("d", "d").cpu(2)).pend(Work("a", "a").cpu(1)).pend(Work("c", "c").cpu(3)).pend(Work("b", "b").cpu(2)).cycle();
  EXPECT_EQ(w.order(), "d a c b");
  EXPECT_EQ(w.verdict("d"), "admit f");
  EXPECT_EQ(w.verdict("a"), "admit f");
  EXPECT_EQ(w.verdict("c"), "WaitingForQuota");
  EXPECT_EQ(w.verdict("b"), "WaitingForQuota");
}

// BA-100: S21
TEST(FairOrder, PutsAnInfiniteShareLast) {
  World w = s21();
  w.pend(Work("d", "d").cpu(11)).pend(Work("a", "a").cpu(1)).pend(Work("c", "c").cpu(3)).pend(Work("b", "b").cpu(2)).cycle();
  EXPECT_EQ(w.order(), "a c b d");
}

// BA-100
TEST(FairOrder, ComparesInfiniteSharesByTheUnweightedRatio) {
  World w({in_root("x", 0, 0), in_root("y", 0, 0), in_root("z", 10)});
  w.settings.fair_sharing = true;
  w.pend(Work("x", "x").cpu(3).priority(9)).pend(Work("y", "y").cpu(2)).cycle();
  EXPECT_EQ(w.order(), "y x");
}

// BA-97, BA-98: S22
TEST(FairOrder, RunsATournamentInTheHierarchy) {
  World w(
      {QueueSpec("a", "X").cpu("f", 5), QueueSpec("b", "X").cpu("f", 5), QueueSpec("c", "Y").cpu("f", 5), QueueSpec("e", "Y").cpu("f", 5)},
      {CohortSpec("X", "root"), CohortSpec("Y", "root").weight(2'000'000'000)});
  w.settings.fair_sharing = true;
  w.run(Work("ra", "a").cpu(9));
  w.run(Work("rb", "b").cpu(2));
  w.run(Work("rc", "c").cpu(7));
  w.pend(Work("a", "a").cpu(1)).pend(Work("b", "b").cpu(2)).pend(Work("c", "c").cpu(1)).pend(Work("e", "e").cpu(2)).cycle();
  EXPECT_EQ(w.order(), "e c b a");
  EXPECT_EQ(w.verdict("e"), "admit f");
  for (const auto* name : {"c", "b", "a"}) EXPECT_EQ(w.verdict(name), "WaitingForQuota");
}

// BA-98: the gate
TEST(FairOrder, ComparesSharesAloneWithoutTheGate) {
  for (const bool gate : {true, false}) {
    // mem: x borrows memory already (share 500), but does not borrow cpu with its entry; y borrows cpu a little.
    QueueSpec x("x", "root"), y("y", "root"), z("z", "root");
    for (auto* q : {&x, &y, &z}) q->quota({"cpu"}, "f", {{cores(10), {}, {}}}).quota({"memory"}, "m", {{10, {}, {}}});
    World w({x, y, z});
    w.settings.fair_sharing = true;
    w.settings.fair_sharing_prioritize_non_borrowing = gate;
    w.run(Work("rx", "x").pods("main", 1, {{"memory", 25}}), "m");
    w.run(Work("ry", "y").cpu(10));
    w.pend(Work("x", "x").cpu(1)).pend(Work("y", "y").cpu(1)).cycle();
    EXPECT_EQ(w.order(), gate ? "x y" : "y x");
  }
}

// BA-97: equal shares
TEST(FairOrder, FallsBackToPriorityAndTime) {
  World w({in_root("x", 1), in_root("y", 1), in_root("z", 1)});
  w.settings.fair_sharing = true;
  w.pend(Work("x", "x").cpu(1).at(3)).pend(Work("y", "y").cpu(1).at(2)).pend(Work("z", "z").cpu(1).at(9).priority(1)).cycle();
  EXPECT_EQ(w.order(), "z y x");
}

// BA-99
TEST(FairOrder, TakesAQueueWithoutCohort) {
  World w({QueueSpec("q").cpu("f", 3)});
  w.settings.fair_sharing = true;
  w.pend(Work("w", "q").cpu(2)).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f");
}

}  // namespace
}  // namespace hindsight::admission::testing
