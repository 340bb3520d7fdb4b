#include "admission/scheduling/flavor_assigner.hpp"

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;
using enum FungibilityPolicy;

constexpr std::string_view main_prefix = "couldn't assign flavors to pod set main: ";

std::string after_prefix(const std::string& message) { return message.substr(std::min(message.size(), main_prefix.size())); }

// BA-85: S4
TEST(FlavorAssigner, TakesTheHeightOfTheLowestSubtreeAsLevel) {
  World w({QueueSpec("a", "mid").cpu("f", 2), QueueSpec("b", "mid").cpu("f", 4)},
          {CohortSpec("root").cpu("f", 10), CohortSpec("mid", "root")});
  const std::pair<std::int64_t, std::int32_t> levels[] = {{2, 0}, {5, 1}, {6, 1}, {7, 2}, {16, 2}};
  for (const auto& [request, level] : levels) {
    w.pend(Work("w", "a").cpu(request)).cycle();
    EXPECT_EQ(w.verdict("w"), "admit f") << request;
    EXPECT_EQ(w.of("w").borrowing_level, level) << request;
  }
  w.pend(Work("w", "a").cpu(17)).cycle();
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");
  EXPECT_EQ(w.of("w").requeue_reason, RequeueReason::no_fit);
}

// BA-84: S1
TEST(FlavorAssigner, NamesTheMissingAmountOrTheMaximum) {
  World w({QueueSpec("A", "root").cpu("f", 10, 5), QueueSpec("B", "root").cpu("f", 8, {}, 3), QueueSpec("C", "root").cpu("f", 6)});
  w.run(Work("b", "B").cpu(7));
  w.run(Work("a", "A").cpu(12));
  w.pend(Work("w", "A").cpu(4)).cycle();
  EXPECT_EQ(after_prefix(w.of("w").message), "insufficient unused quota for cpu in flavor f, 1 more needed");
  EXPECT_EQ(w.verdict("w"), "WaitingForQuota");
  w.pend(Work("w", "A").cpu(16)).cycle();
  EXPECT_EQ(after_prefix(w.of("w").message),
            "insufficient quota for cpu in flavor f, previously considered podsets requests (0) + current podset request (16) > maximum "
            "capacity (15)");
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");
}

// BA-36, BA-104: S3
TEST(FlavorAssigner, SimulatesPreemptionWithinNominalOfAnOverAdmittedTree) {
  for (const auto policy : {never, any}) {
    World w({QueueSpec("A", "root").cpu("f", 4), QueueSpec("B", "root").cpu("f", 5).reclaim(policy)});
    w.run(Work("a", "A").cpu(12));
    w.pend(Work("w", "B").cpu(1)).cycle();
    EXPECT_EQ(w.victims("w"), policy == any ? "a(InCohortReclamation)" : "");
    EXPECT_EQ(w.of("w").requeue_reason, policy == any ? RequeueReason::pending_preemption : RequeueReason::preemption_no_candidates);
  }
}

struct Fungibility : ::testing::Test {
  World w;
  void start(FungibilityPolicy borrow, FungibilityPreference preference = FungibilityPreference::unset) {
    QueueSpec a = QueueSpec("A", "root").cpu("f1", 4).cpu("f2", 8).within(lower_priority);
    a.config.when_can_borrow = borrow;
    a.config.preference = preference;
    w.members({a, QueueSpec("B", "root").cpu("f1", 4)});
  }
};

// BA-86: S5
TEST_F(Fungibility, StopsAtTheFirstFlavorThatBorrowsUnlessToldToGoOn) {
  start(may_stop_search);
  w.pend(Work("w", "A").cpu(6)).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f1");
  EXPECT_EQ(w.of("w").borrowing_level, 1);
  start(try_next_flavor);
  w.pend(Work("w", "A").cpu(6)).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f2");
  EXPECT_EQ(w.of("w").borrowing_level, 0);
}

