#include "admission/scheduling/cycle.hpp"

#include "admission/scheduling/outcome_text.hpp"
#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;

struct Nomination : ::testing::Test {
  World w{{QueueSpec("q").cpu("f", 4)}};
  Work work = Work("w", "q").cpu(1);
  void expect(std::string_view reason, std::string_view message, RequeueReason requeue = RequeueReason::generic) {
    w.pend(work).cycle();
    EXPECT_EQ(w.verdict("w"), reason);
    EXPECT_EQ(w.of("w").message, message);
    EXPECT_EQ(w.of("w").requeue_reason, requeue);
  }
};

// BA-64
TEST_F(Nomination, DropsAWorkloadThatIsAccountedAlready) {
  w.run(work);
  w.pend(work).cycle();
  EXPECT_EQ(w.verdict("w"), "drop");
}

// BA-64
TEST_F(Nomination, RefusesFailedChecks) {
  work.info->failed_checks = true;
  expect("PendingEvaluation", "The workload has failed admission checks");
}

// BA-64
TEST_F(Nomination, RefusesAMissingQueue) {
  work.queue = Symbol("nowhere");
  expect("Misconfigured", "ClusterQueue nowhere not found");
}

// BA-64
TEST_F(Nomination, RefusesAnInactiveQueue) {
  QuotaTree::Member m{std::make_shared<QueueConfig>(*w.tree.queue(0).config), false};
  w.tree = QuotaTree::build(std::span(&m, 1), {});
  expect("Suspended", "ClusterQueue q is inactive");
}

// BA-64
TEST_F(Nomination, RefusesAMissingNamespace) {
  w.namespaces.clear();
  expect("Misconfigured", "could not obtain workload namespace: namespaces \"default\" not found");
}

// BA-64, BA-65, BA-152
TEST_F(Nomination, RefusesANamespaceThatDoesNotMatch) {
  QueueSpec q = QueueSpec("q").cpu("f", 4);
  q.config.namespace_selector = {{Symbol("team"), SelectorOperator::in, {"a"}}};
  q.config.has_namespace_selector = true;
  w.members({q});
  expect("Misconfigured", "workload namespace doesn't match ClusterQueue selector", RequeueReason::namespace_mismatch);
  w.namespaces[Symbol("default")] = {{Symbol("team"), "a"}};
  w.pend(work).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f");

  q.config.has_namespace_selector = false;  // null: nothing matches
  w.tree = build_tree({q});
  expect("Misconfigured", "workload namespace doesn't match ClusterQueue selector", RequeueReason::namespace_mismatch);
}

// BA-64
TEST_F(Nomination, RefusesRequestsAboveTheLimits) {
  work.info->limits_error = "resources validation failed: spec.podSets[0] requests must not exceed its limits";
  expect("Misconfigured", "resources validation failed: spec.podSets[0] requests must not exceed its limits");
}

// BA-64: first match wins
TEST_F(Nomination, ChecksInTheOrderOfTheTable) {
  work.info->failed_checks = true;
  work.info->limits_error = "x";
  w.namespaces.clear();
  expect("PendingEvaluation", "The workload has failed admission checks");
  work.info = std::make_shared<WorkloadInfo>(*work.info);
  work.info->failed_checks = false;
  expect("Misconfigured", "could not obtain workload namespace: namespaces \"default\" not found");
}

// BA-67, BA-114, BA-116
TEST(Cycle, TellsPreemptorAndVictim) {
  World w({QueueSpec("a", "left").cpu("f", 4).reclaim(any), QueueSpec("b", "root").cpu("f", 0)}, {CohortSpec("left", "root")});
  w.run(Work("b1", "b").cpu(2));
  Work in = Work("in", "a").cpu(4).priority(7);
  in.info->job_uid = "job-1";
  w.pend(in).cycle();
  EXPECT_EQ(w.verdict("in"), "WaitingForPreemptedWorkloads");
  EXPECT_EQ(
      w.of("in").message,
      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 2 more needed. Pending the preemption of 1 "
      "workload(s)");
  ASSERT_EQ(w.of("in").victims.size(), 1U);
  const std::string message =
      "Preempted to accommodate a workload (UID: uid-in, JobUID: job-1) due to reclamation within the cohort; preemptor path: "
      "/root/left/a; "
      "preemptee path: /root/b";
  EXPECT_EQ(w.of("in").victims[0].message, message);
}

