// Cycles over flavors with topologies (2724 §3.13, §4.5, §4.10), with the worked examples E22, E23, E29 and E30.

#include "admission/scheduling/pod_placer.hpp"
#include "tests/admission/scheduling/topology_world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;
constexpr const char* host = "kubernetes.io/hostname";

Work on_host(std::string_view name, std::string_view queue, std::int32_t count, std::int64_t each = 1, std::int64_t priority = 0) {
  Work w = gang(name, queue, count, each);
  ask(w, required(host)).priority(priority);
  return w;
}

// TAS-59, TAS-68
TEST(TopologyCycle, APodSetIsPlacedAndSaysWhere) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "b1/r1/n1:4 b1/r1/n2:4 b1/r2/n3:8 b1/r2/n4:4");
  Work j = gang("j", "q", 10);
  w.pend(ask(j, required("rack"))).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "n3:8 n4:2");
  w.keep("j");
  Work next = gang("next", "q", 9);
  w.pend(ask(next, required("rack"))).cycle_with_room();
  EXPECT_EQ(w.placed("next"),
            "WaitingForQuota: couldn't assign flavors to pod set main: topology \"T\" allows to fit only 8 out of 9 pod(s). "
            "Total nodes: 4; excluded: resource \"cpu\": 1");
}

// TAS-68: levels other than hosts are all written.
TEST(TopologyCycle, WithoutHostsAPathIsWritten) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "b1/r1:4 b1/r2:4", {"block", "rack"});
  Work j = gang("j", "q", 6);
  w.pend(ask(j, required("block"))).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "b1/r1:4 b1/r2:2");
}

// TAS-51, TAS-52, BA-213: each pod set finds the flavors that are made for it, and a flavor that fails such a test matches nobody.
TEST(TopologyCycle, FlavorsWithAndWithoutTopology) {
  TopologyWorld w({QueueSpec("q").cpu("plain", 20).cpu("f", 20)});
  w.fleet("f", "b/r/n1:8");
  Work with = on_host("with", "q", 2), without = gang("without", "q", 2), other = gang("other", "q", 2);
  w.pend(with).cycle_with_room();
  EXPECT_EQ(w.verdict("with"), "admit f");
  w.pend(without).cycle_with_room();
  EXPECT_EQ(w.verdict("without"), "admit plain");
  w.pend(ask(other, required("zone"))).cycle_with_room();
  EXPECT_EQ(w.placed("other"),
            "NoMatchingFlavor: couldn't assign flavors to pod set main: Flavor \"f\" does not contain the requested level, "
            "Flavor \"plain\" does not support TopologyAwareScheduling");

  TopologyWorld only({QueueSpec("q").cpu("plain", 1).cpu("f", 20)});
  only.fleet("f", "b/r/n1:8");
  Work big = gang("big", "q", 2);
  only.pend(big).cycle_with_room();
  EXPECT_NE(only.of("big").message.find("Flavor \"f\" supports only TopologyAwareScheduling"), std::string::npos);
}

// TAS-49: pod sets of one workload may differ in what they ask for.
TEST(TopologyCycle, OnePodSetMayAskForATopologyAndAnotherForNone) {
  TopologyWorld w({QueueSpec("q").cpu("plain", 20).cpu("f", 20)});
  w.fleet("f", "b/r/n1:8");
  Work j("j", "q");
  j.pods("driver", 1, {{"cpu", cores(1)}});
  j.pods("workers", 2, {{"cpu", cores(1)}});
  ask(j, required(host));
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "n1:2");
  const auto& assigned = w.of("j").assignment;
  EXPECT_EQ(assigned[0].flavors.front().second.text(), "plain");
  EXPECT_TRUE(assigned[0].topology.empty());
  EXPECT_EQ(assigned[1].flavors.front().second.text(), "f");
}

// TAS-55: a leader that asks for nothing stands with its group.
TEST(TopologyCycle, ALeaderThatAsksForNothingStandsWithItsGroup) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "b/r1/n1:1 b/r2/n2:4");
  Work j("j", "q");
  j.pods("leader", 1, {}).in_group("g");
  ask(j, required("rack"));
  j.pods("workers", 3, {{"cpu", cores(1)}}).in_group("g");
  ask(j, required("rack"));
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "n2:1; n2:3");
}