// BA-86: S5
TEST_F(Fungibility, PrefersBorrowingOrPreemptionAsConfigured) {
  using enum FungibilityPreference;
  for (const auto preference : {unset, borrowing_over_preemption, preemption_over_borrowing}) {
    start(try_next_flavor, preference);
    w.run(Work("low", "A").cpu(8).priority(-1), "f2");
    w.pend(Work("w", "A").cpu(6)).cycle();
    if (preference == preemption_over_borrowing) {
      EXPECT_EQ(w.victims("w"), "low(InClusterQueue)");
    } else {
      EXPECT_EQ(w.verdict("w"), "admit f1");
    }
  }
}

// BA-54, BA-90: S6
TEST_F(Fungibility, ResumesBehindTheFlavorThatAnotherHeadTook) {
  start(may_stop_search);
  w.pend(Work("w", "A").cpu(6).at(5)).pend(Work("b", "B").cpu(4)).cycle();
  EXPECT_EQ(w.order(), "b w");
  EXPECT_EQ(w.of("w").message, "Workload no longer fits after processing another workload");
  EXPECT_EQ(w.of("w").requeue_reason, RequeueReason::failed_after_nomination);
  const ScanState scan = w.of("w").scan;
  ASSERT_EQ(scan.entries.size(), 1U);
  EXPECT_EQ(scan.entries[0].flavor_index, 0);
  EXPECT_TRUE(scan.unfinished());

  // b is not applied: f1 is free again, and yet the scan goes on at f2.
  w.pend(Work("w", "A").cpu(6), scan).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f2");
  EXPECT_FALSE(w.of("w").scan.unfinished());
}

struct Scan : ::testing::Test {
  World w{{QueueSpec("A").cpu("f1", 4).cpu("f2", 4)}};
  ScanState at_f1 = [] {
    ScanState s;
    s.entries.push_back({Symbol("main"), Symbol("cpu"), 0});
    s.equivalence_hash = 7;
    return s;
  }();
  std::string verdict(std::uint64_t hash = 7) {
    Work work = Work("w", "A").cpu(1);
    work.info->equivalence_hash = hash;
    w.pend(work, at_f1).cycle();
    return w.verdict("w");
  }
};

// BA-90, BA-200
TEST_F(Scan, IsKeptForOneCycleWhateverTheGeneration) {
  w.tree.set_generation(Symbol("A"), 9);
  at_f1.cycle = w.cycle_number - 1;
  EXPECT_EQ(verdict(), "admit f2");
}

// BA-90
TEST_F(Scan, IsKeptLongerWhileTheGenerationStands) {
  at_f1.cycle = w.cycle_number - 5;
  EXPECT_EQ(verdict(), "admit f2");
}

// BA-90
TEST_F(Scan, IsDroppedWhenOldAndTheGenerationAdvanced) {
  w.tree.set_generation(Symbol("A"), 9);
  at_f1.cycle = w.cycle_number - 2;
  EXPECT_EQ(verdict(), "admit f1");
}

// BA-90
TEST_F(Scan, IsDroppedWhenTheWorkloadChanged) {
  at_f1.cycle = w.cycle_number;
  EXPECT_EQ(verdict(8), "admit f1");
  at_f1.cycle = w.cycle_number;
  EXPECT_EQ(verdict(0), "admit f2");  // an unknown hash proves no change
}

// BA-90: without the gate only the generation counts
TEST_F(Scan, FollowsTheGenerationAloneWithoutTheGate) {
  w.settings.preserve_scan_progress = false;
  at_f1.cycle = w.cycle_number;
  EXPECT_EQ(verdict(8), "admit f2");
  w.tree.set_generation(Symbol("A"), 1);
  EXPECT_EQ(verdict(), "admit f1");
}

// BA-200: a head that fails a nomination check keeps its progress
TEST_F(Scan, SurvivesACycleWithoutNomination) {
  Work work = Work("w", "A").cpu(1);
  work.info->failed_checks = true;
  w.pend(work, at_f1).cycle();
  EXPECT_EQ(w.of("w").scan.entries, at_f1.entries);
}

// BA-91: S7
TEST(PartialAdmission, FindsTheLargestCountThatFits) {
  World w({QueueSpec("q").cpu("f", 10)});
  w.run(Work("other", "q").cpu(3));
  w.pend(Work("w", "q").pods("main", 10, {{"cpu", cores(1)}}, 4)).cycle();
  ASSERT_EQ(w.verdict("w"), "admit f");
  EXPECT_EQ(w.of("w").assignment[0].count, 7);
  EXPECT_EQ(w.of("w").assignment[0].usage[0].second, cores(7));
}