// BA-113, BA-114
TEST(Cycle, PrintsUnknownForWhatIsMissing) {
  const WorkloadInfo nobody;
  const auto text = [&](VictimReason r) { return preempted_message(nobody, r, "", ""); };
  const std::string head = "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to ";
  const std::string tail = "; preemptor path: UNKNOWN; preemptee path: UNKNOWN";
  EXPECT_EQ(text(VictimReason::in_cluster_queue), head + "prioritization in the ClusterQueue" + tail);
  EXPECT_EQ(text(VictimReason::in_cohort_reclamation), head + "reclamation within the cohort" + tail);
  EXPECT_EQ(text(VictimReason::in_cohort_fair_sharing), head + "Fair Sharing within the cohort" + tail);
  EXPECT_EQ(text(VictimReason::in_cohort_reclaim_while_borrowing), head + "reclamation within the cohort while borrowing" + tail);
}

// BA-103, BA-115
TEST(Cycle, DoesNotEvictAVictimTwice) {
  World w({QueueSpec("q").cpu("f", 4).within(lower_priority)});
  w.run(Work("going", "q").cpu(2).priority(5).evicted());
  w.run(Work("low", "q").cpu(2));
  w.pend(Work("in", "q").cpu(2).priority(9)).cycle();
  EXPECT_EQ(w.victims("in"), "");
  EXPECT_EQ(w.of("in").requeue_reason, RequeueReason::pending_preemption);
  EXPECT_NE(w.of("in").message.find("Pending the preemption of 1 workload(s)"), std::string::npos);
}

// BA-70, BA-90
TEST(Cycle, ForgetsTheScanAfterPreempting) {
  QueueSpec q = QueueSpec("q").cpu("f1", 4).cpu("f2", 4).within(lower_priority);
  q.config.when_can_preempt = FungibilityPolicy::may_stop_search;
  World w({q});
  w.run(Work("low1", "q").cpu(4), "f1");
  w.run(Work("low2", "q").cpu(4), "f2");
  w.pend(Work("in", "q").cpu(2).priority(9)).cycle();
  EXPECT_EQ(w.victims("in"), "low1(InClusterQueue)");
  EXPECT_TRUE(w.of("in").scan.entries.empty());
}

// BA-54: a preempting flavor without victims keeps its place in the scan
TEST(Cycle, KeepsTheScanOfAHeadThatWasNotAdmitted) {
  QueueSpec q = QueueSpec("q").cpu("f1", 4).cpu("f2", 9).cpu("f3", 9);
  World w({q});
  w.run(Work("busy", "q").cpu(9), "f2");
  w.pend(Work("in", "q").pods("one", 1, {{"cpu", cores(4)}}).pods("two", 1, {{"cpu", cores(10)}})).cycle();
  EXPECT_EQ(w.verdict("in"), "ExceedsMaxQuota");
  ASSERT_EQ(w.of("in").scan.entries.size(), 1U);  // the failed pod set records nothing
  EXPECT_EQ(w.of("in").scan.entries[0], (ScanState::Entry{Symbol("one"), Symbol("cpu"), 0}));
}