// TAS-112: a place that is missing in one flavor makes all flavors with a topology wait for others to go.
TEST(TopologyCycle, FragmentationConcernsAllFlavorsOfAWorkload) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40).within(lower_priority)});
  w.fleet("f", "n1:1 n2:4", {host});
  w.stand(gang("low", "q", 1, 2).priority(0), "n2:1");
  Work j("j", "q");
  j.priority(5).pods("small", 1, {{"cpu", cores(1)}});
  ask(j, required(host));
  j.pods("large", 2, {{"cpu", cores(2)}});
  TopologyRequest anywhere;
  anywhere.unconstrained = true;
  ask(j, anywhere);
  const PodPlacer placer(*w.room, w.settings, w.tree, nullptr);
  Assignment a;
  a.mode = AssignmentMode::fit;
  for (std::uint32_t i = 0; i < 2; ++i) {
    PodSetAssignment& p = a.pod_sets.emplace_back();
    p.pod_set = i;
    p.count = j.info->pod_sets[i].count;
    p.mode = AssignmentMode::fit;
    ResourceChoice& c = p.choices.emplace_back();
    c.resource = Symbol("cpu");
    c.flavor = Symbol("f");
    c.mode = FlavorMode::fit;
  }
  placer.settle(*j.info, w.tree.queue(w.tree.find_queue(Symbol("q"))), a);
  EXPECT_NE(a.mode, AssignmentMode::fit);
  for (const auto& p : a.pod_sets) EXPECT_NE(p.choices.front().mode, FlavorMode::fit) << p.pod_set;
}

// TAS-53, TAS-61, TAS-45
TEST(TopologyCycle, AQueueOfTopologiesAlonePlacesEverybody) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "b1/r1/x3:4 b1/r1/x5:1 b1/r1/x1:1 b2/r1/x6:2 b2/r1/x2:1");
  Work j = gang("j", "q", 6);
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "x1:1 x3:1 x5:1 x2:1 x6:2");  // E8

  Work named_nothing = gang("named-nothing", "q", 1);
  w.pend(ask(named_nothing, TopologyRequest{})).cycle_with_room();
  EXPECT_EQ(w.placed("named-nothing"),
            "NoMatchingFlavor: couldn't assign flavors to pod set main: Flavor \"f\" does not contain the requested level");
}

// TAS-15
TEST(TopologyCycle, SwitchedOffNothingIsPlaced) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "b/r/n1:1");
  w.settings.topologies = false;
  w.room.reset();
  w.pend(on_host("j", "q", 5)).cycle();
  EXPECT_EQ(w.verdict("j"), "admit f");
  EXPECT_TRUE(w.of("j").assignment[0].topology.empty());
}

// TAS-54
TEST(TopologyCycle, OneFlavorHoldsAllOfAPodSet) {
  QueueSpec q("q");
  q.quota({"cpu"}, "f", {{cores(20), {}, {}}}).quota({"gpu"}, "g", {{20, {}, {}}});
  TopologyWorld w({q});
  w.fleet("f", "b/r/n1:8");
  w.fleet("g", "b/r/n2:8");
  Work j("j", "q");
  j.pods("main", 1, {{"cpu", cores(1)}, {"gpu", 1}});
  w.pend(ask(j, required("rack"))).cycle_with_room();
  EXPECT_NE(w.placed("j").find("more than one TAS flavor assigned: f, g"), std::string::npos) << w.placed("j");

  // credits that no pod asks for itself may come from a flavor without a topology
  QueueSpec credits("q");
  credits.quota({"cpu"}, "f", {{cores(20), {}, {}}}).quota({"credits"}, "plain", {{20, {}, {}}});
  TopologyWorld v({credits});
  v.fleet("f", "b/r/n1:8");
  Work k("k", "q");
  k.pods("main", 1, {{"cpu", cores(1)}, {"credits", 1}});
  k.info->pod_sets.change([](auto& pod_sets) { pod_sets[0].pod_requests = {{Symbol("cpu"), cores(1)}}; });
  v.pend(ask(k, required("rack"))).cycle_with_room();
  EXPECT_EQ(v.placed("k"), "n1:1");
}

// TAS-33: quota counts what is left after exclusion, topologies what pods take.
TEST(TopologyCycle, PodsTakeWhatTheyAskFor) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "b/r/n1:8");
  Work j = on_host("j", "q", 4);
  j.info->pod_sets.change([](auto& pod_sets) { pod_sets[0].pod_requests = {{Symbol("cpu"), cores(3)}}; });
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.of("j").reason.text(), "TopologyPlacementFailed");
}