// BA-91: S7
TEST(PartialAdmission, ReportsTheFullCountWhenNoReductionHelps) {
  World w({QueueSpec("q").cpu("f", 10)});
  w.run(Work("other", "q").cpu(7));
  w.pend(Work("w", "q").pods("main", 10, {{"cpu", cores(1)}}, 4)).cycle();
  EXPECT_EQ(after_prefix(w.of("w").message), "insufficient unused quota for cpu in flavor f, 7 more needed");
}

// BA-91: the gate
TEST(PartialAdmission, IsOffWithoutTheGate) {
  World w({QueueSpec("q").cpu("f", 9)});
  w.settings.partial_admission = false;
  w.pend(Work("w", "q").pods("main", 10, {{"cpu", cores(1)}}, 4)).cycle();
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");
}

// BA-91: with preemption
TEST(PartialAdmission, PreemptsForAReducedCount) {
  World w({QueueSpec("q").cpu("f", 8).within(lower_priority)});
  w.run(Work("low", "q").cpu(4).priority(-1));
  w.run(Work("high", "q").cpu(2).priority(9));
  w.pend(Work("w", "q").pods("main", 10, {{"cpu", cores(1)}}, 4)).cycle();
  EXPECT_EQ(w.victims("w"), "low(InClusterQueue)");
  w.pend(Work("w", "q").pods("main", 10, {{"cpu", cores(1)}}, 7)).cycle();
  EXPECT_EQ(w.victims("w"), "");
}

// BA-92
TEST(PartialAdmission, ShrinksOnlyThePodSetThatAllowsIt) {
  World w({QueueSpec("q").cpu("f", 10)});
  w.pend(Work("w", "q").pods("driver", 2, {{"cpu", cores(2)}}).pods("workers", 20, {{"cpu", cores(1)}}, 1)).cycle();
  ASSERT_EQ(w.verdict("w"), "admit f f");
  EXPECT_EQ(w.of("w").assignment[0].count, 2);
  EXPECT_EQ(w.of("w").assignment[1].count, 6);
}

QueueSpec two_groups() {
  QueueSpec q("q");
  q.quota({"cpu", "memory"}, "small", {{cores(4), {}, {}}, {100, {}, {}}});
  q.quota({"cpu", "memory"}, "large", {{cores(40), {}, {}}, {1000, {}, {}}});
  q.quota({"gpu"}, "h100", {{8, {}, {}}});
  return q;
}

// BA-79
TEST(FlavorAssigner, GivesAllResourcesOfAGroupOneFlavor) {
  World w({two_groups()});
  w.pend(Work("w", "q").pods("main", 1, {{"cpu", cores(1)}, {"gpu", 1}, {"memory", 500}})).cycle();
  const auto& flavors = w.of("w").assignment.at(0).flavors;
  ASSERT_EQ(flavors.size(), 3U);  // by resource name
  EXPECT_EQ(flavors[0].second, Symbol("large"));
  EXPECT_EQ(flavors[1].second, Symbol("h100"));
  EXPECT_EQ(flavors[2].second, Symbol("large"));
}

// BA-80, BA-82
TEST(FlavorAssigner, SkipsFlavorsWithTheReasonForEach) {
  World w({QueueSpec("q").cpu("missing", 9).cpu("spot", 9).cpu("arm", 9).cpu("small", 1)});
  w.flavors.erase(Symbol("missing"));
  w.flavor("spot").taints = {{"instance", "spot", TaintEffect::no_schedule}};
  w.flavor("arm").node_labels = {{Symbol("arch"), "arm"}};
  PodShape shape;
  shape.node_selector = {{Symbol("arch"), "x86"}};
  w.pend(Work("w", "q").cpu(2).shape(shape)).cycle();
  EXPECT_EQ(
      after_prefix(w.of("w").message),
      "flavor arm doesn't match node affinity, flavor missing not found, insufficient quota for cpu in flavor small, previously considered "
      "podsets requests (0) + current podset request (2) > maximum capacity (1), untolerated taint {instance spot NoSchedule <nil>} in "
      "flavor "
      "spot");
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");  // the least severe of the group

  shape.tolerations = {{"instance", "spot", false, TaintEffect::no_schedule}};
  w.pend(Work("w", "q").cpu(2).shape(shape)).cycle();
  EXPECT_EQ(w.verdict("w"), "admit spot");
}

