// Elastic jobs on flavors with a topology, with gate ElasticJobsViaWorkloadSlicesWithTAS (77 §3.12): pods that run stay where they are.

#include "admission/rules.hpp"
#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/placed_job.hpp"

namespace hindsight::admission::testing {
namespace {

class ElasticPlaces : public PlacedPods {
 protected:
  void SetUp() override {
    elastic_ = anywhere_ = true;
    Settings settings;
    settings.elastic_topologies = true;
    w.configure(settings);
    w.set_up();
    for (const char* name : {"n1", "n2", "n3"}) w.node(name, {.cores = 2});
  }
  /// Each host has room for one pod while the job starts: so one pod stands on each of the first two.
  void start_on_two_hosts() {
    w.used("n1", 1);
    w.used("n2", 1);
    w.used("n3", 2);
    start(2);
    ASSERT_EQ(w.places("wl"), "n1:1 n2:1");
    for (const char* name : {"n1", "n2", "n3"}) w.used(name, 0, 0);
    (void)w.settle();
  }
  /// The job asks for so many pods, and another slice is made for them.
  std::string grow(std::int32_t pods, const std::string& from) {
    job(pods, false);
    (void)w.settle();
    const std::string name = "wl-" + std::to_string(generation_);
    workload(name, pods, from);
    (void)w.pass();
    return name;
  }
  /// Two pods run, and two more get places on the third host.
  void grow_to_four() {
    start_on_two_hosts();
    run(2);
    (void)grow(4, "wl");
    job(4, false);
    (void)w.settle();
    for (const int i : {2, 3}) pod("p" + std::to_string(i), {.index = i});
    ASSERT_EQ(placed(), "p2 n3 p3 n3");
  }
  std::string message(const std::string& name) { return w.state(name).find(ConditionType::quota_reserved)->message; }
  /// The job asks for fewer, and its Workload says so.
  void shrink(const std::string& name, std::int32_t pods) {
    job(pods, false);
    (void)w.settle();
    auto o = w.seen_as(name);
    o.pod_sets = sets(pods);
    w.remember(o);
    w.observe(o);
    (void)w.settle();
  }
};

// EJ-108, TAS-119, E27: what runs stays, and only what is more is placed.
TEST_F(ElasticPlaces, AGrownSliceKeepsThePlacesOfTheOldOne) {
  start_on_two_hosts();
  const auto name = grow(4, "wl");
  EXPECT_EQ(w.places(name), "n1:1 n2:1 n3:2");
  EXPECT_TRUE(w.state("wl").finished());
  w.observe(w.gang("other", 1, 2'000, {.unconstrained = true}));
  (void)w.settle();
  EXPECT_FALSE(w.state("other").reserved()) << "no host has two cores any more: nothing was counted twice, and nothing forgotten";
  w.observe(w.gang("one", 1, 1'000, {.unconstrained = true}));
  (void)w.settle();
  EXPECT_EQ(w.places("one"), "n1:1");
}

// EJ-108: the profile Compact chooses for those that are more, and moves nobody.
TEST_F(ElasticPlaces, AGrownSliceKeepsItsPlacesWithTheProfileCompact) {
  Settings settings;
  settings.elastic_topologies = settings.compact_topologies = true;
  w.configure(settings);
  start_on_two_hosts();
  const auto name = grow(4, "wl");
  EXPECT_EQ(w.places(name), "n1:1 n2:1 n3:2");
  shrink(name, 3);
  EXPECT_EQ(w.places(grow(4, name)), "n1:2 n2:1 n3:1") << "one of them had gone from the last host";
}

// EJ-107: without the gate a slice is placed anew as a whole.
TEST_F(ElasticPlaces, WithoutTheGateASliceIsPlacedAnew) {
  Settings settings;
  settings.elastic_topologies = false;
  w.configure(settings);
  start_on_two_hosts();
  for (const char* name : {"n4", "n5"}) w.node(name, {.cores = 4});
  EXPECT_EQ(w.places(grow(4, "wl")), "n4:4");
}

// EJ-107, TAS-119
TEST_F(ElasticPlaces, OneDomainCannotBeAskedFor) {
  anywhere_ = false;
  job(2, true);
  (void)w.settle();
  workload("wl", 2);
  (void)w.pass();
  EXPECT_FALSE(w.state("wl").reserved());
  EXPECT_NE(message("wl").find("required topology is not supported with ElasticJobsViaWorkloadSlices"), std::string::npos) << message("wl");
}

// EJ-109, EJ-113, EJ-114: a job that became smaller holds the places of the pods that are left, and grows from there.
TEST_F(ElasticPlaces, AShrunkSliceHoldsThePlacesOfItsSurvivors) {
  start_on_two_hosts();
  run(2);
  shrink("wl", 1);
  const auto other = [&](const std::string& name) {
    w.observe(w.gang(name, 1, 2'000, {.unconstrained = true}));
    (void)w.pass();
    return w.places(name);
  };
  EXPECT_EQ(other("third"), "n3:1") << "the only host with two cores";
  EXPECT_EQ(other("early").substr(0, 15), "WaitingForQuota") << "both pods still run";
  pod("p0", {.index = 0, .gated = false, .on = "n1", .ended = true, .node = "n1"});  // the one that is left stands on the second host
  (void)w.pass();
  EXPECT_EQ(w.places("early"), "n1:1");
  const auto name = grow(2, "wl");
  EXPECT_EQ(w.places(name), "n2:2") << "beside the survivor";
}

// EJ-111: while the node of a pod that runs is away the resize waits: the pod cannot move.
TEST_F(ElasticPlaces, AResizeWaitsForANodeThatIsAway) {
  start_on_two_hosts();
  run(2);
  w.node("n1", {.cores = 2, .ready = false});
  (void)w.settle();
  const auto name = grow(4, "wl");
  ASSERT_FALSE(w.state(name).reserved());
  EXPECT_NE(message(name).find(
                "the slice that it replaces has pods in the domain n1, which is not there now: the resize waits until its nodes are back"),
            std::string::npos)
      << message(name);
  EXPECT_TRUE(w.state("wl").admitted());
  w.node("n1", {.cores = 2});
  (void)w.pass();
  EXPECT_EQ(w.places(name), "n1:1 n2:1 n3:2");
}

// EJ-112, TAS-96, TAS-98: the pods of a node that has failed get other places, and a resize goes on from there.
TEST_F(ElasticPlaces, AFailedNodeIsReplaced) {
  start_on_two_hosts();
  run(2);
  w.node_gone("n1");
  EXPECT_EQ(decided(), "nodes n1 / reassigned n2:2");
  const auto gone = [&] { w.observe(ObjectDeleted{ObjectKind::pod, "default", "p0", "pod-p0", {}}); };
  gone();
  pod("q0", {.index = 0});
  EXPECT_EQ(placed(), "q0 n2");
  const auto name = grow(4, "wl");
  EXPECT_EQ(w.places(name), "n2:2 n3:2");
  EXPECT_EQ(decided(), "");
}

// EJ-112: the same with the size of a job that asked for more while its node failed. The one that waits is tried again once it is repaired.
TEST_F(ElasticPlaces, AResizeGoesOnAfterTheRepair) {
  Settings settings;
  settings.elastic_topologies = true;
  settings.replace_or_evict = false;
  w.configure(settings);
  start_on_two_hosts();
  run(2);
  w.used("n2", 1);
  w.used("n3", 2);
  w.node_gone("n1");
  EXPECT_EQ(decided(), "nodes n1") << "there is no room anywhere";
  const auto name = grow(3, "wl");
  ASSERT_FALSE(w.state(name).reserved());
  EXPECT_NE(message(name).find("nodes of the slice that it replaces have failed, n1: the resize waits until its pods have other places"),
            std::string::npos)
      << message(name);
  for (const char* node : {"n2", "n3"}) w.used(node, 0, 0);
  EXPECT_EQ(decided(), "reassigned n2:2");
  (void)w.pass();
  EXPECT_EQ(w.places(name), "n2:2 n3:1");
}

// EJ-112: without a place for its pods it is evicted as any other.
TEST_F(ElasticPlaces, WithoutOtherPlacesItIsEvicted) {
  start_on_two_hosts();
  run(2);
  w.used("n2", 1);
  w.used("n3", 2);
  w.node_gone("n1");
  EXPECT_EQ(decided(), "nodes n1 / evicted NodeFailures: Workload was evicted as there was no replacement for unhealthy node(s): n1");
}

// EJ-112, EJ-113: of a job that became smaller only the pods that are left need other places.
TEST_F(ElasticPlaces, OnlySurvivorsNeedOtherPlaces) {
  start_on_two_hosts();
  run(2);
  shrink("wl", 1);
  pod("p0", {.index = 0, .gated = false, .on = "n1", .ended = true, .node = "n1"});
  (void)w.pass();
  w.used("n3", 2);
  w.node_gone("n1");
  EXPECT_EQ(decided(), "") << "nobody of it stands there any more";
  w.node("n1", {.cores = 2});
  w.used("n1", 1);  // room for one, and not for two
  (void)w.settle();
  w.node_gone("n2");
  EXPECT_EQ(decided(), "nodes n2 / reassigned n1:1");
  EXPECT_EQ(w.places("wl"), "n1:1");
}

// EJ-112, TAS-89, TAS-103: a pod that no kubelet took before its node failed can start nowhere. One that was sent where it has no place is
// left alone while there are more pods than there may be, since the job's controller deletes some.
TEST_F(ElasticPlaces, PodsThatCanStartNowhereFail) {
  grow_to_four();
  w.node("n4", {.cores = 2});
  pod("p2", {.index = 2, .gated = false, .on = "n3"});
  pod("p9", {.index = -1, .gated = false, .on = "n4"});  // as if an earlier slice had had a place there
  EXPECT_EQ(decided(), "");
  w.node_gone("n3");
  EXPECT_EQ(decided(), "nodes n3 / failed p2 / failed p9 / reassigned n1:1 n2:1 n4:2");
}

// EJ-113, TAS-37: pods beyond the places that a slice has left on their host are counted until they have gone. By earlier rules they were
// not; by these they are from the first epoch on, for who was there before it and for who reads the state afterwards.
TEST_F(ElasticPlaces, PodsBeyondThePlacesOfTheirSliceAreCounted) {
  w.observe_epoch(rules_with_elastic_repairs - 1);
  w.used("n1", 1);
  w.used("n3", 2);
  start(3);
  ASSERT_EQ(w.places("wl"), "n1:1 n2:2");
  run(3);
  shrink("wl", 1);
  const auto name = grow(2, "wl");
  ASSERT_EQ(w.places(name), "n1:1 n2:1") << "and three pods still run";
  w.observe_epoch();
  const auto bytes = SnapshotCodec::write(w.driver());
  w.observe(w.gang("other", 1, 1'000, {.unconstrained = true}));
  (void)w.pass();
  EXPECT_EQ(w.places("other").substr(0, 15), "WaitingForQuota");
  Fleet copy;
  Settings settings;
  settings.elastic_topologies = true;
  copy.use(settings);
  ASSERT_TRUE(SnapshotCodec::read(bytes, copy.driver()));
  copy.now = w.now;
  copy.observe(copy.gang("other", 1, 1'000, {.unconstrained = true}));
  (void)copy.pass();
  EXPECT_EQ(copy.places("other").substr(0, 15), "WaitingForQuota");
  w.observe(ObjectDeleted{ObjectKind::pod, "default", "p2", "pod-p2", {}});
  (void)w.pass();
  EXPECT_EQ(w.places("other"), "n2:1");
}

// By earlier rules nobody moved, and a log of that time is judged so.
TEST_F(ElasticPlaces, ByEarlierRulesNodesAreNotReplaced) {
  w.observe_epoch(rules_with_elastic_repairs - 1);
  start_on_two_hosts();
  run(2);
  w.node_gone("n1");
  EXPECT_EQ(decided(), "");
  w.node("n1", {.cores = 2});
  EXPECT_EQ(decided(), "");
}

// EJ-110, TAS-119: the leader keeps its domain.
TEST_F(ElasticPlaces, TheLeaderStays) {
  leader_ = true;
  w.used("n1", 1);
  w.used("n2", 1);
  w.used("n3", 1);
  start(1);
  const auto before = w.places("wl");
  for (const char* name : {"n1", "n2", "n3"}) w.used(name, 0, 0);
  (void)w.settle();
  const auto name = grow(3, "wl");
  ASSERT_TRUE(w.state(name).reserved()) << w.pending(name);
  const auto leader = [&](const std::string& of) { return w.state(of).admission->pod_sets[0].topology; };
  EXPECT_EQ(leader(name), leader("wl").empty() ? leader(name) : leader("wl")) << before << " -> " << w.places(name);
  EXPECT_EQ(w.places(name).substr(0, 4), before.substr(0, 4));
}

// EJ-115, TAS-120, EJ-145: pods that are more find the places that were added, by the name of the chain.
TEST_F(ElasticPlaces, PodsThatAreMoreGetThePlacesThatAreMore) {
  grow_to_four();
  EXPECT_EQ(decided(), "");
}

}  // namespace
}  // namespace hindsight::admission::testing