// TAS-56, TAS-57, TAS-71, TAS-122, EJ-116
TEST(TopologyCycle, AGroupIsPlacedTogetherAndAnEmptyPodSetNowhere) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "b/r1/h1:2 b/r1/h2:4 b/r1/h3:3 b/r2/h4:3");
  Work j("j", "q");
  j.pods("leader", 1, {{"cpu", cores(1)}}).in_group("g");
  ask(j, required("rack"));
  j.pods("worker", 4, {{"cpu", cores(2)}}).in_group("g");
  ask(j, required("rack"));
  j.pods("none", 0, {{"cpu", cores(1)}});
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "h3:1; h1:1 h2:2 h3:1");  // E15
}

// TAS-56
TEST(TopologyCycle, AGroupIsTwoPodSetsOfWhichOneIsSingle) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "b/r1/h1:20");
  Work j("j", "q");
  for (const char* name : {"a", "b"}) {
    j.pods(name, 2, {{"cpu", cores(1)}}).in_group("g");
    ask(j, required("rack"));
  }
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.of("j").reason.text(), "TopologyPlacementFailed");
  EXPECT_NE(w.of("j").message.find("podset group \"g\" can only be two pod sets of which one has a single pod"), std::string::npos);
}

// TAS-67, TAS-31
TEST(TopologyCycle, LaterPodSetsSeeEarlierOnes) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "b1/r1/n1:2 b1/r1/n2:1 b1/r2/n3:2 b1/r2/n4:2");
  Work j("j", "q");
  j.pods("leader", 1, {{"cpu", cores(1)}});
  ask(j, required("rack"));
  j.pods("worker", 5, {{"cpu", cores(1)}});
  ask(j, preferred("rack"));
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "n2:1; n1:2 n3:2 n4:1");  // E5
}

// TAS-44
TEST(TopologyCycle, ASliceSizeDividesTheCount) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "b/r/n1:20");
  Work j = gang("j", "q", 5);
  TopologyRequest sliced = required("block");
  sliced.slices = {{"rack", 2}};
  w.pend(ask(j, sliced)).cycle_with_room();
  EXPECT_NE(w.placed("j").find("pod set slice size 2 must evenly divide the pod set count 5"), std::string::npos);
}

// TAS-65, E18
TEST(TopologyCycle, NodesAreFilteredByTaintsSelectorsAndAffinity) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "x1:1 x2:1 x3:1 x4:1", {host});
  const auto change = [&](const char* name, auto&& f) {
    auto node = std::make_shared<NodeConfig>(*w.nodes[Symbol(name)]);
    f(*node);
    w.nodes[Symbol(name)] = node;
  };
  const auto zone = [&](const char* name, const char* value) { change(name, [&](NodeConfig& n) { n.labels.set(Symbol("zone"), value); }); };
  change("x1", [](NodeConfig& n) { n.taints = {{"key", "value", TaintEffect::no_schedule}}; });
  zone("x2", "zone-b");
  zone("x3", "zone-b");
  zone("x4", "zone-a");
  change("x4", [](NodeConfig& n) { n.allocatable.change([](AmountList& a) { a[0].second = 100; }); });
  w.build_room();
  PodShape shape;
  shape.node_selector = {{Symbol("zone"), "zone-a"}};
  Work j = on_host("j", "q", 1);
  w.pend(j.shape(shape)).cycle_with_room();
  EXPECT_EQ(w.of("j").message,
            "couldn't assign flavors to pod set main: topology \"T\" doesn't allow to fit any of 1 pod(s). Total nodes: 4; excluded: "
            "nodeSelector: 2, resource \"cpu\": 1, taint \"key=value:NoSchedule\": 1");

  Work tolerant = on_host("tolerant", "q", 1);
  PodShape other;
  other.tolerations = {{"key", "", true, TaintEffect::unspecified, {}}};
  other.has_affinity = true;
  other.affinity_terms = {{{{Symbol("zone"), SelectorOperator::does_not_exist, {}}}}};
  w.pend(tolerant.shape(other)).cycle_with_room();
  EXPECT_EQ(w.placed("tolerant"), "x1:1");
}