// BA-80: only when nothing else was found
TEST(FlavorAssigner, GivesNoMatchingFlavorWhenEveryFlavorIsFilteredOut) {
  World w({QueueSpec("q").cpu("spot", 9)});
  w.flavor("spot").taints = {{"instance", "spot", TaintEffect::no_execute}};
  w.pend(Work("w", "q").cpu(2)).cycle();
  EXPECT_EQ(w.verdict("w"), "NoMatchingFlavor");
}

// BA-83
TEST(FlavorAssigner, CountsEarlierPodSetsOfTheSameWorkload) {
  World w({QueueSpec("q").cpu("f", 5).cpu("g", 5)});
  w.pend(Work("w", "q").pods("one", 1, {{"cpu", cores(3)}}).pods("two", 1, {{"cpu", cores(3)}})).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f g");
  w.pend(Work("w", "q").pods("one", 1, {{"cpu", cores(3)}}).pods("two", 1, {{"cpu", cores(3)}}).pods("three", 1, {{"cpu", cores(3)}}))
      .cycle();
  EXPECT_EQ(
      w.of("w").message,
      "couldn't assign flavors to pod set three: insufficient quota for cpu in flavor f, previously considered podsets requests (3) + "
      "current "
      "podset request (3) > maximum capacity (5), insufficient quota for cpu in flavor g, previously considered podsets requests (3) + "
      "current podset request (3) > maximum capacity (5)");
}

// BA-93
TEST(FlavorAssigner, JoinsPodSetsAndSortsReasons) {
  World w({two_groups().within(lower_priority)});
  w.run(Work("low", "q").pods("main", 1, {{"cpu", cores(4)}, {"memory", 100}}).priority(-1), "small");
  w.run(Work("big", "q").pods("main", 1, {{"cpu", cores(40)}, {"memory", 1000}}).priority(5), "large");
  w.pend(Work("w", "q").pods("a", 1, {{"cpu", cores(1)}, {"memory", 1}}).pods("b", 1, {{"gpu", 9}})).cycle();
  EXPECT_EQ(
      w.of("w").message,
      "couldn't assign flavors to pod set a: insufficient unused quota for cpu in flavor large, 1 more needed, insufficient unused quota "
      "for "
      "cpu in flavor small, 1 more needed, insufficient unused quota for memory in flavor large, 1 more needed, insufficient unused quota "
      "for "
      "memory in flavor small, 1 more needed; couldn't assign flavors to pod set b: insufficient quota for gpu in flavor h100, previously "
      "considered podsets requests (0) + current podset request (9) > maximum capacity (8)");
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");
}

// BA-94
TEST(FlavorAssigner, DecidesAPodSetGroupTogether) {
  World w({QueueSpec("q").cpu("f", 5).cpu("g", 50)});
  w.pend(Work("w", "q")
             .pods("leader", 1, {{"cpu", cores(3)}})
             .in_group("x")
             .pods("alone", 1, {{"cpu", cores(4)}})
             .pods("worker", 3, {{"cpu", cores(1)}})
             .in_group("x"))
      .cycle();
  EXPECT_EQ(w.verdict("w"), "admit g f g");
  EXPECT_EQ(w.of("w").assignment[2].usage[0].second, cores(3));
}

// BA-45
TEST(FlavorAssigner, BlocksOrIgnoresUndeclaredResources) {
  World w({QueueSpec("q").cpu("f", 5)});
  const auto work = [] { return Work("w", "q").pods("main", 1, {{"cpu", cores(1)}, {"example.com/disk", 1}}); };
  w.pend(work()).cycle();
  EXPECT_EQ(after_prefix(w.of("w").message), "resource example.com/disk unavailable in ClusterQueue");
  EXPECT_EQ(w.verdict("w"), "NoMatchingFlavor");
  w.settings.ignore_undeclared_resources = true;
  w.pend(work()).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f");
  EXPECT_EQ(w.of("w").assignment[0].usage.size(), 1U);
}