// BA-73, BA-74
TEST(Cycle, SkipsAnOverlappingEntryWithoutRecomputation) {
  World w({QueueSpec("A", "root").cpu("f", 4).reclaim(any), QueueSpec("B", "root").cpu("f", 4).reclaim(any),
           QueueSpec("C", "root").cpu("f", 0)});
  w.settings.recompute_overlapping = false;
  w.run(Work("c1", "C").cpu(8));
  w.pend(Work("a", "A").cpu(4).at(5)).pend(Work("b", "B").cpu(4).at(6)).cycle();
  EXPECT_EQ(w.verdict("b"), "WaitingForQuota");
  EXPECT_EQ(w.of("b").message, "Workload has overlapping preemption targets with another workload");
  EXPECT_EQ(w.of("b").requeue_reason, RequeueReason::failed_after_nomination);
  EXPECT_TRUE(w.of("b").preemption_skipped);
  EXPECT_FALSE(w.of("a").preemption_skipped);
}

// BA-73: only the flavors first nominated are considered again
TEST(Cycle, PinsTheFlavorsWhenItRecomputes) {
  QueueSpec b = QueueSpec("B", "root").cpu("f", 4).cpu("g", 4).reclaim(any);
  b.config.when_can_preempt = FungibilityPolicy::may_stop_search;
  World w({QueueSpec("A", "root").cpu("f", 4).reclaim(any), b, QueueSpec("C", "root").cpu("f", 0)});
  w.run(Work("c1", "C").cpu(8));
  w.pend(Work("a", "A").cpu(4).at(5)).pend(Work("b", "B").cpu(4).at(6)).cycle();
  EXPECT_EQ(w.victims("a"), "c1(InCohortReclamation)");
  // Flavor g is free, but b was nominated for f and fits there once c1 is gone.
  EXPECT_EQ(w.of("b").requeue_reason, RequeueReason::pending_preemption);
  EXPECT_EQ(w.of("b").victims.size(), 0U);
}

// BA-73: the texts of a pinned recomputation that fails
TEST(Cycle, NamesTheFlavorsOutsideThePin) {
  QueueSpec b = QueueSpec("B", "root").cpu("f", 4).cpu("g", 2).reclaim(any);
  World w({QueueSpec("A", "root").cpu("f", 6).reclaim(any), b, QueueSpec("C", "root").cpu("f", 0)});
  w.run(Work("own", "B").cpu(2).priority(9), "g");
  w.run(Work("c1", "C").cpu(4).reserved(9));
  w.run(Work("c2", "C").cpu(4).priority(9));
  w.pend(Work("a", "A").cpu(6).at(5)).pend(Work("b", "B").cpu(4).at(6)).cycle();
  EXPECT_EQ(w.victims("a"), "c1(InCohortReclamation)");
  EXPECT_EQ(w.victims("b"), "c2(InCohortReclamation)");
  EXPECT_NE(w.of("b").message.find("skipping flavor g as it is not found in the nomination mapping for resource cpu"), std::string::npos);
}

// BA-76
TEST(Cycle, BlocksAdmissionUntilAllAreReady) {
  World w({QueueSpec("a", "root").cpu("f", 4), QueueSpec("b", "root").cpu("f", 4).cpu("g", 4)});
  w.settings.block_admission = true;
  w.pend(Work("a", "a").cpu(1)).pend(Work("b", "b").cpu(1)).cycle();
  EXPECT_TRUE(w.of("b").scan.entries.empty());
  EXPECT_EQ(w.verdict("a"), "admit f");
  EXPECT_EQ(w.verdict("b"), "WaitingForPodsReady");
  EXPECT_EQ(w.of("b").message, "waiting for all admitted workloads to be in PodsReady condition");

  w.admitted_not_ready = true;
  w.pend(Work("a", "a").cpu(1)).cycle();
  EXPECT_EQ(w.verdict("a"), "WaitingForPodsReady");
  w.settings.block_admission = false;
  w.pend(Work("a", "a").cpu(1)).cycle();
  EXPECT_EQ(w.verdict("a"), "admit f");
}