/// A leader and workers that have to stand in one rack; the leader has a shape of its own.
Work led(const PodShape& leader, const PodShape& workers) {
  Work w("j", "q");
  w.pods("leader", 1, {{"cpu", cores(1)}}).in_group("g").shape(leader);
  ask(w, required("rack"));
  w.pods("workers", 2, {{"cpu", cores(1)}}).in_group("g").shape(workers);
  ask(w, required("rack"));
  return w;
}

// TAS-58: the leader's own selector counts, for the leader alone.
TEST(TopologyCycle, ALeaderStandsWhereItsOwnTemplateAllows) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "b/r1/n1:4 b/r2/n2:4 b/r2/n3:4");
  auto n3 = std::make_shared<NodeConfig>(*w.nodes[Symbol("n3")]);
  n3->labels.set(Symbol("ssd"), "yes");
  w.nodes[Symbol("n3")] = n3;
  w.build_room();
  PodShape on_ssd;
  on_ssd.node_selector = {{Symbol("ssd"), "yes"}};
  w.pend(led(on_ssd, {})).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "n3:1; n3:2");
  TopologyWorld x({QueueSpec("q").cpu("f", 40)});
  x.fleet("f", "b/r1/n1:4 b/r2/n2:4 b/r2/n3:4");
  x.build_room();
  x.pend(led(on_ssd, {})).cycle_with_room();
  const std::string why = x.placed("j");
  EXPECT_EQ(
      why.find("TopologyPlacementFailed: couldn't assign flavors to pod set leader: topology \"T\" allows to fit only 4 out of 2 pod(s). "
               "Total nodes: 3; excluded: leader's nodeSelector: 3; "),
      0U)
      << why;
}

// TAS-74: with the gate the nodes that pods prefer go before the one that would fit best; without it they do not.
TEST(TopologyCycle, PreferredNodesCountWithTheGate) {
  for (const bool on : {false, true}) {
    TopologyWorld w({QueueSpec("q").cpu("f", 40)});
    w.settings.preferred_affinity = on;
    w.fleet("f", "b/r1/n1:2 b/r2/n2:4");
    w.build_room();
    PodShape shape;
    shape.preferred = {{10, {{{Symbol("rack"), SelectorOperator::in, {"r2"}}}, {}}}};
    Work j = on_host("j", "q", 2);
    w.pend(j.shape(shape)).cycle_with_room();
    EXPECT_EQ(w.placed("j"), on ? "n2:2" : "n1:2");
  }
}

// TAS-73
TEST(TopologyCycle, SharesAreEvenWithTheGate) {
  for (const bool on : {false, true}) {
    TopologyWorld w({QueueSpec("q").cpu("f", 40)});
    w.settings.balanced_placement = on;
    w.fleet("f", "b/r1/n1:10 b/r1/n2:10");
    w.build_room();
    Work j("j", "q");
    j.pods("main", 12, {{"cpu", cores(1)}});
    ask(j, preferred("rack"));
    w.pend(j).cycle_with_room();
    EXPECT_EQ(w.placed("j"), on ? "n1:6 n2:6" : "n1:10 n2:2");
  }
}

// TAS-59: with the profile Compact the rack goes first in which the gang needs fewer hosts.
TEST(TopologyCycle, GangsAreCompactWithTheProfile) {
  for (const bool on : {false, true}) {
    TopologyWorld w({QueueSpec("q").cpu("f", 40)});
    w.settings.compact_topologies = on;
    w.fleet("f", "b/r1/n1:2 b/r1/n2:2 b/r1/n3:2 b/r2/n4:5 b/r2/n5:4");
    w.build_room();
    Work j("j", "q");
    j.pods("main", 6, {{"cpu", cores(1)}});
    ask(j, required("rack"));
    w.pend(j).cycle_with_room();
    EXPECT_EQ(w.placed("j"), on ? "n4:5 n5:1" : "n1:2 n2:2 n3:2");
  }
}