// BA-45
TEST(FlavorAssigner, NeverBlocksZeroQuantities) {
  World w({QueueSpec("q").cpu("f", 5)});
  w.pend(Work("w", "q").pods("main", 1, {{"cpu", cores(1)}, {"example.com/disk", 0}})).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f");
  w.pend(Work("w", "q").pods("main", 1, {{"example.com/disk", 0}})).cycle();
  EXPECT_EQ(w.verdict("w"), "admit");
}

// BA-42
TEST(FlavorAssigner, ChargesPodsWhereTheQueueCoversThem) {
  QueueSpec q("q");
  q.quota({"cpu", "pods"}, "f", {{cores(100), {}, {}}, {5, {}, {}}});
  World w({q});
  w.pend(Work("w", "q").pods("main", 4, {{"cpu", cores(1)}})).cycle();
  ASSERT_EQ(w.verdict("w"), "admit f f");
  EXPECT_EQ(w.of("w").assignment[0].usage[1], std::pair(Symbol("pods"), Amount{4}));
  w.pend(Work("w", "q").pods("main", 6, {{"cpu", cores(1)}})).cycle();
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");
}

// BA-87
TEST(FlavorAssigner, PassesAFlavorWithoutCandidates) {
  QueueSpec a = QueueSpec("A", "root").cpu("f1", 4).cpu("f2", 2).within(lower_priority);
  a.config.when_can_preempt = may_stop_search;
  World w({a, QueueSpec("B", "root").cpu("f2", 4)});
  w.run(Work("high", "A").cpu(4).priority(9), "f1");
  w.pend(Work("w", "A").cpu(3)).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f2");  // (noCandidates, 0) on f1, (fit, 1) on f2
  EXPECT_EQ(w.of("w").borrowing_level, 1);
}

// BA-87: a flavor with candidates wins over an earlier one without
TEST(FlavorAssigner, PrefersAFlavorWithCandidates) {
  World w({QueueSpec("A").cpu("f1", 4).cpu("f2", 4).within(lower_priority)});
  w.run(Work("high", "A").cpu(4).priority(9), "f1");
  w.run(Work("low", "A").cpu(4).priority(-1), "f2");
  w.pend(Work("w", "A").cpu(3)).cycle();
  EXPECT_EQ(w.victims("w"), "low(InClusterQueue)");
}

// BA-89
TEST(FlavorAssigner, PrefersReclaimingToVictimsOfItsOwn) {
  World w({QueueSpec("A", "root").cpu("f1", 4).cpu("f2", 4).within(lower_priority).reclaim(any), QueueSpec("B", "root").cpu("f2", 0)});
  w.run(Work("own", "A").cpu(4).priority(-1), "f1");
  w.run(Work("other", "B").cpu(4), "f2");
  w.pend(Work("w", "A").cpu(3)).cycle();
  EXPECT_EQ(w.victims("w"), "other(InCohortReclamation)");
}

// BA-88: what a pair alone would take decides how good a flavor is: together with memory, cpu would not have to borrow
TEST(FlavorAssigner, JudgesAFlavorByEachPairAlone) {
  QueueSpec a("a", "root"), b("b", "root");
  a.quota({"cpu", "memory"}, "f1", {{cores(4), {}, {}}, {4, {}, {}}}).quota({"cpu", "memory"}, "f2", {{cores(9), {}, {}}, {9, {}, {}}});
  a.within(lower_priority);
  a.config.when_can_borrow = try_next_flavor;
  a.config.when_can_preempt = may_stop_search;
  b.quota({"cpu", "memory"}, "f1", {{cores(2), {}, {}}, {0, {}, {}}});
  World w({a, b});
  w.run(Work("high", "a").pods("main", 1, {{"cpu", cores(1)}}).priority(9), "f1");
  w.run(Work("cpus", "a").pods("main", 1, {{"cpu", cores(3)}}).priority(-2), "f1");
  w.run(Work("both", "a").pods("main", 1, {{"cpu", cores(2)}, {"memory", 4}}).priority(-1), "f1");
  // cpu alone: "cpus" goes, and 3 + 3 of 4 borrow, so the next flavor is looked at. For both pairs together "both" goes too: 1 + 3 of 4.
  w.pend(Work("w", "a").pods("main", 1, {{"cpu", cores(3)}, {"memory", 2}})).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f2 f2");
}

