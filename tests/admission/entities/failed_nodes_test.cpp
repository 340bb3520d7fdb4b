// Nodes that fail under the pods of a Workload (2724 §4.9), on the level of facts.

#include <gtest/gtest.h>

#include <random>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/placed_job.hpp"

namespace hindsight::admission::testing {
namespace {

class FailedNodes : public PlacedPods {
 protected:
  template <class F>
  void with(F&& change) {
    Settings settings;
    change(settings);
    w.configure(std::move(settings));
  }
  void ready(const std::string& name, bool is) { w.node(name, {.ready = is}); }
  /// A pod of the job as it is now on its host.
  void runs(std::int32_t index, const std::string& on, bool terminating = false, bool ended = false) {
    pod("p" + std::to_string(index), {.index = index, .gated = false, .on = on, .ended = ended, .node = on, .terminating = terminating});
  }
};

// TAS-96, TAS-98: a node that has gone fails at once; its pods get another host, and nothing else changes.
TEST_F(FailedNodes, PodsOfANodeThatHasGoneGetAnother) {
  start(6);
  run(6);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:2");
  w.node("n4");
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
  EXPECT_EQ(w.places("wl"), "n1:4 n3:2");
  EXPECT_TRUE(w.state("wl").admitted());
  EXPECT_TRUE(w.state("wl").unhealthy_nodes.empty());
  EXPECT_EQ(decided(), "");
  for (const int i : {4, 5})
    w.observe(ObjectDeleted{ObjectKind::pod, "default", w.keep("p" + std::to_string(i)), w.keep("pod-p" + std::to_string(i)), {}});
  pod("q4", {.index = 4});
  pod("q5", {.index = 5});
  EXPECT_EQ(placed(), "q4 n3 q5 n3");
}

// TAS-96: a node that comes back under the same name, as when its kubelet registers it again, before anybody ended its pods: they go on
// there, so that their places are there again, and not where nobody stands.
TEST_F(FailedNodes, PodsOfANodeThatCameBackKeepIt) {
  start(6);
  run(6);
  w.node_gone("n2");
  ASSERT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
  w.node("n2");
  EXPECT_EQ(decided(), "reassigned n1:4 n2:2");
  EXPECT_EQ(w.places("wl"), "n1:4 n2:2");
  EXPECT_EQ(decided(), "");
  w.observe(w.gang("other", 6, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.places("other"), "n2:2 n3:4") << "they count once, where they are";
}

// Those that have left, are leaving, or have been made anew elsewhere get nothing back.
TEST_F(FailedNodes, OnlyPodsThatRunThereTakeANodeBack) {
  start(6);
  run(6);
  w.node_gone("n2");
  ASSERT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
  runs(4, "n2", true);
  w.observe(ObjectDeleted{ObjectKind::pod, "default", w.keep("p5"), w.keep("pod-p5"), {}});
  pod("q5", {.index = 5});
  EXPECT_EQ(placed(), "q5 n3");
  w.node("n2");
  EXPECT_EQ(decided(), "");
  runs(4, "n2", false);  // whatever that is: it runs on
  EXPECT_EQ(decided(), "reassigned n1:4 n3:1 n2:1");
  w.node("n4");
  runs(3, "n4");  // nobody told it to, and its place is taken by no other
  EXPECT_EQ(decided(), "reassigned n1:3 n3:1 n2:1 n4:1");
  pod("p2", {.index = 2, .gated = false, .on = "n2", .node = "n3"});  // bound by hand to another node than it selects
  w.node("n5");
  pod("p6", {.index = 6, .gated = false, .on = "n5", .node = "n3"});
  EXPECT_EQ(decided(), "");
  runs(7, "n4");  // one more than there are places
  EXPECT_EQ(decided(), "");
}

// TAS-100: pods that have to be together take no host back that lies elsewhere now; nor do they one that is not well, or that none of their
// flavors can select.
TEST_F(FailedNodes, ANodeThatCameBackOtherwiseIsNotTakenBack) {
  start(6);
  run(6);
  w.node_gone("n2");
  ASSERT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
  w.node("n2", {.rack = "r2"});
  EXPECT_EQ(decided(), "");
  w.node("n2", {.pool = "another"});
  EXPECT_EQ(decided(), "");
  w.node("n2", {.ready = false});
  EXPECT_EQ(decided(), "");
  w.node("n2", {.taint = "broken"});
  runs(4, "n2", true);
  runs(5, "n2", true);
  EXPECT_EQ(decided(), "");
}

// TAS-96: a node that is not ready fails its Workload when no pod of it makes progress there; ready again before that, nothing happens.
TEST_F(FailedNodes, ANodeThatIsNotReadyCountsOnceItsPodsAreGiven) {
  start(6);
  run(6);
  ready("n2", false);
  EXPECT_EQ(decided(), "") << "its pods may be well";
  runs(4, "n2", true);
  EXPECT_EQ(decided(), "");
  ready("n2", true);
  runs(5, "n2", true);
  EXPECT_EQ(decided(), "");
  ready("n2", false);
  EXPECT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
}

// TAS-96: well again before others were found: it is not listed any more.
TEST_F(FailedNodes, ANodeThatComesBackIsListedNoMore) {
  with([](Settings& s) { s.replace_or_evict = false; });
  start(12);
  run(12);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:4 n3:4");
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2") << "there is no other";
  EXPECT_EQ(w.state("wl").unhealthy_nodes, std::vector<Symbol>{Symbol("n2")});
  w.node("n2");
  EXPECT_EQ(decided(), "nodes");
  EXPECT_TRUE(w.state("wl").admitted());
}

// TAS-96: however often a node comes and goes, it is told each time.
TEST_F(FailedNodes, ANodeThatFlapsIsToldEachTime) {
  with([](Settings& s) { s.replace_or_evict = false; });
  start(12);
  run(12);
  for (int i = 0; i < 5; ++i) {
    w.node_gone("n2");
    EXPECT_EQ(decided(), "nodes n2");
    w.node("n2");
    EXPECT_EQ(decided(), "nodes");
  }
}

// TAS-99: with fail-fast it is evicted when there is no other node, with all conditions of an eviction, and requeued.
TEST_F(FailedNodes, WithoutAnotherNodeItIsEvicted) {
  start(12);
  run(12);
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2 / evicted NodeFailures: Workload was evicted as there was no replacement for unhealthy node(s): n2");
  const auto* evicted = w.state("wl").find(ConditionType::evicted);
  ASSERT_NE(evicted, nullptr);
  EXPECT_EQ(evicted->reason, Symbol("NodeFailures"));
  EXPECT_TRUE(w.state("wl").unhealthy_nodes.empty()) << "TAS-106";
  job(12, true);
  (void)w.settle();
  const auto* requeued = w.state("wl").find(ConditionType::requeued);
  ASSERT_NE(requeued, nullptr);
  EXPECT_TRUE(requeued->is_true());
  EXPECT_EQ(requeued->reason, Symbol("NodeFailures"));
  w.node("n4");
  (void)w.pass();
  EXPECT_FALSE(w.state("wl").reserved()) << "its own pods have not gone yet (TAS-37)";
  for (int i = 0; i < 12; ++i)
    w.observe(ObjectDeleted{ObjectKind::pod, "default", w.keep("p" + std::to_string(i)), w.keep("pod-p" + std::to_string(i)), {}});
  (void)w.pass();
  EXPECT_EQ(w.places("wl"), "n1:4 n3:4 n4:4");
}

// TAS-99: without fail-fast it waits for a node; TAS-102: it never takes one of somebody else.
TEST_F(FailedNodes, WithoutFailFastItWaitsForANode) {
  with([](Settings& s) { s.replace_or_evict = false; });
  start(8);
  run(8);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:4");
  w.observe(w.gang("low", 4, 1'000, {.required = "rack"}, -5));
  (void)w.pass();
  ASSERT_EQ(w.places("low"), "n3:4");
  w.node_gone("n1");
  EXPECT_EQ(decided(), "nodes n1");
  EXPECT_EQ(w.places("low"), "n3:4");
  w.node("n4");
  EXPECT_EQ(decided(), "reassigned n2:4 n4:4");
}

// TAS-97 (better): several nodes are replaced in one go.
TEST_F(FailedNodes, SeveralNodesAreReplacedTogether) {
  for (const char* n : {"n4", "n5"}) w.node(n);
  start(12);
  run(12);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:4 n3:4");
  w.node_gone("n1");
  w.node_gone("n3");
  EXPECT_EQ(decided(), "nodes n1 n3 / reassigned n2:4 n4:4 n5:4");
}

// TAS-97: with slices it is not known which pods were of which slice; it starts anew.
TEST_F(FailedNodes, SeveralNodesOfSlicesEvict) {
  w.node("n4");
  w.observe(w.gang("sliced", 8, 1'000, {.required = "rack", .slice_level = "kubernetes.io/hostname", .slice_size = 2}));
  (void)w.pass();
  ASSERT_EQ(w.places("sliced"), "n1:4 n2:4");
  w.node_gone("n1");
  w.node_gone("n2");
  EXPECT_EQ(
      decided(),
      "nodes n1 n2 / evicted NodeFailures: Workload eviction triggered due to multiple TAS assigned node failures, including: n1, n2");
}

// TAS-100: with a required rack the replacement is in the same one.
TEST_F(FailedNodes, ARequiredRackIsKept) {
  w.node("far", {.rack = "r2"});
  start(12);
  run(12);
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2 / evicted NodeFailures: Workload was evicted as there was no replacement for unhealthy node(s): n2");
}

// A node that keeps its pods away fails the Workload once nothing runs there; a taint that its pods tolerate does not. TAS-108: a cordon
// is no failure.
TEST_F(FailedNodes, TaintsCountAsTheyAreTolerated) {
  start(6);
  run(6);
  w.node("n2", {.unschedulable = true});
  EXPECT_EQ(decided(), "");
  w.node("n2", {.taint = "broken"});
  EXPECT_EQ(decided(), "") << "pods make progress";
  for (const int i : {4, 5}) runs(i, "n2", true);
  EXPECT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
}

// TAS-103, TAS-88: pods that left their gate for the node and were not taken by it fail, once; gated ones wait.
TEST_F(FailedNodes, PodsThatCanStartNowhereFail) {
  with([](Settings& s) { s.replace_or_evict = false; });
  start(12);
  run(9);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:4 n3:4");
  pod("p9", {.index = 9, .gated = false, .on = "n3"});
  w.node("n3", {.ready = false});
  EXPECT_EQ(decided(), "") << "p8 runs there";
  w.node_gone("n3");
  EXPECT_EQ(decided(), "nodes n3 / failed p9");
  pod("p10", {.index = 10});
  EXPECT_EQ(placed(), "") << "its host has failed";
  const auto fails = w.wanted<PodFailIntent>();
  ASSERT_EQ(fails.size(), 1U);
  EXPECT_EQ(fails[0].name, "p9");
  pod("p9", {.index = 9, .gated = false, .on = "n3", .ended = true});
  EXPECT_EQ(decided(), "");
  EXPECT_TRUE(w.wanted<PodFailIntent>().empty());
  w.node("n4");
  EXPECT_EQ(decided(), "reassigned n1:4 n2:4 n4:4");
  EXPECT_EQ(wanted(), "p10 n4");
}

// TAS-89: a pod that was told a host of an earlier assignment.
TEST_F(FailedNodes, APodOfAnEarlierAssignmentFails) {
  start(6);
  run(6);
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
  pod("late", {.index = 5, .gated = false, .on = "n2"});
  EXPECT_EQ(decided(), "failed late");
  pod("free", {.index = 5, .gated = false});
  EXPECT_EQ(decided(), "") << "it selects no host";
}

// TAS-104, TAS-109: hosts of others, and topologies without hosts, are no matter of this Workload.
TEST_F(FailedNodes, OnlyItsOwnHostsCount) {
  w.topology({"block", "rack"});
  start(6);
  run(6);
  EXPECT_EQ(w.places("wl"), "r1:6");
  w.node_gone("n2");
  EXPECT_EQ(decided(), "");
}

// RNO off: a node has 30 seconds.
TEST_F(FailedNodes, ANodeHasHalfAMinuteWhereItsPodsAreNotLookedAt) {
  with([](Settings& s) { s.replace_when_idle = false; });
  start(6);
  run(6);
  ready("n2", false);
  EXPECT_EQ(decided(), "");
  w.tick(Duration::seconds(29));
  ready("n2", false);
  EXPECT_EQ(decided(), "");
  w.tick(Duration::seconds(1));
  EXPECT_EQ(decided(), "nodes n2 / reassigned n1:4 n3:2");
}

TEST_F(FailedNodes, SwitchedOffNobodyCares) {
  with([](Settings& s) { s.replace_nodes = false; });
  start(6);
  run(6);
  w.node_gone("n2");
  EXPECT_EQ(decided(), "");
}

// Several Workloads of one node: none of them takes what another got in the same step.
TEST_F(FailedNodes, TwoWorkloadsAreReplacedInOneStep) {
  for (const char* n : {"a", "b"}) w.observe(w.gang(n, 2, 1'000, {.required = "rack"}));
  (void)w.pass();
  ASSERT_EQ(w.places("a") + " " + w.places("b"), "n1:2 n1:2");
  w.used("n2", 2);
  w.used("n3", 2);
  w.node_gone("n1");
  EXPECT_EQ(decided(), "nodes n1 / nodes n1 / reassigned n2:2 / reassigned n3:2");
}

// What failed, and since when, comes back from a snapshot, and so does who stands where.
TEST_F(FailedNodes, ASnapshotKnowsWhoStandsWhere) {
  with([](Settings& s) { s.replace_or_evict = false; });
  start(12);
  run(12);
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2");
  Fleet copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  NodeObserved back = w.facts("n2", {});
  copy.now = w.now;
  copy.observe(back);
  const auto step = copy.driver().decide();
  ASSERT_TRUE(step);
  ASSERT_EQ(step->events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<NodesUnhealthy>(step->events[0]));
}

// TAS-107, TAS-99: without the gate for failing at once, who has no other host goes on until its pods have not been ready for too long.
TEST_F(PlacedPods, WithoutAnotherHostTheTimeForRecoveryDecides) {
  Settings settings;
  settings.replace_or_evict = false;
  settings.pods_ready_enabled = true;
  settings.recovery_timeout = Duration::seconds(20);
  w.configure(settings);
  start(12);  // all three nodes are full
  run(12);
  ready(12, true);
  (void)w.settle();
  w.node("n3", {.ready = false});
  for (const int i : {8, 9, 10, 11}) pod("p" + std::to_string(i), {.index = i, .gated = false, .on = "n3", .ended = true, .node = "n3"});
  ready(12, false);
  EXPECT_EQ(decided().substr(0, 8), "nodes n3");
  w.tick(Duration::seconds(10));
  EXPECT_EQ(decided(), "");
  w.tick(Duration::seconds(15));
  EXPECT_EQ(decided().substr(0, 24), "evicted PodsReadyTimeout");
}

// BA-212: who stood on a failed node is placed again before anybody is admitted, and evicted where there is no place: in one cycle, in this
// order, and before whoever waits gets what is left.
TEST(FailedNodesOfSeveral, AreReplacedThenEvictedThenOthersAreAdmitted) {
  Fleet w;
  w.set_up();
  const Ask one_host{.required = host};
  w.node("n1");
  w.observe(w.gang("large", 1, 3'000, one_host, 5));
  w.observe(w.gang("small", 1, 1'000, one_host));
  (void)w.settle();
  ASSERT_EQ(w.places("large") + " " + w.places("small"), "n1:1 n1:1");
  w.node("n2", {.cores = 3});
  (void)w.settle();
  w.observe(w.gang("waits", 1, 3'000, one_host, 9));
  w.node_gone("n1");
  (void)w.settle();
  (void)w.pass();
  EXPECT_EQ(w.places("large"), "n2:1") << "though one of higher priority waits for the same host";
  const auto* evicted = w.state("small").find(ConditionType::evicted);
  ASSERT_NE(evicted, nullptr);
  EXPECT_EQ(evicted->reason, Symbol("NodeFailures"));
  EXPECT_EQ(w.state("large").find(ConditionType::evicted), nullptr);
  EXPECT_FALSE(w.state("waits").reserved());
}

}  // namespace
}  // namespace hindsight::admission::testing
