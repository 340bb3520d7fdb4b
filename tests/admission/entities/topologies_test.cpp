// Topologies through all entities (2724 §4.1 to §4.3): nodes and topologies as they come and go, what admitted Workloads hold, random
// histories.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fleet.hpp"

namespace hindsight::admission::testing {
namespace {

// TAS-18, TAS-59, E2
TEST(Topologies, WhoWaitsIsTriedWhenANodeComes) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.observe(w.gang("j", 6, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.places("j"),
            "TopologyPlacementFailed: couldn't assign flavors to pod set main: topology \"racks\" allows to fit only 4 out of 6 pod(s)");
  w.node("n2", {.rack = "r2"});
  (void)w.pass();
  EXPECT_EQ(w.pending("j").substr(0, 23), "TopologyPlacementFailed") << "another rack";
  w.node("n3", {.cores = 2});
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n1:4 n3:2");
}

// TAS-18: a node that becomes ready, is uncordoned, or gets more.
TEST(Topologies, ChangesOfANodeWakeThoseWhoWait) {
  for (const auto& [before, after] : std::vector<std::pair<Fleet::Node, Fleet::Node>>{
           {{.ready = false}, {}}, {{.unschedulable = true}, {}}, {{.cores = 1}, {}}, {{.rack = "r9"}, {}}}) {
    Fleet w;
    w.set_up();
    w.node("n1");
    w.node("n2", before);
    w.observe(w.gang("j", 8, 1'000, {.required = "rack"}));
    (void)w.pass();
    EXPECT_NE(w.pending("j"), "");
    w.node("n2", after);
    (void)w.pass();
    EXPECT_EQ(w.places("j"), "n1:4 n2:4");
  }
}

// TAS-19: what changes nothing wakes nobody.
TEST(Topologies, AHeartbeatIsNoNews) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.observe(w.gang("j", 8, 1'000, {.required = "rack"}));
  (void)w.pass();
  const auto due = w.driver().domain().next_due();
  w.node("n1");
  EXPECT_EQ(w.driver().domain().next_due(), due);
  EXPECT_EQ(w.pass(), std::vector<std::string>{});
}

// Rule 4: what one connector had under way is told after what its successor saw.
TEST(Topologies, AnOlderVersionOfANodeChangesNothing) {
  Fleet w;
  w.set_up(8'000);
  const auto cores = [&] { return w.driver().domain().nodes().at(Symbol("n1"))->allocatable->front().second; };
  const auto is_there = [&] { return w.driver().domain().nodes().contains(Symbol("n1")); };
  w.node("n1", {.cores = 4, .version = 10, .uid = "a"});
  w.node("n1", {.cores = 8, .version = 12, .uid = "a"});
  w.node("n1", {.cores = 4, .version = 11, .uid = "a"});
  EXPECT_EQ(cores(), 8'000);
  const auto hash = w.driver().state_hash();
  w.node("n1", {.cores = 8, .version = 13, .uid = "a"});  // nothing else is new, and yet what is older than this is old
  EXPECT_NE(w.driver().state_hash(), hash);
  w.node("n1", {.cores = 4, .version = 12, .uid = "a"});
  EXPECT_EQ(cores(), 8'000);

  w.node_gone("n1", "another");  // the one before it
  EXPECT_TRUE(is_there());
  w.node_gone("n1", "a");
  EXPECT_FALSE(is_there());
  w.node("n1", {.cores = 8, .version = 13, .uid = "a"});
  EXPECT_FALSE(is_there());
  w.node("n1", {.cores = 6, .version = 20, .uid = "b"});
  EXPECT_EQ(cores(), 6'000);
  w.node("n1", {.cores = 8, .version = 13, .uid = "a"});
  EXPECT_EQ(cores(), 6'000);
  Fleet copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

// Two folds that know other nodes differ in their state hash.
TEST(Topologies, NodesAreInTheStateHash) {
  Fleet w;
  w.set_up();
  w.node("n1");
  const auto before = w.driver().state_hash();
  w.node("n1");
  const auto repeated = w.driver().state_hash();
  w.node("n1", {.cores = 5});
  EXPECT_NE(w.driver().state_hash(), repeated);
  Fleet copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_NE(before, repeated) << "a record was folded";
}

// TAS-25, TAS-26, TAS-28, TAS-31: what pods of others use is not free, cores or slots; told again it changes nothing, and when it goes
// whoever waits is tried.
TEST(Topologies, PodsOfOthersUseTheNodes) {
  Fleet w;
  w.set_up();
  w.used("n1", 3);  // before anything is known of the node
  w.node("n1");
  w.node("n2", {.rack = "r2"});
  w.used("n2", 0, 107);
  w.observe(w.gang("j", 4, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.places("j"),
            "TopologyPlacementFailed: couldn't assign flavors to pod set main: topology \"racks\" allows to fit only 3 out of 4 pod(s)");
  const auto due = w.driver().domain().next_due();
  const auto room = w.driver().domain().context().nodes_version;
  w.used("n2", 0, 107);
  w.used("n3", 0, 0);
  EXPECT_EQ(w.driver().domain().next_due(), due);
  EXPECT_EQ(w.driver().domain().context().nodes_version, room);
  w.used("n1", 0, 0);
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n1:4");
}

// TAS-22: a node that lost what is used of it has room for nobody, and takes none from others.
TEST(Topologies, ANodeWithLessThanIsUsedHasRoomForNobody) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.node("n2");
  w.used("n1", 9);
  w.observe(w.gang("j", 4, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n2:4");
}

// TAS-36: usage is in the state hash, and a snapshot brings it back, also for a node that comes later.
TEST(Topologies, UsageIsState) {
  Fleet w;
  w.set_up();
  w.node("n1");
  const auto before = w.driver().state_hash();
  w.used("n1", 2);
  w.used("n2", 3);
  EXPECT_NE(w.driver().state_hash(), before);
  Fleet copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  for (Fleet* world : {&w, &copy}) {
    world->node("n2");
    world->observe(world->gang("j", 3, 1'000, {.required = "rack"}));
    (void)world->pass();
    EXPECT_EQ(world->places("j"), "n1:2 n2:1");
  }
}

// TAS-20: racks of one name in two blocks are two.
TEST(Topologies, RacksOfOneNameInTwoBlocksAreTwo) {
  Fleet w;
  w.set_up();
  w.node("n1", {.block = "b1", .rack = "r"});
  w.node("n2", {.block = "b2", .rack = "r"});
  w.observe(w.gang("j", 8, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_TRUE(w.pending("j").starts_with("TopologyPlacementFailed")) << w.pending("j");
  w.node("n3", {.block = "b2", .rack = "r"});
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n2:4 n3:4");
}

// TAS-23: a host that is called as a block or a rack is.
TEST(Topologies, AHostMayBeCalledAsABlockIs) {
  Fleet w;
  w.set_up();
  w.node("b1", {.block = "b1", .rack = "b1"});
  w.node("n2", {.block = "b1", .rack = "n2"});
  w.observe(w.gang("j", 8, 1'000, {.required = "block"}));
  w.observe(w.gang("k", 1, 1'000, {.required = host}));
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "b1:4 n2:4");
}

// TAS-24: places go by the hostname label, what others use and what fails by the node that has it.
TEST(Topologies, ANodeMayHaveAnotherNameThanItsHost) {
  Fleet w;
  w.set_up();
  w.node("node-1", {.host = "h1"});
  w.node("node-2", {.host = "h2"});
  w.node("h1", {.host = "h3"});  // somebody else's name
  w.used("node-1", 2);
  w.observe(w.gang("j", 10, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "h1:2 h2:4 h3:4");
  w.node("node-4", {.host = "h4"});
  w.node_gone("h1");
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "h1:2 h2:4 h4:4");
  w.node_gone("node-2");
  w.node("node-5", {.host = "h2"});  // the host has another node
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "h1:2 h2:4 h4:4");
}

// TAS-12: labels and tolerations of a flavor count from the next cycle on; who runs keeps what it has.
TEST(Topologies, AFlavorMayChange) {
  Fleet w;
  w.set_up();
  w.node("n1", {.taint = "kept"});
  w.node("n2", {.pool = "other"});
  w.observe(w.gang("j", 4, 1'000, {.required = host}));
  (void)w.pass();
  EXPECT_NE(w.pending("j"), "");
  w.tas_flavor("t", "kept");
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n1:4");
  w.observe(w.gang("k", 4, 1'000, {.required = host}));
  (void)w.pass();
  EXPECT_NE(w.pending("k"), "");
  w.tas_flavor("other", "kept");
  (void)w.pass();
  EXPECT_EQ(w.places("k"), "n2:4");
  w.tas_flavor("t", "kept");
  w.observe(w.gang("l", 1, 1'000, {.required = host}));
  (void)w.pass();
  EXPECT_NE(w.pending("l"), "") << "n1 is full of what runs";
}

// TAS-50: a level that there is not is no end: it waits, and is tried when the topology has it.
TEST(Topologies, AnUnknownLevelWaits) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.observe(w.gang("j", 2, 1'000, {.required = "row"}));
  (void)w.pass();
  EXPECT_EQ(w.pending("j"),
            "NoMatchingFlavor: couldn't assign flavors to pod set main: Flavor \"default\" does not contain the requested level");
  EXPECT_TRUE(w.state("j").active);
  w.topology({"block", "row", host});
  (void)w.pass();
  EXPECT_TRUE(w.pending("j").starts_with("TopologyPlacementFailed")) << "no node has a row: " << w.pending("j");
  w.topology({"rack", host});
  w.observe(w.gang("k", 2, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.places("k"), "n1:2");
}

// TAS-8: nodes that lack the label of a new level have no room, until they get it.
TEST(Topologies, ANewLevelCountsTheNodesThatHaveIt) {
  Fleet w;
  w.set_up();
  for (const char* name : {"n1", "n2", "n3"}) w.node(name, {.row = std::string(name) == "n1" ? "a" : ""});
  w.topology({"row", "rack", host});
  w.observe(w.gang("wide", 2, 4'000, {.unconstrained = true}));
  (void)w.settle();
  EXPECT_FALSE(w.state("wide").reserved()) << "of three nodes one has a row";
  w.node("n2", {.row = "a"});
  (void)w.pass();
  EXPECT_EQ(w.places("wide"), "n1:1 n2:1");
}

/// A gang whose one container may have from 1 to 3 cores, and takes what there is.
WorkloadObserved growing(Fleet& w, const std::string& name) {
  auto o = w.gang(name, 1, 1'000, {.required = host});
  auto sets = w.arena().make<PodSetFacts>(1);
  sets[0] = o.pod_sets[0];
  auto amounts = w.arena().make<SizedAmount>(1);
  amounts[0] = {"cpu", 1'000, {}, 1'000, 3'000, 1'000};
  auto containers = w.arena().make<SizedContainer>(1);
  containers[0] = {"c", ContainerRole::main, amounts};
  sets[0].sized = containers;
  o.pod_sets = sets;
  o.resource_policy = ResourcePolicy::fit;
  o.resource_bounds = "{}";
  w.remember(o);
  return o;
}

// MR-58: pods of a plan take of their nodes what the plan says, and a plan that no node could hold is none.
TEST(Topologies, APlanTakesWhatItSays) {
  for (const int cores : {4, 2}) {
    Fleet w;
    Settings settings;
    settings.adjust_resources = true;
    w.configure(settings);
    w.set_up();
    w.node("n1", {.cores = cores});
    w.observe(growing(w, "grows"));
    (void)w.settle();
    ASSERT_TRUE(w.state("grows").reserved()) << w.pending("grows");
    ASSERT_EQ(w.state("grows").plan.size(), 1U);
    EXPECT_EQ(w.state("grows").plan[0].amount, cores == 4 ? 3'000 : 2'000);
    w.observe(w.gang("two", 1, 2'000, {.required = host}));
    (void)w.settle();
    EXPECT_FALSE(w.state("two").reserved()) << "there is one core at most";
    w.observe(w.gang("one", 1, 1'000, {.required = host}));
    (void)w.settle();
    EXPECT_EQ(w.state("one").reserved(), cores == 4);
  }
}

// SG-56: who is held back by a gate takes no places, and gets them when it is gone.
TEST(Topologies, AGatedWorkloadTakesNoPlaces) {
  Fleet w;
  w.set_up();
  w.node("n1");
  auto gated = w.gang("gated", 1, 4'000, {.required = host}, 9);
  gated.admission_gated_by = "example.com/wait";
  w.remember(gated);
  w.observe(gated);
  (void)w.settle();
  EXPECT_FALSE(w.state("gated").reserved());
  w.observe(w.gang("other", 1, 4'000, {.required = host}));
  (void)w.settle();
  EXPECT_EQ(w.places("other"), "n1:1");
  w.finish("other");
  (void)w.settle();
  auto free = w.seen_as("gated");
  free.admission_gated_by = "";
  w.remember(free);
  w.observe(free);
  (void)w.pass();
  EXPECT_EQ(w.places("gated"), "n1:1");
}

// TAS-13
TEST(Topologies, AQueueWaitsForItsTopology) {
  Fleet w;
  w.namespace_("default");
  w.tas_flavor();
  w.queue({.name = "q", .cpu = 100'000});
  w.local_queue("lq", "q");
  w.node("n1");
  w.observe(MirrorSynced{});
  w.observe(w.gang("j", 2, 1'000, {.required = host}));
  (void)w.pass();
  const auto activity = w.driver().domain().catalog()->activity.at(Symbol("q"));
  EXPECT_EQ(activity.reason, "TopologyNotFound");
  EXPECT_EQ(activity.message, "Can't admit new workloads: there is no Topology \"racks\" for TAS flavor \"default\".");
  w.topology();
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n1:2");
}

// TAS-6, TAS-7, TAS-14: who runs is not touched when levels change or the topology goes and comes back; its places are taken.
TEST(Topologies, WhoRunsStaysWhereItIsWhenTheTopologyChanges) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.node("n2");
  w.observe(w.gang("j", 6, 1'000, {.required = "rack"}));
  (void)w.pass();
  ASSERT_EQ(w.places("j"), "n1:4 n2:2");
  w.topology({"block", host});
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n1:4 n2:2");
  w.observe(w.gang("k", 3, 1'000, {.required = host}));
  w.observe(w.gang("gone", 1, 1'000, {.required = "rack"}));
  (void)w.pass();
  EXPECT_EQ(w.pending("k").substr(0, 15), "WaitingForQuota");
  EXPECT_EQ(w.pending("gone"),
            "NoMatchingFlavor: couldn't assign flavors to pod set main: Flavor \"default\" does not contain the requested level");
  w.observe(ObjectDeleted{ObjectKind::topology, {}, "racks", "racks", {}});
  (void)w.pass();
  w.topology();
  (void)w.pass();
  EXPECT_EQ(w.places("j"), "n1:4 n2:2");
  EXPECT_EQ(w.pending("k").substr(0, 15), "WaitingForQuota");
  EXPECT_EQ(w.places("gone"), "n2:1");
}

// TAS-21, TAS-22: a node in use that goes, and comes back with less than is in use.
TEST(Topologies, ANodeInUseGoesAndComesBack) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.observe(w.gang("j", 3, 1'000, {.required = host}));
  (void)w.pass();
  w.node_gone("n1");
  w.observe(w.gang("k", 1, 1'000, {.required = host}));
  (void)w.pass();
  EXPECT_EQ(w.pending("k").substr(0, 23), "TopologyPlacementFailed");
  w.node("n1", {.cores = 2});
  (void)w.pass();
  EXPECT_EQ(w.pending("k"),
            "WaitingForQuota: couldn't assign flavors to pod set main: topology \"racks\" doesn't allow to fit any of 1 pod(s). "
            "Total nodes: 1; excluded: resource \"cpu\": 1");
  w.node("n1");
  (void)w.pass();
  EXPECT_EQ(w.places("k"), "n1:1");
}

// TAS-32, TAS-36: a log that begins anew counts what the API server says that Workloads have.
TEST(Topologies, WhatTheServerShowsIsCounted) {
  Fleet w;
  w.set_up();
  w.node("n1");
  w.node("n2");
  w.observe(w.gang("j", 6, 1'000, {.required = "rack"}));
  (void)w.pass();
  const auto shown = w.seen_as("j");
  w.observe(shown);
  EXPECT_FALSE(w.state("j").waits_for(Section::admission)) << "what is shown is what was decided";

  Fleet other;
  other.set_up();
  auto again = shown;
  again.meta.resource_version = 1;
  other.remember(again);
  other.observe(again);
  other.node("n2");
  other.node("n1");
  other.observe(other.gang("k", 3, 1'000, {.required = host}));
  other.observe(other.gang("l", 2, 1'000, {.required = host}));
  (void)other.pass();
  EXPECT_EQ(other.places("j"), "n1:4 n2:2");
  EXPECT_EQ(other.pending("k").substr(0, 15), "WaitingForQuota");
  EXPECT_EQ(other.places("l"), "n2:2");
  other.finish("j");
  (void)other.pass();
  EXPECT_EQ(other.places("k"), "n1:3");
}

// Trees that share hosts are one tree for as long as they do (2724 §7, note 8).
TEST(Topologies, QueuesThatShareHostsAreDecidedTogether) {
  Fleet w;
  w.set_up();
  w.queue({.name = "other", .cpu = 100'000});
  w.queue({.name = "third", .cohort = "co", .cpu = 100'000});
  w.local_queue("lo", "other");
  w.local_queue("lt", "third");
  w.node("n1", {.cores = 4});
  const auto root = [&](const char* queue) { return std::string(w.driver().domain().root_of(Symbol(queue)).text()); };
  EXPECT_EQ(root("q"), "co");
  EXPECT_EQ(root("other"), "co");
  EXPECT_EQ(root("third"), "co");
  int n = 0;
  for (const char* queue : {"lq", "lo", "lt"}) {
    auto j = w.gang("j" + std::to_string(n++), 3, 1'000, {.required = host});
    j.queue_name = queue;
    w.observe(j);
  }
  (void)w.pass();
  int placed = 0;
  for (const char* name : {"j0", "j1", "j2"}) placed += w.state(name).reserved() ? 1 : 0;
  EXPECT_EQ(placed, 1);

  Settings off;
  off.topologies = false;
  w.configure(off);
  (void)w.pass();
  EXPECT_EQ(root("q"), "q");
  EXPECT_EQ(root("other"), "other");
  EXPECT_EQ(root("third"), "co");
  for (const char* name : {"j0", "j1", "j2"}) EXPECT_TRUE(w.state(name).reserved()) << name << ": nobody looks for places now";
  w.configure(Settings{});
  (void)w.pass();
  EXPECT_EQ(root("other"), "co");
  w.observe(ObjectDeleted{ObjectKind::cluster_queue, {}, "third", "third", {}});
  (void)w.pass();
  EXPECT_EQ(root("q"), "other");
}

// ---- random histories -----------------------------------------------------------------------------------------------------------------

struct History {
  std::vector<std::string> decided;
  std::uint64_t hash = 0;
  std::size_t placed = 0, preempted = 0, placed_later = 0;
  std::size_t parts = 0;  ///< In which topologies were counted.
};

/// Nodes, workloads and topologies change by chance; whoever is placed is placed where there is room for all of its pods.
/// `part_leaves`: topologies are counted in parts of so many leaves; 0: they are too small for that.
History play(std::uint32_t seed, LoopDriver::Order order, bool with_snapshot, std::size_t part_leaves = 0) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  auto w = std::make_unique<Fleet>(order);
  if (part_leaves != 0) w->driver().entities().domain().cut_topologies(part_leaves);
  if (seed % 3 == 1) {
    Settings compact;
    compact.compact_topologies = true;
    w->configure(compact);
  }
  w->set_up(24'000, PreemptionPolicy::lower_priority);
  w->check("prov", true, "kueue.x-k8s.io/provisioning-request");
  w->queue({.name = "late", .cpu = 12'000, .check = "prov"});
  w->local_queue("lq-late", "late");
  std::set<std::string> late;  ///< Those whose places are found once their check is ready.
  std::map<std::string, Fleet::Node> nodes;
  std::map<std::string, Ask> asked;
  std::map<std::string, std::int32_t> counts;
  std::map<std::string, Amount> sizes;
  std::set<std::string> live;
  History out;
  const auto settle = [&] {
    for (int steps = 0;; ++steps) {
      if (steps == 500) throw std::runtime_error("the domain does not come to rest");
      const auto step = w->driver().decide();
      if (!step) return;
      w->observe_decision(*step);
      for (const Event& e : step->events) {
        if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {
          out.decided.push_back("preempted " + std::string(p->workload.name));
          ++out.preempted;
        }
        const auto* q = std::get_if<QuotaReserved>(&e);
        const auto* t = std::get_if<TopologyAssigned>(&e);
        if (q == nullptr && t == nullptr) continue;
        const std::string name(q != nullptr ? q->workload.name : t->workload.name);
        out.decided.push_back("placed " + name + " " + w->places(name));
        ++out.placed;
        out.placed_later += t != nullptr;
        const auto& assigned = q != nullptr ? q->assignments[0] : t->assignments[0];
        EXPECT_EQ(assigned.delayed, t != nullptr          ? DelayedTopology::ready
                                    : late.contains(name) ? DelayedTopology::pending
                                                          : DelayedTopology::none)
            << seed << " " << name;
        if (assigned.delayed == DelayedTopology::pending) {
          EXPECT_TRUE(assigned.topology.empty());
          continue;
        }
        std::int32_t sum = 0;
        std::set<std::string> racks, blocks;
        std::map<std::string, std::int32_t> of_rack;
        for (const auto& d : assigned.topology) {
          const std::string on(d.values.back());
          const auto node = nodes.find(on);
          EXPECT_TRUE(node != nodes.end() && node->second.ready && !node->second.unschedulable) << seed << " " << name << " on " << on;
          if (node == nodes.end()) continue;
          EXPECT_GT(d.count, 0);
          sum += d.count;
          racks.insert(node->second.block + "/" + node->second.rack);
          of_rack[node->second.block + "/" + node->second.rack] += d.count;
          blocks.insert(node->second.block);
          Amount used = 0;  // of this host, by all that hold quota now
          for (const auto& other : live) {
            const WorkloadState& s = w->state(other);
            if (!s.reserved() || s.finished()) continue;
            const TopologyAssignment& where = s.admission->pod_sets[0].topology;
            for (std::size_t i = 0; i < where.size(); ++i)
              if (where.domain(i).back().text() == on) used += where.counts[i] * sizes[other];
          }
          EXPECT_LE(used, node->second.cores * 1'000) << "seed " << seed << ": " << name << " on " << on;
        }
        EXPECT_EQ(sum, counts[name]) << seed << " " << name;
        if (asked[name].required == "rack") {
          EXPECT_EQ(racks.size(), 1U) << seed << " " << name;
        }
        if (asked[name].required == "block") {
          EXPECT_EQ(blocks.size(), 1U) << seed << " " << name;
        }
        if (asked[name].slice_size > 0) {
          for (const auto& [rack, n] : of_rack) {
            EXPECT_EQ(n % asked[name].slice_size, 0) << seed << " " << name;
          }
        }
      }
    }
  };
  int next = 0;
  for (int round = 0; round < 60; ++round) {
    const auto name_of_node = "n" + std::to_string(below(8));
    switch (below(6)) {
      case 0: {
        Fleet::Node n{"b" + std::to_string(below(2)), "r" + std::to_string(below(2)), 1 + below(5), below(6) != 0, below(8) == 0};
        nodes[name_of_node] = n;
        w->node(name_of_node, n);
        break;
      }
      case 1:
        if (below(3) == 0 && nodes.erase(name_of_node) != 0) w->node_gone(name_of_node);
        break;
      case 2:
        if (!live.empty()) {
          auto it = live.begin();
          std::advance(it, below(static_cast<std::uint32_t>(live.size())));
          const WorkloadState& state = w->state(*it);
          if (late.contains(*it) && state.reserved() && !state.admitted()) {
            w->observe(w->seen_as(*it));  // what we wrote is there before somebody changes it
            auto o = w->seen_as(*it);
            auto checks = w->arena().make<CheckFacts>(1);
            checks[0].name = "prov";
            checks[0].state = below(5) == 0 ? CheckState::retry : CheckState::ready;
            checks[0].last_transition = w->now;
            o.checks = checks;
            w->observe(o);
          } else if (state.reserved()) {
            w->finish(*it);
            live.erase(it);
          }
        }
        break;
      default: {
        const std::string name = "w" + std::to_string(next++);
        Ask ask;
        switch (below(6)) {
          case 0:
            ask.required = "rack";
            break;
          case 1:
            ask.required = "block";
            break;
          case 2:
            ask.preferred = "rack";
            break;
          case 3:
            ask.unconstrained = true;
            break;
          case 4:
            ask.preferred = "block";
            ask.slice_level = "rack";
            ask.slice_size = 2;
            break;
          default:
            break;  // implied
        }
        counts[name] = ask.slice_size > 0 ? 2 * static_cast<std::int32_t>(1 + below(3)) : static_cast<std::int32_t>(1 + below(6));
        sizes[name] = 1'000 * static_cast<Amount>(1 + below(2));
        asked[name] = ask;
        live.insert(name);
        auto o = w->gang(name, counts[name], sizes[name], ask, static_cast<std::int32_t>(below(3)));
        if (below(4) == 0) {
          late.insert(name);
          o.queue_name = "lq-late";
          w->remember(o);
        }
        w->observe(o);
        break;
      }
    }
    w->tick(Duration::millis(400));
    settle();
    if (with_snapshot && round == 30) {
      // The world writes on from here; the domain that reads is another one.
      const auto bytes = SnapshotCodec::write(w->driver());
      auto copy = std::make_unique<Fleet>();
      const auto read = SnapshotCodec::read(bytes, copy->driver());
      EXPECT_TRUE(read) << read.error().message;
      EXPECT_EQ(copy->driver().state_hash(), w->driver().state_hash());
    }
  }
  out.hash = w->driver().state_hash();
  out.parts = w->driver().entities().topology_domains();
  return out;
}

// TAS-32, TAS-68, TAS-69, TAS-91: no host beyond what it has, each pod on one, and as close as was asked.
TEST(TopologyHistories, NobodyIsPlacedWhereThereIsNoRoom) {
  std::size_t placed = 0, preempted = 0, placed_later = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const auto h = play(seed, {}, seed % 10 == 0);
    placed += h.placed;
    preempted += h.preempted;
    placed_later += h.placed_later;
  }
  EXPECT_GT(placed, 900U);
  EXPECT_GT(preempted, 100U);
  EXPECT_GT(placed_later, 30U);
}

// Placement does not depend on the order in which entities hear of each other, or on the parts in which topologies are counted (§3.5,
// TAS-63).
TEST(TopologyHistories, TheOrderOfMessagesAndTheCutDoNotShow) {
  std::size_t parts = 0;
  for (std::uint32_t seed = 0; seed < 25; ++seed) {
    std::mt19937 random(seed + 99);
    const auto other = play(
        seed, [&](std::size_t n) { return random() % n; }, false, seed % 3);
    const auto plain = play(seed, {}, false);
    EXPECT_EQ(other.decided, plain.decided) << seed;
    EXPECT_EQ(other.hash, plain.hash) << seed;
    EXPECT_EQ(plain.parts, 0U);
    parts = std::max(parts, other.parts);
  }
  EXPECT_GT(parts, 3U);
}

}  // namespace
}  // namespace hindsight::admission::testing