// BA-88: with what earlier pod sets take of the same pair, and with nothing else
TEST(FlavorAssigner, JudgesAFlavorByTheSumOfThePodSets) {
  QueueSpec a = QueueSpec("a").cpu("f1", 4).cpu("f2", 4).within(lower_priority);
  a.config.when_can_preempt = may_stop_search;
  World w({a});
  w.run(Work("low", "a").cpu(2).priority(-1), "f1");
  w.run(Work("high", "a").cpu(2).priority(9), "f1");
  // The first pod set takes the place of "low" on f1; for 4 cores there is no victim, so the second one goes to f2.
  w.pend(Work("w", "a").pods("one", 1, {{"cpu", cores(2)}}).pods("two", 1, {{"cpu", cores(2)}})).cycle();
  EXPECT_EQ(w.victims("w"), "low(InClusterQueue)") << w.of("w").message;
  EXPECT_NE(w.of("w").message.find("couldn't assign flavors to pod set one: insufficient unused quota for cpu in flavor f1, 2 more needed"),
            std::string::npos)
      << w.of("w").message;
}

// What is preempted in the end is what all pairs need together.
TEST(FlavorAssigner, PreemptsForAllPairsTogether) {
  QueueSpec q("q");
  q.quota({"cpu", "memory"}, "f", {{cores(4), {}, {}}, {4, {}, {}}}).within(lower_priority);
  World w({q});
  w.run(Work("cpus", "q").pods("main", 1, {{"cpu", cores(4)}}).priority(-1));
  w.run(Work("bytes", "q").pods("main", 1, {{"memory", 4}}).priority(-2));
  w.pend(Work("w", "q").pods("main", 1, {{"cpu", cores(4)}, {"memory", 4}})).cycle();
  EXPECT_EQ(w.victims("w"), "bytes(InClusterQueue) cpus(InClusterQueue)");
}

// BA-201: the example of §5.6
TEST(NoFitReason, LooksAtEveryResourceOfAFlavor) {
  QueueSpec q("q");
  q.quota({"cpu", "memory"}, "f", {{cores(4), {}, {}}, {6, {}, {}}}).within(lower_priority);
  World w({q});
  w.run(Work("high", "q").pods("main", 1, {{"cpu", cores(4)}}).priority(9));
  w.pend(Work("w", "q").pods("main", 1, {{"cpu", cores(3)}, {"memory", 7}})).cycle();
  EXPECT_EQ(w.verdict("w"), "ExceedsMaxQuota");
  EXPECT_EQ(after_prefix(w.of("w").message),
            "insufficient quota for memory in flavor f, previously considered podsets requests (0) + current podset request (7) > maximum "
            "capacity (6), insufficient unused quota for cpu in flavor f, 3 more needed");
}

// BA-201: least severe flavor inside a group, most severe group
TEST(NoFitReason, IsLeastSevereInAGroupAndMostSevereAcross) {
  QueueSpec q("q", "root");
  q.quota({"cpu"}, "tight", {{cores(1), {}, {}}}).quota({"cpu"}, "borrowed", {{cores(1), {}, {}}}).quota({"gpu"}, "g", {{1, {}, {}}});
  World w({q, QueueSpec("other", "root").cpu("borrowed", 9)});
  w.run(Work("o", "other").cpu(9), "borrowed");
  // cpu: tight exceeds, borrowed waits (borrowing without candidates) → waits.
  w.pend(Work("w", "q").pods("main", 1, {{"cpu", cores(3)}})).cycle();
  EXPECT_EQ(w.verdict("w"), "WaitingForQuota");
  // gpu waits, and cpu fits on its second flavor; yet the first flavor of cpu is too small for ever, and that is more severe.
  q = QueueSpec("q", "root");
  q.quota({"cpu"}, "tight", {{cores(1), {}, {}}}).quota({"cpu"}, "wide", {{cores(9), {}, {}}}).quota({"gpu"}, "g", {{1, {}, {}}});
  QueueSpec lender("other", "root");
  lender.quota({"gpu"}, "g", {{4, {}, {}}});
  World v({q, lender});
  v.run(Work("o", "other").pods("main", 1, {{"gpu", 4}}), "g");
  v.pend(Work("w", "q").pods("main", 1, {{"gpu", 2}})).cycle();
  EXPECT_EQ(v.verdict("w"), "WaitingForQuota");
  v.pend(Work("w", "q").pods("main", 1, {{"cpu", cores(3)}, {"gpu", 2}})).cycle();
  EXPECT_EQ(v.verdict("w"), "ExceedsMaxQuota");
}