// TAS-17
TEST(TopologyCycle, NodesThatAreNotReadyOrLackALabelHaveNoRoom) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40)});
  w.fleet("f", "b/r/n1:1 b/r/n2:2 b/r/n3:3 b/r/n4:4");
  const auto change = [&](const char* name, auto&& f) {
    auto node = std::make_shared<NodeConfig>(*w.nodes[Symbol(name)]);
    f(*node);
    w.nodes[Symbol(name)] = node;
  };
  const auto without = [](const char* label) { return [label](NodeConfig& n) { n.labels.erase(Symbol(label)); }; };
  change("n1", [](NodeConfig& n) { n.ready = false; });
  change("n2", [](NodeConfig& n) { n.unschedulable = true; });
  change("n3", without("pool"));
  change("n4", without("rack"));
  w.build_room();
  w.pend(on_host("j", "q", 1)).cycle_with_room();
  EXPECT_EQ(w.placed("j"),
            "TopologyPlacementFailed: couldn't assign flavors to pod set main: no topology domains at level: kubernetes.io/hostname");
}

// TAS-34: one host of two flavors is one host.
TEST(TopologyCycle, FlavorsThatSelectTheSameHostShareIt) {
  TopologyWorld w({QueueSpec("q").cpu("f", 40).cpu("g", 40)});
  w.fleet("f", "b/r/n1:4");
  w.flavor("g").topology = w.flavor("f").topology;
  w.flavor("g").node_labels = w.flavor("f").node_labels;
  w.build_room();
  Work j("j", "q");
  j.pods("one", 3, {{"cpu", cores(1)}});
  ask(j, required(host));
  w.pend(j).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "n1:3");
  w.keep("j");
  ScanState second;  // the scan goes on at the other flavor
  second.entries = {{Symbol("main"), Symbol("cpu"), 0}};
  second.cycle = w.cycle_number - 1;
  w.pend(on_host("k", "q", 2), second).cycle_with_room();
  EXPECT_EQ(w.of("k").message, "couldn't assign flavors to pod set main: topology \"T\" allows to fit only 1 out of 2 pod(s)");
}

struct Fragmented : ::testing::Test {
  TopologyWorld w{{QueueSpec("q").cpu("f", 100).within(lower_priority)}};
  Fragmented() {
    w.fleet("f", "x1:5 y1:5", {host});
    w.stand(gang("mid", "q", 1, 4).priority(1), "x1:1");
    w.stand(gang("low", "q", 1, 4).priority(0), "y1:1");
  }
};

// TAS-110, E22
TEST_F(Fragmented, OneNodeIsFreedAndOnlyThatOne) {
  w.pend(on_host("high", "q", 2, 1, 2)).cycle_with_room();
  EXPECT_EQ(w.victims("high"), "low(InClusterQueue)");
  EXPECT_EQ(w.placed("high"),
            "WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: topology \"T\" allows to fit only 1 out of 2 pod(s). "
            "Pending the preemption of 1 workload(s)");
}

// TAS-111, E22: what does not fit an empty node preempts nobody.
TEST_F(Fragmented, NobodyGoesForWhatFitsNowhere) {
  w.pend(on_host("high", "q", 2, 6, 2)).cycle_with_room();
  EXPECT_EQ(w.victims("high"), "");
  EXPECT_EQ(w.of("high").reason.text(), "TopologyPlacementFailed");
  EXPECT_EQ(w.of("high").requeue_reason, RequeueReason::no_fit);
}

// TAS-116: equals wait. What they wait for is theirs, nobody behind them takes it (TAS-113).
TEST_F(Fragmented, EqualsWait) {
  w.pend(on_host("same", "q", 2, 1, 0)).cycle_with_room();
  EXPECT_EQ(w.victims("same"), "");
  EXPECT_EQ(w.of("same").reason.text(), "WaitingForQuota");
}

// TAS-110: candidates that are not needed are spared.
TEST_F(Fragmented, WhoIsNotNeededIsSpared) {
  w.stand(gang("small", "q", 1).priority(-1), "x1:1");
  w.pend(on_host("high", "q", 2, 1, 2)).cycle_with_room();
  EXPECT_EQ(w.victims("high"), "low(InClusterQueue)") << "the small one on the other node goes first, and comes back";
}

struct Cohort : ::testing::Test {
  TopologyWorld w{{QueueSpec("qa", "co").cpu("f", 8).reclaim(any), QueueSpec("qb", "co").cpu("f", 8).reclaim(lower_priority)},
                  {CohortSpec("co")}};
  Cohort() { w.fleet("f", "node-1:8 node-2:8", {host}); }
};

// TAS-114, E23
TEST_F(Cohort, TheSecondOfTwoThatChoseOneNodeIsPlacedAgain) {
  w.pend(on_host("a1", "qa", 1, 8, 10)).pend(on_host("b1", "qb", 1, 8, 5)).cycle_with_room();
  EXPECT_EQ(w.placed("a1"), "node-1:1");
  EXPECT_EQ(w.placed("b1"), "node-2:1");
}

