// Pods of elastic jobs behind their gate on the level of facts: while removals are under way, over replacements, and of clusters that
// another job made (77 §3.8, §3.14).

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class ElasticPods : public ::testing::Test {
 protected:
  FactWorld w;
  Arena arena;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000, .within = PreemptionPolicy::lower_priority});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
    (void)w.driver().collect_intents();
  }

  List<PodSetFacts> pod_sets(std::int32_t workers) {
    auto out = arena.make<PodSetFacts>(2);
    auto requests = arena.make<ResourceAmount>(1);
    requests[0] = {"cpu", 1'000};
    for (auto& p : out) {
      p.requests = requests;
      p.shape_hash = p.template_hash = p.core_hash = 7;
    }
    out[0].name = "head";
    out[1].name = "workers";
    out[1].count = workers;
    return out;
  }
  void job(std::int32_t workers, bool suspended, bool active) {
    JobObserved j = w.job("train", "lq");
    j.kind = "RayJob";
    j.group = "ray.io";
    j.meta.generation = ++generation_;
    j.elastic = true;
    j.suspended = suspended;
    j.active = active;
    j.workload_name = arena.copy("slice-" + std::to_string(generation_));
    j.pod_sets = pod_sets(workers);
    w.observe(j);
  }
  void slice(const std::string& name, std::int32_t workers, const std::string& replaces = "") {
    auto o = w.workload(name, "lq", 1'000);
    o.owner_uid = "job-train";
    o.owner_kind = "RayJob";
    o.owner_name = "train";
    o.elastic = true;
    o.slice_name = "slice-1";
    if (!replaces.empty()) o.replacement_for = arena.copy("default/" + replaces);
    o.pod_sets = pod_sets(workers);
    w.remember(o);
    w.observe(o);
  }
  void start(std::int32_t workers) {
    job(workers, true, false);
    EXPECT_EQ(w.settle(), Lines{"requested slice-1"});
    slice("slice-1", workers);
    (void)w.settle();
    job(workers, false, true);
    (void)w.settle();
  }
  /// The job grows, and its new slice is made; what follows is for `settle`.
  void grow(std::int32_t workers) {
    job(workers, false, true);
    (void)w.settle();
    slice("slice-" + std::to_string(generation_), workers, "slice-1");
  }
  void pod(const std::string& name, std::string_view pod_set, bool gated, std::string_view owner = "job-train") {
    PodObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = arena.copy(name);
    o.meta.uid = arena.copy("pod-" + name);
    o.meta.resource_version = w.next_version();
    o.owner_uid = owner;
    o.pod_set = pod_set;
    o.slice_name = "slice-1";
    o.gated = gated;
    w.observe(o);
  }
  /// The RayCluster that the RayJob made.
  void cluster(std::string_view owner) {
    JobObserved j = w.job("cluster", "lq");
    j.kind = "RayCluster";
    j.group = "ray.io";
    j.elastic = true;
    j.suspended = false;
    j.active = true;
    j.owner_uid = owner;
    j.owner_kind = "RayJob";
    j.owner_name = "train";
    j.pod_sets = pod_sets(2);
    w.observe(j);
  }
  /// Decides until at rest; names of the pods that were released, in the order of the decision.
  Lines released() {
    Lines out;
    for (int i = 0; i < 100; ++i) {
      const auto step = w.driver().decide();
      if (!step) return out;
      for (const Event& e : step->events)
        if (const auto* r = std::get_if<PodsReleased>(&e))
          for (const auto& p : r->pods) out.emplace_back(p.name);
      w.observe_decision(*step);
    }
    ADD_FAILURE() << "the domain does not come to rest";
    return out;
  }
  const WorkloadState* find(std::string_view name) {
    for (const auto& x : w.driver().parent(*w.driver().domain().find_parent("job-train"))->workloads())
      if (x.name == name) return &x;
    return nullptr;
  }
  void refuse(const std::string& pod_name) {
    WriteRefused refused;
    refused.kind = ObjectKind::pod;
    refused.uid = arena.copy("pod-" + pod_name);
    refused.http_status = 422;
    w.observe(refused);
  }

 private:
  std::int64_t generation_ = 0;
};

// EJ-79: none is released while others of the chain are on their way, also over a replacement; a refusal ends the waiting
TEST_F(ElasticPods, RemovalsAreWaitedFor) {
  start(3);
  pod("a", "workers", true);
  EXPECT_EQ(released(), Lines{"a"});
  pod("b", "workers", true);
  EXPECT_EQ(released(), Lines{}) << "the gate of a is still seen";
  grow(5);
  EXPECT_EQ(released(), Lines{}) << "the new slice knows of it";
  ASSERT_TRUE(find("slice-3")->admitted());
  pod("a", "workers", false);
  EXPECT_EQ(released(), Lines{"b"});
  pod("c", "workers", true);
  refuse("b");
  EXPECT_EQ(released(), (Lines{"b", "c"})) << "what was refused is tried again";
  w.observe(ObjectDeleted{ObjectKind::pod, "default", "b", "pod-b"});
  pod("c", "workers", false);
  pod("d", "workers", true);
  EXPECT_EQ(released(), Lines{"d"}) << "one that has gone is not waited for";
}

// EJ-78, EJ-131: pods of the cluster that a RayJob made are released by the slices of the job, whoever is seen first, and the cluster
// gets no Workload of its own
TEST_F(ElasticPods, TheClusterOfARayJobIsReleasedByTheSlicesOfTheJob) {
  pod("head", "head", true, "job-cluster");  // before anybody knows whose they are
  cluster("job-train");
  start(2);
  EXPECT_EQ(w.wanted<WorkloadCreateIntent>().size(), 0U) << "for the cluster";
  pod("w-1", "workers", true, "job-cluster");
  pod("w-2", "workers", true, "job-cluster");
  pod("w-3", "workers", true, "job-cluster");
  const auto parent = w.driver().domain().find_parent("job-train");
  EXPECT_EQ(w.driver().parent(*parent)->pods().size(), 4U);
  EXPECT_EQ(released().size(), 0U) << "the head is on its way";
  for (const auto& intent : w.wanted<PodReleaseIntent>()) EXPECT_EQ(intent.name, "head");
  pod("head", "head", false, "job-cluster");
  EXPECT_EQ(released(), (Lines{"w-1", "w-2"})) << "as many as the slice grants";
  pod("w-1", "workers", false, "job-cluster");
  pod("w-2", "workers", false, "job-cluster");
  EXPECT_EQ(released(), Lines{});
  grow(3);
  EXPECT_EQ(released(), Lines{"w-3"});

  // a refusal and a deletion find their way, too
  refuse("w-3");
  EXPECT_EQ(released(), Lines{"w-3"});
  w.observe(ObjectDeleted{ObjectKind::job, "default", "cluster", "job-cluster"});
  w.observe(ObjectDeleted{ObjectKind::pod, "default", "w-3", "pod-w-3"});
  EXPECT_EQ(w.driver().parent(*parent)->pods().size(), 3U);
}

// EJ-78: a snapshot keeps who looks after which pod
TEST_F(ElasticPods, ASnapshotKnowsWhoLooksAfterAPod) {
  cluster("job-train");
  start(2);
  pod("w-1", "workers", true, "job-cluster");
  pod("w-2", "workers", false, "job-cluster");
  (void)released();
  FactWorld copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  copy.observe(ObjectDeleted{ObjectKind::pod, "default", "w-2", "pod-w-2"});
  EXPECT_EQ(copy.driver().parent(*copy.driver().domain().find_parent("job-train"))->pods().size(), 1U);
}

// EJ-92: the cluster runs on while the latest slice of its job waits, and is stopped when the job is evicted
TEST_F(ElasticPods, AClusterRunsWhileALargerSliceWaits) {
  cluster("job-train");
  start(2);
  (void)w.wanted<JobIntent>();
  grow(30);
  (void)w.settle();
  ASSERT_FALSE(find("slice-3")->admitted());
  const auto child = w.driver().domain().find_parent("job-cluster");
  EXPECT_FALSE(w.driver().parent(*child)->runs_before_its_ancestor());
  auto high = w.workload("high", "lq", 9'000, 100);
  w.observe(high);
  (void)w.settle();
  ASSERT_TRUE(find("slice-1")->evicted());
  EXPECT_TRUE(w.driver().parent(*child)->runs_before_its_ancestor());
}

// EJ-93: what was preempted waits for the size that it had last, charged in full; when that can never fit, it says so
TEST_F(ElasticPods, APreemptedJobComesBackAtItsLastSize) {
  start(2);
  grow(5);
  (void)w.settle();
  ASSERT_TRUE(find("slice-3")->admitted());
  auto high = w.workload("high", "lq", 9'000, 100);
  w.observe(high);
  (void)w.settle();
  ASSERT_TRUE(find("slice-3")->evicted());
  job(5, true, false);
  (void)w.settle();
  w.tick(Duration::seconds(2));
  (void)w.settle();
  const auto pending = [&] { return std::string(find("slice-3")->find(ConditionType::quota_reserved)->reason.text()); };
  ASSERT_TRUE(w.state("high").admitted());
  EXPECT_FALSE(find("slice-3")->reserved());
  EXPECT_EQ(find("slice-3")->pod_sets[1].count, 5);
  EXPECT_EQ(pending(), "WaitingForQuota");
  w.queue({.name = "cq", .cpu = 5'000, .within = PreemptionPolicy::lower_priority});
  w.tick(Duration::seconds(2));
  (void)w.settle();
  EXPECT_EQ(pending(), "ExceedsMaxQuota") << "six pods in full, and not one more than it had";
}

// EJ-133: a resize of the workers neither stops the job nor touches the head
TEST_F(ElasticPods, TheHeadSurvivesEveryResize) {
  start(2);
  pod("head", "head", true);
  EXPECT_EQ(released(), Lines{"head"});
  pod("head", "head", false);
  (void)w.driver().collect_intents();
  int next = 0;
  for (const std::int32_t workers : {5, 1, 4, 0, 3}) {
    job(workers, false, true);
    for (const auto& line : w.settle()) {
      EXPECT_EQ(line.find("stopped"), std::string::npos) << line;
      if (!line.starts_with("requested ")) continue;
      const auto* now = find("slice-1");
      for (const auto& x : w.driver().parent(*w.driver().domain().find_parent("job-train"))->workloads())
        if (!x.finished()) now = &x;
      slice(line.substr(10), workers, now->name.text());
    }
    pod("w-" + std::to_string(next++), "workers", true);
    for (const auto& name : released()) EXPECT_NE(name, "head");
    for (const auto& intent : w.wanted<JobIntent>()) EXPECT_TRUE(intent.run);
    for (const auto& intent : w.wanted<PodReleaseIntent>()) EXPECT_NE(intent.name, "head");
  }
}

}  // namespace
}  // namespace hindsight::admission::testing