// BA-76: what waits for checks is not admitted yet and blocks nobody
TEST(Cycle, DoesNotBlockBehindAMereReservation) {
  QueueSpec a = QueueSpec("a", "root").cpu("f", 4);
  a.config.checks = {{Symbol("k"), {}}, {Symbol("elsewhere"), {Symbol("g")}}};
  for (const bool ready : {false, true}) {
    World w({a, QueueSpec("b", "root").cpu("f", 4)});
    w.settings.block_admission = true;
    Work first = Work("a", "a").cpu(1);
    if (ready) first.info->ready_checks = {Symbol("k")};
    w.pend(first).pend(Work("b", "b").cpu(1)).cycle();
    EXPECT_EQ(w.verdict("a"), "admit f");
    EXPECT_EQ(w.verdict("b"), ready ? "WaitingForPodsReady" : "admit f");
  }
}

// BA-105: an inactive queue is left out, its quota and usage count (§2.3)
TEST(Cycle, LeavesInactiveQueuesOut) {
  const auto member = [](const QueueSpec& q, bool active) {
    auto config = std::make_shared<QueueConfig>(q.config);
    config->has_namespace_selector = true;
    return QuotaTree::Member{config, active};
  };
  World w;
  w.flavor("f");
  const std::vector<QuotaTree::Member> members{member(QueueSpec("a", "root").cpu("f", 4).reclaim(any), true),
                                               member(QueueSpec("b", "root").cpu("f", 2), false)};
  w.tree = QuotaTree::build(members, {});
  w.run(Work("b1", "b").cpu(4));
  w.pend(Work("in", "a").cpu(4)).cycle();
  EXPECT_EQ(w.of("in").requeue_reason, RequeueReason::preemption_no_candidates);
  w.pend(Work("in", "a").cpu(2)).cycle();
  EXPECT_EQ(w.verdict("in"), "admit f");
}

// BA-102
TEST(Cycle, TakesOnlyVictimsThatUseWhatIsNeeded) {
  QueueSpec q("q");
  q.quota({"cpu"}, "f", {{cores(4), {}, {}}}).quota({"memory"}, "m", {{100, {}, {}}}).within(lower_priority);
  World w({q});
  w.run(Work("bytes", "q").pods("main", 1, {{"memory", 100}}).priority(-9), "m");
  w.run(Work("cpus", "q").cpu(4).priority(-1));
  w.pend(Work("in", "q").cpu(4)).cycle();
  EXPECT_EQ(w.victims("in"), "cpus(InClusterQueue)");
}

// BA-101: equal priority needs a strictly later timestamp
TEST(Cycle, PreemptsEqualPriorityOnlyWhenItIsNewer) {
  for (const std::int64_t t : {9, 10, 11}) {
    World w({QueueSpec("q").cpu("f", 4).within(lower_or_newer_equal_priority)});
    w.run(Work("v", "q").cpu(4).at(10));
    w.pend(Work("in", "q").cpu(4).at(t)).cycle();
    EXPECT_EQ(w.victims("in"), t == 9 ? "v(InClusterQueue)" : "");
  }
}

// BA-103: a missing time of reservation counts as now
TEST(Cycle, TakesAReservationWithoutTimeForTheNewest) {
  World w({QueueSpec("q").cpu("f", 4).within(lower_priority)});
  w.run(Work("known", "q").cpu(2).reserved(5));
  w.run(Work("assumed", "q").cpu(2));
  w.pend(Work("in", "q").cpu(2).priority(1)).cycle();
  EXPECT_EQ(w.victims("in"), "assumed(InClusterQueue)");
}

// BA-105: below a cohort within its subtree quota there is no candidate
TEST(Cycle, PassesCohortsWithinTheirQuota) {
  World w({QueueSpec("a", "root").cpu("f", 4).reclaim(any), QueueSpec("b", "L").cpu("f", 1), QueueSpec("c", "L").cpu("f", 5),
           QueueSpec("d", "root").cpu("f", 0)},
          {CohortSpec("L", "root")});
  w.run(Work("b1", "b").cpu(6).priority(-9));  // borrows inside L alone
  w.run(Work("d1", "d").cpu(4));
  w.pend(Work("in", "a").cpu(1)).cycle();
  EXPECT_EQ(w.victims("in"), "d1(InCohortReclamation)");
}