// TAS-114, E23
TEST_F(Cohort, WithoutTheGateItWaits) {
  w.settings.place_again = false;
  w.pend(on_host("a1", "qa", 1, 8, 10)).pend(on_host("b1", "qb", 1, 8, 5)).cycle_with_room();
  EXPECT_EQ(w.placed("b1"), "WaitingForQuota: Workload no longer fits after processing another workload");
}

// TAS-114: where there is no other place it waits.
TEST_F(Cohort, WithoutAnotherPlaceItWaits) {
  w.stand(gang("there", "qb", 1, 1), "node-2:1");
  w.pend(on_host("a1", "qa", 1, 8, 10)).pend(on_host("b1", "qb", 1, 7, 5)).cycle_with_room();
  EXPECT_EQ(w.placed("a1"), "node-1:1");
  EXPECT_EQ(w.placed("b1"), "node-2:1");
  w.pend(on_host("a2", "qa", 1, 8, 10)).pend(on_host("b2", "qb", 1, 8, 5)).cycle_with_room();
  EXPECT_EQ(w.placed("b2"), "WaitingForQuota: Workload no longer fits after processing another workload");
}

// TAS-114, BA-212, BA-213: who is placed again keeps to the flavors that were nominated, before anything is charged; that another flavor
// would do makes it no worse a reason than that it has to wait.
TEST(TopologyCycle, WhoIsPlacedAgainKeepsItsFlavor) {
  TopologyWorld w({QueueSpec("qa", "co").cpu("f", 8), QueueSpec("qb", "co").cpu("f", 8).cpu("g", 8)}, {CohortSpec("co")});
  w.fleet("f", "node-1:8", {host});
  w.fleet("g", "node-2:8", {host});
  w.pend(on_host("a1", "qa", 1, 8, 10)).pend(on_host("b1", "qb", 1, 8, 5)).cycle_with_room();
  EXPECT_EQ(w.placed("a1"), "node-1:1");
  EXPECT_EQ(w.placed("b1"), "WaitingForQuota: Workload no longer fits after processing another workload");
}

// TAS-115: reclaiming from another queue asks for a place as well.
TEST_F(Cohort, ReclaimingNeedsAPlace) {
  w.stand(gang("borrower", "qb", 2, 5).priority(1), "node-1:1 node-2:1");
  w.pend(on_host("a1", "qa", 2, 4, 0)).cycle_with_room();
  EXPECT_EQ(w.victims("a1"), "borrower(InCohortReclamation)");
}

// TAS-113: who waits for a victim keeps the places that it will have.
TEST_F(Cohort, PlacesOfAPreemptorAreReserved) {
  w.stand(gang("low", "qa", 1, 8).priority(0), "node-1:1");
  QueueSpec a = QueueSpec("qa", "co").cpu("f", 8).within(lower_priority);
  QueueSpec b = QueueSpec("qb", "co").cpu("f", 8);
  TopologyWorld v({a, b}, {CohortSpec("co")});
  v.fleet("f", "node-1:8 node-2:4", {host});
  v.stand(gang("low", "qa", 1, 8).priority(0), "node-1:1");
  v.pend(on_host("high", "qa", 1, 8, 9)).pend(on_host("b1", "qb", 1, 4, 5)).cycle_with_room();
  EXPECT_EQ(v.victims("high"), "low(InClusterQueue)");
  EXPECT_EQ(v.placed("b1"), "node-2:1");
}

// Queues that share no quota may share hosts (2724 §7, note 8): they are decided in one cycle.
TEST(TopologyCycle, QueuesWithoutACohortShareHosts) {
  for (const bool fair : {false, true}) {
    TopologyWorld w({QueueSpec("qa").cpu("f", 8), QueueSpec("qb").cpu("f", 8), QueueSpec("qc", "co").cpu("f", 8)}, {CohortSpec("co")});
    w.settings.fair_sharing = fair;
    w.fleet("f", "node-1:8 node-2:8", {host});
    w.pend(on_host("a", "qa", 1, 8, 10)).pend(on_host("b", "qb", 1, 8, 5)).pend(on_host("c", "qc", 1, 8, 1)).cycle_with_room();
    int admitted = 0;
    for (const char* name : {"a", "b", "c"}) admitted += w.verdict(name) == "admit f" ? 1 : 0;
    EXPECT_EQ(admitted, 2);
    EXPECT_EQ(w.placed(fair ? "b" : "c"), "WaitingForQuota: Workload no longer fits after processing another workload");
  }
}