// BA-202
TEST(FlavorAssigner, DoesNotMixTheLevelOfOneResourceIntoAnother) {
  // On f1 cpu is (preempt, 0) and memory (fit, 1): the least preferred pair is (preempt, 0), so whenCanBorrow does not move on.
  QueueSpec q("A", "root");
  q.quota({"cpu", "memory"}, "f1", {{cores(4), {}, {}}, {1, {}, {}}}).quota({"cpu", "memory"}, "f2", {{cores(9), {}, {}}, {9, {}, {}}});
  q.within(lower_priority);
  q.config.when_can_borrow = try_next_flavor;
  q.config.when_can_preempt = may_stop_search;
  QueueSpec b("B", "root");
  b.quota({"cpu", "memory"}, "f1", {{0, {}, {}}, {4, {}, {}}});
  World w({q, b});
  w.run(Work("low", "A").pods("main", 1, {{"cpu", cores(4)}}).priority(-1), "f1");
  w.pend(Work("w", "A").pods("main", 1, {{"cpu", cores(2)}, {"memory", 2}})).cycle();
  EXPECT_EQ(w.victims("w"), "low(InClusterQueue)");
  EXPECT_EQ(w.of("w").borrowing_level, 1);  // of the workload: the highest of its resources
}

// BA-86: the gate
TEST(FlavorAssigner, TakesTheFirstFitWithoutFungibility) {
  QueueSpec a = QueueSpec("A", "root").cpu("f1", 4).cpu("f2", 8);
  a.config.when_can_borrow = try_next_flavor;
  World w({a, QueueSpec("B", "root").cpu("f1", 4)});
  w.settings.flavor_fungibility = false;
  w.pend(Work("w", "A").cpu(6)).cycle();
  EXPECT_EQ(w.verdict("w"), "admit f1");
  EXPECT_TRUE(w.of("w").scan.entries.empty());
}

// Configuration oddities are outcomes, not errors.
TEST(FlavorAssigner, AnswersForAGroupWithoutFlavors) {
  QueueSpec q("q");
  q.config.groups.push_back({{Symbol("cpu")}, {}});
  World w({q});
  w.pend(Work("w", "q").cpu(1)).cycle();
  EXPECT_EQ(w.verdict("w"), "NoMatchingFlavor");
  EXPECT_EQ(after_prefix(w.of("w").message), "resource cpu unavailable in ClusterQueue");
}

// BA-86: the table of §5.5
TEST(IsPreferred, RanksTheFourClasses) {
  using enum FungibilityPreference;
  struct Pair {
    FlavorMode mode;
    std::int32_t level;
  };
  const auto check = [](const std::vector<Pair>& best_first, FungibilityPreference preference) {
    for (std::size_t i = 0; i < best_first.size(); ++i)
      for (std::size_t j = 0; j < best_first.size(); ++j)
        EXPECT_EQ(is_preferred(best_first[i].mode, best_first[i].level, best_first[j].mode, best_first[j].level, preference), i < j)
            << i << j;
  };
  using enum FlavorMode;
  const std::vector<Pair> by_mode{{fit, 0},     {fit, 1},           {reclaim, 0},       {reclaim, 1}, {preempt, 0},
                                  {preempt, 1}, {no_candidates, 0}, {no_candidates, 2}, {no_fit, 0}};
  check(by_mode, unset);
  check(by_mode, borrowing_over_preemption);
  check({{fit, 0}, {reclaim, 0}, {preempt, 0}, {fit, 1}, {reclaim, 1}, {preempt, 1}, {no_candidates, 0}, {no_candidates, 2}, {no_fit, 0}},
        preemption_over_borrowing);
}

}  // namespace
}  // namespace hindsight::admission::testing