// BA-102: with more pairs than a mask has bits
TEST(Cycle, FindsVictimsAmongManyPairs) {
  QueueSpec q("q");
  for (int i = 0; i < 70; ++i) q.cpu("f" + std::to_string(i), i < 69 ? 1 : 4);
  q.within(lower_priority);
  World w({q});
  // Six of the others share a bit of the mask with one of the first; all of them would be better victims, by priority.
  for (int i = 0; i < 69; ++i) w.run(Work("v" + std::to_string(i), "q").cpu(1).priority(-9), "f" + std::to_string(i));
  w.run(Work("victim", "q").cpu(4).priority(-1), "f69");
  w.pend(Work("in", "q").cpu(4)).cycle();
  EXPECT_EQ(w.victims("in"), "victim(InClusterQueue)");
}

/// D13: `back` has been preempted by `late` as often as that is allowed, and would come first.
struct CycleAfterACircle : ::testing::Test {
  World w{{QueueSpec("a", "root").cpu("f", 2), QueueSpec("b", "root").cpu("f", 2)}};
  Work back = Work("back", "a").cpu(3).priority(2), late = Work("late", "b").cpu(3).priority(1);
  void preempts(const Work& preemptor, const Work& victim) {
    for (std::uint64_t i = 1; i <= 3; ++i) w.repeated.note(preemptor.info->uid, victim.info->uid, i, 3);
  }
  World& cycle() {
    w.pend(back).pend(late).cycle();
    return w;
  }
};

TEST_F(CycleAfterACircle, WithoutOneTheOrderIsAsAlways) {
  EXPECT_EQ(cycle().verdict("back"), "admit f");
  EXPECT_EQ(w.verdict("late"), "WaitingForQuota");
}

// D13
TEST_F(CycleAfterACircle, TheOneThatHadToMakeRoomGivesWay) {
  preempts(late, back);
  EXPECT_EQ(cycle().verdict("late"), "admit f");
  EXPECT_EQ(w.verdict("back"), "WaitingForQuota");
  EXPECT_NE(w.of("back").message.find("preempted this one again and again"), std::string::npos) << w.of("back").message;
  EXPECT_EQ(w.of("back").requeue_reason, RequeueReason::failed_after_nomination) << "tried again in the next cycle";
}

// D13: nobody keeps room free for one that cannot use it, or does not stand in the cycle
TEST_F(CycleAfterACircle, NobodyGivesWayForNothing) {
  preempts(late, back);
  late = Work("late", "b").cpu(5);
  EXPECT_EQ(cycle().verdict("back"), "admit f");
  w.pend(back).cycle();
  EXPECT_EQ(w.verdict("back"), "admit f");
}

// D13: where each preempted the other, one of them gets in all the same
TEST_F(CycleAfterACircle, OfTwoThatShouldGiveWayOneDoes) {
  preempts(late, back);
  preempts(back, late);
  EXPECT_EQ(cycle().verdict("late"), "admit f");
  EXPECT_EQ(w.verdict("back"), "WaitingForQuota");
}

// BA-35
TEST(Cycle, TreatsTheLargestQuotaAsUnlimited) {
  QueueSpec a("a", "root");
  a.quota({"cpu"}, "f", {{unlimited, {}, {}}});
  World w({a, QueueSpec("b", "root").cpu("f", 1)});
  w.run(Work("a1", "a").pods("main", 1, {{"cpu", unlimited - 5}}));
  w.pend(Work("w", "b").pods("main", 1, {{"cpu", unlimited - 9}})).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f");
}

}  // namespace
}  // namespace hindsight::admission::testing