// TAS-128, E29
TEST(TopologyCycle, TheReasonFollowsTheEmptyTree) {
  TopologyWorld w({QueueSpec("q").cpu("f", 6)});
  w.fleet("f", "r/a:3 r/b:3", {"rack", host});
  w.pend(on_host("w1", "q", 2)).cycle_with_room();
  EXPECT_EQ(w.placed("w1"), "a:2");
  w.keep("w1");
  w.pend(on_host("w2", "q", 2)).cycle_with_room();
  EXPECT_EQ(w.placed("w2"), "b:2");
  w.keep("w2");
  w.pend(on_host("w3", "q", 2)).cycle_with_room();
  EXPECT_EQ(w.placed("w3"),
            "WaitingForQuota: couldn't assign flavors to pod set main: topology \"T\" allows to fit only 1 out of 2 pod(s)");
  w.pend(on_host("w4", "q", 4)).cycle_with_room();
  EXPECT_EQ(w.placed("w4"),
            "TopologyPlacementFailed: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 2 more "
            "needed");
  w.pend(on_host("w5", "q", 7)).cycle_with_room();
  EXPECT_EQ(w.of("w5").reason.text(), "ExceedsMaxQuota");
}

// TAS-129, E30
TEST(TopologyCycle, TheNextCycleStartsAtTheNextFlavor) {
  TopologyWorld w({QueueSpec("q").cpu("f1", 2).cpu("f2", 2)});
  w.fleet("f1", "a:1 b:1", {host});
  w.fleet("f2", "c:2", {host});
  w.pend(on_host("j", "q", 2)).cycle_with_room();
  EXPECT_EQ(w.of("j").reason.text(), "TopologyPlacementFailed");
  ASSERT_EQ(w.of("j").scan.entries.size(), 1U);
  EXPECT_EQ(w.of("j").scan.entries[0].flavor_index, 0);
  w.pend(on_host("j2", "q", 2), w.of("j").scan).cycle_with_room();
  EXPECT_EQ(w.placed("j2"), "c:2");
}

// TAS-117
TEST(TopologyCycle, FewerPodsAreTriedWhereThatIsAllowed) {
  TopologyWorld w({QueueSpec("q").cpu("f", 20)});
  w.fleet("f", "r1/a:3 r2/b:4", {"rack", host});
  Work j("j", "q");
  j.pods("main", 6, {{"cpu", cores(1)}}, 2);
  w.pend(ask(j, required(host))).cycle_with_room();
  EXPECT_EQ(w.placed("j"), "b:4");
  EXPECT_EQ(w.of("j").assignment[0].count, 4);
}

// TAS-21, TAS-32, TAS-35
TEST(TopologyCycle, UsageComesAndGoesWithWorkloadsAndNodes) {
  TopologyWorld w({QueueSpec("q").cpu("f", 100)});
  w.fleet("f", "a:4 b:4", {host});
  Work j = gang("j", "q", 4);
  w.stand(j, "a:3 gone:1");
  const auto free = [&] { return w.room->free()[0].capacity().at(Symbol("cpu"), 0); };
  EXPECT_EQ(free(), cores(1));
  Reservation again;
  again.workload = j.info;
  again.pod_sets = {{Symbol("main"), 4, {{Symbol("cpu"), Symbol("f")}}, {}}};
  again.pod_sets[0].topology = TopologyAssignment{{Symbol(host)}, {Symbol("a")}, {2}};
  w.room->reserve(again);
  EXPECT_EQ(free(), cores(2)) << "the same workload, once";
  auto ended = std::make_shared<WorkloadInfo>(*j.info);
  ended->pod_sets.change([](auto& pod_sets) { pod_sets[0].count = 0; });
  again.workload = ended;
  w.room->reserve(again);
  EXPECT_EQ(free(), cores(4)) << "all its pods have ended";
  again.workload = j.info;
  w.room->reserve(again);
  w.room->release(j.info->id);
  w.room->release(j.info->id);
  EXPECT_EQ(free(), cores(4));
}

}  // namespace
}  // namespace hindsight::admission::testing
