// What the worked examples of 77 §4 say beside what elastic_jobs_test.cpp proves of them: names, messages, usage at every record, events,
// metrics and pods; the examples of Ray clusters; and threads of 77 §6 that nothing else proves.

#include <algorithm>

#include <gtest/gtest.h>

#include "connectors/jobs/workload_name.hpp"
#include "events/memory_log.hpp"
#include "tests/simulation/elastic_story.hpp"
#include "tests/simulation/elastic_told.hpp"

namespace hindsight::simulation {
namespace {

using connectors::workload_name;

Time at(std::int64_t seconds) { return connectors::simulated::virtual_start + Duration::seconds(seconds); }

/// A Workload after a step. `key`: "train", "train#1" of a Job, or in full.
const Json& workload(const ScenarioResult& r, std::size_t step, const std::string& key) {
  return r.states.at("states").at(step).at("workloads").at(key.find('/') == std::string::npos ? "Job/default/" + key : key);
}

/// "True Preempted" of a condition after a step; empty: it is not there.
std::string stands(const ScenarioResult& r, std::size_t step, const std::string& key, const std::string& type) {
  const Json& conditions = workload(r, step, key).at("conditions");
  const auto it = conditions.find(type);
  if (it == conditions.end()) return "";
  return it->at(0).get<std::string>() + " " + it->at(1).get<std::string>();
}

/// Pods that still carry the gate, by name.
Lines waiting(const ScenarioResult& r) {
  Lines out;
  for (const auto& [key, pod] : r.world->simulated().store().of_kind("Pod"))
    for (const auto& gate : pod->spec().value("schedulingGates", Json::array()))
      if (gate["name"] == "kueue.x-k8s.io/elastic-job") out.push_back(pod->name);
  return out;
}

std::string job_uid(const ScenarioResult& r, const std::string& job) { return r.world->simulated().find("Job", "default", job)->uid; }

constexpr const char* no_place = "couldn't assign flavors to pod set main: ";

// EJ-9: the names that all examples use
TEST(ElasticExamples, SlicesAreNamedByTheGenerationOfTheirOwner) {
  constexpr const char* uid = "11111111-2222-3333-4444-555555555555";
  const Lines jobs{"job-train-92063", "job-train-f0a9b", "job-train-1fbd1", "job-train-441c0"};
  const Lines clusters{"raycluster-rc-90310", "raycluster-rc-a8f95", "raycluster-rc-b0ce6", "raycluster-rc-267f7"};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(workload_name("Job", "batch", "train", uid, std::to_string(i + 1)), jobs[i]);
    EXPECT_EQ(workload_name("RayCluster", "ray.io", "rc", uid, std::to_string(i + 1)), clusters[i]);
  }
}

// EJ-7, EJ-9, EJ-57, EJ-58
TEST(ElasticExamples, S1NamesMessagesAndUsageOfAScaleDown) {
  Story s = one_queue("5");
  s.job("train", "cq", 3, "1").step().job("other", "cq", 3, "1", false);
  const auto before = s.play();
  const auto job = before.world->simulated().find("Job", "default", "train");
  EXPECT_EQ(job->metadata()["generation"], 2) << "its start";
  ASSERT_EQ(objects(before, "train").size(), 1U);
  EXPECT_EQ(objects(before, "train")[0]->name, workload_name("Job", "batch", "train", job->uid, "1"));
  EXPECT_EQ(message(objects(before, "other").at(0), "QuotaReserved"),
            no_place + std::string("insufficient unused quota for cpu in flavor default, 1 more needed"));

  events::MemoryLog log;
  const auto r = s.step().parallelism("train", 2).step().play(&log);
  EXPECT_EQ(r.world->simulated().find("Job", "default", "train")->metadata()["generation"], 3);
  ASSERT_EQ(objects(r, "train").size(), 1U);
  EXPECT_EQ(objects(r, "train")[0]->uid, objects(before, "train")[0]->uid);
  EXPECT_EQ(workload(r, 2, "train").at("conditions"), workload(r, 1, "train").at("conditions"));
  EXPECT_EQ(workload(r, 2, "train").at("admitted").at("main").at("usage").at("cpu"), "3");
  EXPECT_EQ(Told(log).amounts(), (std::vector<Amount>{0, 3'000, 2'000, 5'000})) << "free at once, then given to the other";
}

// EJ-9, EJ-51, EJ-55, EJ-67, EJ-70, EJ-72, EJ-74, EJ-138
TEST(ElasticExamples, S2NamesEventsMetricAndPodsOfAScaleUp) {
  Story s = one_queue("10");
  s.job("train", "cq", 3, "1");
  const std::string uid = job_uid(s.play(), "train");
  s.step();
  for (const char* pod : {"a-1", "a-2", "a-3"}) s.pod(pod, "train", uid, "Running", false);
  s.step().parallelism("train", 10);
  for (const char* pod : {"n-7", "n-2", "n-5", "n-1", "n-6", "n-3", "n-4"}) s.pod(pod, "train", uid, "Pending", true);
  s.step().pod("n-8", "train", uid, "Pending", true).patch("Pod", "n-3", true, "{status: {phase: Failed}}");
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  const auto w = objects(r, "train");
  ASSERT_EQ(w.size(), 2U);
  EXPECT_EQ(w[0]->name, workload_name("Job", "batch", "train", uid, "1"));
  EXPECT_EQ(w[1]->name, workload_name("Job", "batch", "train", uid, "3")) << "its start was generation 2";
  EXPECT_EQ(stands(r, 2, "train", "QuotaReserved"), "True QuotaReserved") << "they stay as they were";
  EXPECT_EQ(stands(r, 2, "train", "Admitted"), "True Admitted");

  const Told told(log);
  EXPECT_EQ(told.amounts(), (std::vector<Amount>{0, 3'000, 10'000})) << "never both slices, and never neither";
  EXPECT_EQ(told.reasons({"QuotaReserved", "Admitted", "WorkloadSliceReplaced"}),
            (Lines{w[0]->name + " QuotaReserved", w[0]->name + " Admitted", w[1]->name + " QuotaReserved", w[1]->name + " Admitted",
                   w[0]->name + " WorkloadSliceReplaced"}));
  EXPECT_EQ(told.count("Workload " + w[0]->name + " WorkloadSliceReplaced: " + message(w[0], "Finished")), 1U);
  EXPECT_NE(told.metrics.find("kueue_replaced_workload_slices_total{cluster_queue=\"cq\",replica_role=\"standalone\"} 1\n"),
            std::string::npos)
      << told.metrics;
  ASSERT_EQ(told.releases.size(), 2U);
  EXPECT_EQ(told.releases[0].pods, (Lines{"n-1", "n-2", "n-3", "n-4", "n-5", "n-6", "n-7"})) << "in the order of their names";
  EXPECT_EQ(told.releases[1].pods, Lines{"n-8"}) << "made in place of the one that failed";
  EXPECT_EQ(waiting(r), Lines{});
}

// EJ-16, EJ-19, EJ-20, EJ-37, EJ-73
TEST(ElasticExamples, S3MessagesAndPodsWhileTheScaleUpWaits) {
  Story s = one_queue("9");
  s.job("fixed", "cq", 3, "1", false).job("train", "cq", 3, "1");
  const std::string uid = job_uid(s.play(), "train");
  s.step();
  for (const char* pod : {"a-1", "a-2", "a-3"}) s.pod(pod, "train", uid, "Running", false);
  s.step().parallelism("train", 13);
  for (int i = 0; i < 10; ++i) s.pod("g-" + std::to_string(i), "train", uid, "Pending", true);
  const auto most = s.play();
  ASSERT_EQ(objects(most, "train").size(), 2U);
  const auto second = objects(most, "train")[1];
  EXPECT_EQ(message(second, "QuotaReserved"),
            no_place + std::string("insufficient quota for cpu in flavor default, previously considered podsets requests (0) + current "
                                   "podset request (10) > maximum capacity (9)"));
  EXPECT_EQ(waiting(most).size(), 10U);
  const auto impossible = Story(s).step().parallelism("train", 10).play();
  EXPECT_EQ(slices(impossible, 3, "train"), (Lines{"3 admitted", "10 pending:WaitingForQuota"}));
  EXPECT_EQ(message(objects(impossible, "train")[1], "QuotaReserved"),
            no_place + std::string("insufficient unused quota for cpu in flavor default, 4 more needed (total 10 > maximum capacity 9)"));

  s.step().parallelism("train", 8);  // the Job controller takes gated pods away first
  for (int i = 5; i < 10; ++i) s.remove("Pod", "g-" + std::to_string(i));
  const auto fewer = s.play();
  ASSERT_EQ(objects(fewer, "train").size(), 2U);
  EXPECT_EQ(objects(fewer, "train")[1]->uid, second->uid) << "one object throughout";
  EXPECT_EQ(message(objects(fewer, "train")[1], "QuotaReserved"),
            no_place + std::string("insufficient unused quota for cpu in flavor default, 2 more needed"));
  EXPECT_EQ(used(fewer, 3, "cq"), "6");
  EXPECT_EQ(waiting(fewer).size(), 5U);

  Story full = s;
  full.step().job("filler", "cq", 3, "1", false).step().parallelism("train", 2);
  const auto shrunk = full.step().play();
  EXPECT_EQ(used(shrunk, 4, "cq"), "9");
  EXPECT_EQ(slices(shrunk, 5, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "2 admitted"})) << "with the queue full";
  EXPECT_EQ(used(shrunk, 5, "cq"), "8");

  s.step().parallelism("train", 6).remove("Pod", "g-3").remove("Pod", "g-4");
  events::MemoryLog log;
  const auto fits = s.step().play(&log);
  EXPECT_EQ(slices(fits, 4, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "6 admitted"}));
  EXPECT_EQ(objects(fits, "train")[1]->uid, second->uid);
  EXPECT_EQ(waiting(fits), Lines{});
  const Told told(log);
  ASSERT_EQ(told.releases.size(), 1U);
  EXPECT_EQ(told.releases[0].pods, (Lines{"g-0", "g-1", "g-2"}));
}

// EJ-35, EJ-73
TEST(ElasticExamples, S4UsageAndPodsWhileTheFlavorSticks) {
  Story s;
  s.flavor("smaller-flavor").flavor("larger-flavor").queue("cq", {{"smaller-flavor", "1"}, {"larger-flavor", "1500m"}});
  s.job("train", "cq", 1, "100m");
  const std::string uid = job_uid(s.play(), "train");
  s.step().pod("a-1", "train", uid, "Running", false).step().parallelism("train", 12);
  for (int i = 10; i < 21; ++i) s.pod("g-" + std::to_string(i), "train", uid, "Pending", true);
  const auto grown = s.play();
  EXPECT_EQ(waiting(grown).size(), 11U);
  s.step().parallelism("train", 11).remove("Pod", "g-20").step().parallelism("train", 10).remove("Pod", "g-19");
  const auto r = s.step().play();
  const auto both = [&](std::size_t step) { return used(r, step, "cq", "smaller-flavor") + " / " + used(r, step, "cq", "larger-flavor"); };
  EXPECT_EQ((Lines{both(0), both(2), both(3), both(4)}), (Lines{"100m / 0", "100m / 0", "100m / 0", "1 / 0"}));
  EXPECT_EQ(waiting(r), Lines{});
}

// EJ-38, EJ-39, EJ-58
TEST(ElasticExamples, S5OnlyTheOtherJobIsEvicted) {
  Story s = one_queue("2", "preemption: {withinClusterQueue: LowerOrNewerEqualPriority}, ");
  s.priority("low", -1).priority("high", 100);
  s.job("low", "cq", 1, "1", false, "low").job("train", "cq", 1, "1", true, "high").step().status("low", "{active: 1}");
  s.step().parallelism("train", 2).step().status("low", "{active: 0}").step().parallelism("train", 1);
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  EXPECT_EQ(stands(r, 2, "low", "Evicted"), "True Preempted");
  EXPECT_EQ(stands(r, 2, "low", "QuotaReserved").substr(0, 5), "True ");
  EXPECT_TRUE(suspended(r, 2, "low"));
  EXPECT_EQ(workload(r, 2, "train"), workload(r, 1, "train")) << "untouched";
  EXPECT_FALSE(suspended(r, 2, "train"));
  EXPECT_EQ(stands(r, 3, "low", "QuotaReserved").substr(0, 6), "False ");
  for (const char* slice : {"train", "train#1"}) EXPECT_EQ(stands(r, 3, slice, "Evicted"), "") << slice;
  EXPECT_EQ(used(r, 4, "cq"), "2");
  EXPECT_EQ(stands(r, 4, "low", "Evicted").substr(0, 6), "False ");
  EXPECT_FALSE(suspended(r, 4, "low"));
  const Told told(log);
  for (const auto& [time, amount] : told.used) EXPECT_LE(amount, 2'000) << format_rfc3339(time);
}

// EJ-69, EJ-80, EJ-83, EJ-85, EJ-86, EJ-89, EJ-152
TEST(ElasticExamples, S6QuotaStaysUntilThePodsHaveGoneAndNoneIsReleasedMeanwhile) {
  Story s = one_queue("4", "preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("high", 100).job("train", "cq", 3, "1").job("x", "cq", 1, "1", false, "high");
  const std::string uid = job_uid(s.play(), "train");
  s.step().status("train", "{active: 3}");
  for (const char* pod : {"p-1", "p-2", "p-3"}) s.pod(pod, "train", uid, "Running", false);
  s.step().parallelism("train", 4).pod("p-4", "train", uid, "Pending", true).step().job("urgent", "cq", 2, "1", false, "high");
  EXPECT_EQ(waiting(s.play()), Lines{"p-4"});
  s.step().status("train", "{active: 0}");
  for (const char* pod : {"p-1", "p-2", "p-3", "p-4"}) s.remove("Pod", pod);
  s.step().finish("x").finish("urgent").step();
  for (const char* pod : {"n-2", "n-1", "n-4", "n-3"}) s.pod(pod, "train", uid, "Pending", true);
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  EXPECT_EQ(stands(r, 3, "train", "Evicted"), "True Preempted");
  EXPECT_EQ(stands(r, 3, "train", "QuotaReserved").substr(0, 5), "True ");
  EXPECT_EQ(stands(r, 4, "train", "QuotaReserved").substr(0, 6), "False ") << "cleared before it is finished";
  EXPECT_EQ(stands(r, 4, "train#1", "Evicted"), "") << "the waiting one was never evicted";
  EXPECT_EQ(workload(r, 4, "train#1").at("counts").at("main"), 4);
  EXPECT_EQ(workload(r, 5, "train#1").at("admitted").at("main").at("count"), 4) << "in full";
  EXPECT_EQ(r.world->simulated().find("Job", "default", "train")->spec()["parallelism"], 4);

  const Told told(log);
  for (const auto& [time, amount] : told.used) {
    if (time >= at(20) && time < at(40)) {
      EXPECT_EQ(amount, 4'000) << format_rfc3339(time) << ": three pods of train run, and one of x";
    }
  }
  ASSERT_EQ(told.releases.size(), 1U) << "nothing of the old chain";
  EXPECT_EQ(told.releases[0].pods, (Lines{"n-1", "n-2", "n-3", "n-4"}));
  EXPECT_GE(told.releases[0].time, at(50));
}

// ---- Ray clusters -------------------------------------------------------------------------------------------------------------

struct Group {
  std::string name;
  int replicas = 1;
  std::string cpu;
};

std::string groups(const std::vector<Group>& list) {
  std::string out;
  for (const auto& g : list)
    out += (out.empty() ? "" : ", ") +
           ("{groupName: " + g.name + ", rayStartParams: {}, replicas: " + std::to_string(g.replicas) +
            ", template: {spec: {containers: [{name: w, image: i, resources: {requests: {cpu: '" + g.cpu + "'}}}]}}}");
  return "workerGroupSpecs: [" + out + "]";
}

/// `head`: what stands in the head's container beside its name. `more`: further fields of spec.
std::string ray_cluster(const std::string& name, const std::string& head, const std::vector<Group>& workers, const std::string& more = "") {
  return "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-cq}, annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: "
         "{suspend: true, " +
         more + "headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: h, image: i" + head + "}]}}}, " +
         groups(workers) + "}}";
}

std::string resize(const std::vector<Group>& workers) { return "{spec: {" + groups(workers) + "}}"; }

std::string ray_pod(const std::string& name, const std::string& cluster_uid, const std::string& pod_set) {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default, labels: {kueue.x-k8s.io/podset: " + pod_set +
         "}, annotations: {kueue.x-k8s.io/workload-slice-name: chain}, ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: "
         "rc, "
         "uid: " +
         cluster_uid +
         ", controller: true}]}, spec: {restartPolicy: Never, containers: [{name: c, image: i}], schedulingGates: [{name: "
         "kueue.x-k8s.io/elastic-job}]}}";
}

std::vector<connectors::simulated::StoredPointer> slices_of_cluster(const ScenarioResult& r, const std::string& name) {
  std::vector<connectors::simulated::StoredPointer> out;
  for (const auto& o : r.world->simulated().store().owned_by("RayCluster", "default", name))
    if (o->kind->type->kind == "Workload") out.push_back(o);
  return out;
}

// EJ-17, EJ-18, EJ-31, EJ-32, EJ-33, EJ-34: the sizes stand in a RayCluster whose head asks for nothing
TEST(ElasticExamples, S7OfTwoPodSetsOnlyTheDifferenceCounts) {
  const std::string rc = "RayCluster/default/rc";
  Story s = one_queue("10");
  s.manifest(ray_cluster("rc", "", {{"worker", 2, "1"}, {"coordinator", 1, "2"}}));
  s.step().patch("RayCluster", "rc", false, resize({{"worker", 2, "1"}, {"coordinator", 3, "2"}}));
  s.step().job("c", "cq", 1, "2", false).step().job("d", "cq", 1, "2", false);
  s.step().patch("RayCluster", "rc", false, resize({{"worker", 2, "1"}, {"coordinator", 2, "2"}}));
  s.step().patch("RayCluster", "rc", false, resize({{"worker", 4, "1"}, {"coordinator", 1, "2"}}));
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  EXPECT_EQ(used(r, 0, "cq"), "4");
  EXPECT_EQ(stands(r, 1, rc, "Finished"), "True WorkloadSliceReplaced");
  EXPECT_EQ(stands(r, 1, rc + "#1", "Admitted"), "True Admitted");
  EXPECT_EQ(used(r, 1, "cq"), "8");
  EXPECT_EQ(slices(r, 3, "c"), Lines{"1 admitted"});
  EXPECT_EQ(slices(r, 3, "d"), Lines{"1 pending:WaitingForQuota"});
  EXPECT_EQ(used(r, 3, "cq"), "10");
  EXPECT_EQ(workload(r, 4, rc + "#1").at("counts").at("coordinator"), 2);
  EXPECT_EQ(workload(r, 4, rc + "#1").at("admitted").at("coordinator").at("count"), 3) << "in place";
  EXPECT_EQ(slices(r, 4, "d"), Lines{"1 admitted"});
  EXPECT_EQ(used(r, 4, "cq"), "10");
  EXPECT_EQ(stands(r, 5, rc + "#1", "Finished"), "True WorkloadSliceReplaced");
  EXPECT_EQ(stands(r, 5, rc + "#2", "Admitted"), "True Admitted") << "with the queue full";
  EXPECT_EQ(workload(r, 5, rc + "#2").at("counts"), Json::parse(R"({"coordinator":1,"head":1,"worker":4})"));
  EXPECT_EQ(workload(r, 5, rc + "#2").at("admitted").at("worker").at("count"), 4);
  EXPECT_EQ(used(r, 5, "cq"), "10");
  EXPECT_EQ(Told(log).amounts(), (std::vector<Amount>{0, 4'000, 8'000, 10'000, 8'000, 10'000})) << "never twelve";
}

// EJ-4, EJ-9, EJ-17, EJ-58, EJ-130, EJ-133
TEST(ElasticExamples, S8ARayClusterFollowsItsAutoscaler) {
  const std::string rc = "RayCluster/default/rc";
  Story s;
  s.flavor("default")
      .manifest(
          "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: "
          "[{coveredResources: [cpu, memory], flavors: [{name: default, resources: [{name: cpu, nominalQuota: '5'}, {name: memory, "
          "nominalQuota: 100Gi}]}]}]}}")
      .manifest(
          "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-cq, namespace: default}, spec: {clusterQueue: cq}}");
  const std::string head = ", resources: {requests: {cpu: '1'}}";
  const std::string scales = "enableInTreeAutoscaling: true, ";
  s.manifest(ray_cluster("rc", head, {{"workers", 2, "1"}}, scales));
  const auto first = s.play();
  const auto cluster = first.world->simulated().find("RayCluster", "default", "rc");
  EXPECT_EQ(cluster->metadata()["generation"], 2) << "unsuspended";
  EXPECT_FALSE(cluster->spec()["suspend"].get<bool>());
  ASSERT_EQ(slices_of_cluster(first, "rc").size(), 1U);
  const auto origin = slices_of_cluster(first, "rc")[0];
  EXPECT_EQ(origin->name, workload_name("RayCluster", "ray.io", "rc", cluster->uid, "1"));

  s.step().manifest(ray_pod("head", cluster->uid, "head"));
  s.manifest(ray_pod("w-1", cluster->uid, "workers")).manifest(ray_pod("w-2", cluster->uid, "workers"));
  const auto released = s.play();
  EXPECT_EQ(waiting(released), Lines{});
  const auto version_of_head = released.world->simulated().find("Pod", "default", "head")->metadata()["resourceVersion"];

  s.step().manifest(ray_cluster("second", head, {{"workers", 2, "1"}}, scales));
  const auto crowded = s.play();
  ASSERT_EQ(slices_of_cluster(crowded, "second").size(), 1U);
  EXPECT_NE(message(slices_of_cluster(crowded, "second")[0], "QuotaReserved").find(", 2 more needed"), std::string::npos);

  s.step().patch("RayCluster", "rc", false, resize({{"workers", 1, "1"}})).remove("Pod", "w-2");
  const auto smaller = s.play();
  EXPECT_EQ(smaller.world->simulated().find("RayCluster", "default", "rc")->metadata()["generation"], 3);
  ASSERT_EQ(slices_of_cluster(smaller, "rc").size(), 1U);
  EXPECT_EQ(slices_of_cluster(smaller, "rc")[0]->uid, origin->uid) << "the same Workload";
  EXPECT_NE(message(slices_of_cluster(smaller, "second")[0], "QuotaReserved").find(", 1 more needed"), std::string::npos)
      << "tried again, and still too large";
  EXPECT_EQ(smaller.world->simulated().find("Pod", "default", "head")->metadata()["resourceVersion"], version_of_head);

  s.step().patch("RayCluster", "rc", false, resize({{"workers", 2, "1"}})).manifest(ray_pod("w-3", cluster->uid, "workers"));
  const auto r = s.step().play();
  EXPECT_EQ((Lines{used(r, 0, "cq"), used(r, 2, "cq"), used(r, 3, "cq"), used(r, 4, "cq")}), (Lines{"3500m", "3500m", "2500m", "3500m"}));
  EXPECT_EQ(workload(r, 0, rc).at("counts"), Json::parse(R"({"head":1,"workers":2})"));
  EXPECT_EQ(workload(r, 3, rc).at("counts"), Json::parse(R"({"head":1,"workers":1})"));
  ASSERT_EQ(slices_of_cluster(r, "rc").size(), 2U);
  EXPECT_EQ(slices_of_cluster(r, "rc")[1]->name, workload_name("RayCluster", "ray.io", "rc", cluster->uid, "4"));
  EXPECT_EQ(workload(r, 4, rc + "#1").at("counts"), Json::parse(R"({"head":1,"workers":2})"));
  EXPECT_EQ(stands(r, 4, rc + "#1", "Admitted"), "True Admitted");
  EXPECT_EQ(stands(r, 4, rc, "Finished"), "True WorkloadSliceReplaced");
  EXPECT_EQ(stands(r, 4, "RayCluster/default/second", "QuotaReserved"), "False WaitingForQuota");
  EXPECT_EQ(waiting(r), Lines{});
  EXPECT_FALSE(r.world->simulated().find("RayCluster", "default", "rc")->spec()["suspend"].get<bool>());
  EXPECT_EQ(r.world->simulated().find("Pod", "default", "head")->metadata()["resourceVersion"], version_of_head) << "undisturbed";

  // Without an autoscaler there is none of its container either.
  Story plain = one_queue("5");
  plain.manifest(ray_cluster("rc", head, {{"workers", 2, "1"}}));
  plain.step().patch("RayCluster", "rc", false, resize({{"workers", 1, "1"}}));
  plain.step().patch("RayCluster", "rc", false, resize({{"workers", 2, "1"}}));
  const auto p = plain.step().play();
  EXPECT_EQ((Lines{used(p, 0, "cq"), used(p, 1, "cq"), used(p, 2, "cq")}), (Lines{"3", "2", "3"}));
}

// ---- queues, reclaimable pods, gates -------------------------------------------------------------------------------------------

// EJ-40: whoever goes first, the other one is told that it does not fit any more, in the same cycle
TEST(ElasticExamples, S9TheSecondHeadOfACycleIsCheckedAgain) {
  const std::string told_so = ": Workload no longer fits after processing another workload";
  {
    Story s;
    s.flavor("default").queue("a", {{"default", "5"}}, "cohortName: both, ").queue("b", {{"default", "5"}}, "cohortName: both, ");
    s.job("train", "a", 3, "1").step().parallelism("train", 10).job("p", "b", 3, "1", false);
    events::MemoryLog log;
    const auto r = s.step().play(&log);
    const Told told(log, "a", "both");
    EXPECT_EQ(told.count("Workload " + objects(r, "train").at(1)->name + " WaitingForQuota" + told_so), 1U);
    EXPECT_EQ(told.count(told_so), 1U);
    EXPECT_EQ(used(r, 1, "a") + " + " + used(r, 1, "b"), "3 + 3");
    EXPECT_FALSE(suspended(r, 1, "train")) << "its old slice runs on";
  }
  // Both borrow, and the replacement has the higher priority.
  Story s;
  s.priority("high", 100).flavor("default").queue("a", {{"default", "4"}}, "cohortName: both, ");
  s.queue("b", {{"default", "2"}}, "cohortName: both, ").queue("c", {{"default", "4"}}, "cohortName: both, ");
  s.job("train", "a", 3, "1", true, "high").step().parallelism("train", 10).job("p", "b", 3, "1", false);
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  const Told told(log, "a", "both");
  EXPECT_EQ(told.count("Workload " + objects(r, "p").at(0)->name + " WaitingForQuota" + told_so), 1U);
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "10 admitted"}));
  EXPECT_EQ(slices(r, 1, "p"), Lines{"3 pending:WaitingForQuota"});
  EXPECT_EQ(used(r, 1, "a") + " + " + used(r, 1, "b"), "10 + 0");
}

/// An elastic Indexed Job "train" of n pods of 100m, with as many completions.
std::string indexed(int n) {
  const std::string count = std::to_string(n);
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-cq}, "
         "annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: {suspend: true, completionMode: Indexed, backoffLimitPerIndex: 0, "
         "parallelism: " +
         count + ", completions: " + count +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}}}}";
}

std::string both_counts(int n) { return "{spec: {parallelism: " + std::to_string(n) + ", completions: " + std::to_string(n) + "}}"; }

// EJ-60, EJ-61, EJ-62, EJ-64
TEST(ElasticExamples, S11ReclaimablePodsOfIndexedJobs) {
  /// "count reclaimable usage" of the first slice, which is admitted all the while.
  const auto sizes = [](const ScenarioResult& r, std::size_t step) {
    const Json& w = workload(r, step, "train");
    EXPECT_EQ(stands(r, step, "train", "Admitted"), "True Admitted") << step;
    const int given_back = w.contains("reclaimable") ? w.at("reclaimable").value("main", 0) : 0;
    return std::to_string(w.at("counts").at("main").get<int>()) + " " + std::to_string(given_back) + " " + used(r, step, "cq");
  };
  Story done = one_queue("5");
  done.manifest(indexed(8)).step().status("train", "{active: 4, succeeded: 4, completedIndexes: '0-3'}");
  const auto a = done.step().patch("Job", "train", false, both_counts(3)).step().play();
  EXPECT_EQ((Lines{sizes(a, 1), sizes(a, 2)}), (Lines{"8 4 400m", "3 3 0"}));

  Story failed = one_queue("5");
  failed.manifest(indexed(5)).step().status("train", "{active: 4, failed: 1, failedIndexes: '4'}");
  const auto b = failed.step().patch("Job", "train", false, both_counts(3)).step().play();
  EXPECT_EQ((Lines{sizes(b, 1), sizes(b, 2)}), (Lines{"5 1 400m", "3 0 300m"})) << "an index that is no more does not count";

  Story plain = one_queue("5");
  plain.job("train", "cq", 20, "100m", true, "", 20).step().status("train", "{active: 5, succeeded: 15}");
  const auto c = plain.step().parallelism("train", 10).step().play();
  EXPECT_EQ((Lines{sizes(c, 1), sizes(c, 2)}), (Lines{"20 15 500m", "10 5 500m"}));

  Story stale = one_queue("5");
  stale.manifest(indexed(20)).step().status("train", "{active: 5, succeeded: 15, completedIndexes: '5-19'}");
  const auto d = stale.step().patch("Job", "train", false, both_counts(10)).status("train", "{completedIndexes: '5-9'}").step().play();
  EXPECT_EQ((Lines{sizes(d, 1), sizes(d, 2)}), (Lines{"20 15 500m", "10 5 500m"})) << "succeeded still says 15";
}

// EJ-156: four pods run and six are asked for; of ten completions eight are done, so that two pods of either size remain
TEST(ElasticExamples, ReclaimablePodsAreKeptForBothSlices) {
  Story s = one_queue("5");
  s.job("train", "cq", 4, "1", true, "", 10).step().parallelism("train", 6).step().status("train", "{active: 2, succeeded: 8}");
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"4 admitted", "6 pending:WaitingForQuota"}));
  Lines wanted{objects(r, "train").at(0)->name + " 2", objects(r, "train").at(1)->name + " 4"};
  Lines found = Told(log).reclaimed;
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"4 finished:WorkloadSliceReplaced", "6 admitted"})) << "the two that remain are there already";
  EXPECT_EQ(used(r, 2, "cq"), "2");
}

// EJ-30, EJ-69, EJ-70, EJ-77, EJ-84: neither the end of the origin nor an eviction that is over holds pods back (#13914, #14129)
TEST(ElasticExamples, S12APodIsReleasedOnceTheJobIsBackThoughItsOriginHasGone) {
  Story s = one_queue("5");
  s.job("train", "cq", 2, "1");
  const auto start = s.play();
  const std::string uid = job_uid(start, "train"), origin = objects(start, "train").at(0)->name;
  s.step().pod("p-1", "train", uid, "Running", false).pod("p-2", "train", uid, "Succeeded", false);
  s.pod("p-5", "train", uid, "Pending", true).pod("p-3", "train", uid, "Pending", true).pod("p-4", "train", uid, "Pending", true);
  s.pod("q-0", "train", uid, "Pending", true, "").parallelism("train", 3);
  const auto grown = s.play();
  EXPECT_EQ(slices(grown, 1, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "3 admitted"}));
  EXPECT_EQ(waiting(grown), (Lines{"p-5", "q-0"}));
  s.step().status("train", "{active: 3}").step().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: HoldAndDrain}}");
  s.step().patch("Pod", "p-3", true, "{status: {phase: Failed}}").step().remove("Workload", origin);
  const auto leaving = s.play();
  EXPECT_EQ(slices(leaving, 5, "train"), Lines{"3 leaving"}) << "its origin has gone";
  EXPECT_EQ(waiting(leaving), (Lines{"p-5", "q-0"}));
  s.step().status("train", "{active: 0}").step().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: None}}");
  events::MemoryLog log;
  const auto r = s.step().play(&log);
  EXPECT_EQ(slices(r, 7, "train"), Lines{"3 admitted"});
  EXPECT_EQ(stands(r, 7, "train", "Evicted").substr(0, 6), "False ");
  EXPECT_EQ(waiting(r), Lines{"q-0"});
  const Told told(log);
  Lines released;
  for (const auto& release : told.releases) released.insert(released.end(), release.pods.begin(), release.pods.end());
  EXPECT_EQ(released, (Lines{"p-3", "p-4", "p-5"}));
}

// EJ-31, EJ-59, EJ-148
TEST(ElasticExamples, S14WhoGetsWhatIsGivenBackAndWhatStaysRecorded) {
  Story s;
  s.flavor("f0")
      .queue("q0", {{"f0", "5"}}, "cohortName: c, ")
      .queue("q1", {{"f0", "2"}}, "cohortName: c, preemption: {withinClusterQueue: Never}, ");
  s.job("first", "q0", 1, "1", false).job("j0", "q1", 2, "1").step().parallelism("j0", 5);
  s.step().job("j2", "q1", 2, "1", false).step().job("j3", "q1", 2, "1", false);
  s.step().parallelism("j0", 4).step().parallelism("j0", 1).step().parallelism("j0", 3).step().parallelism("j0", 1);
  const auto r = s.step().play();
  const Json& reserved = r.states["states"].at(1).at("clusterQueues").at("q1").at("flavorsReservation").at("f0").at("cpu");
  EXPECT_EQ(reserved, Json::parse(R"(["5","3"])")) << "three are borrowed";
  EXPECT_EQ(slices(r, 3, "j2")[0].substr(0, 9), "2 pending");
  EXPECT_EQ(slices(r, 3, "j3")[0].substr(0, 9), "2 pending");
  EXPECT_EQ(workload(r, 4, "j0#1").at("counts").at("main"), 4);
  EXPECT_EQ(workload(r, 4, "j0#1").at("admitted").at("main").at("count"), 5);
  EXPECT_EQ(slices(r, 4, "j2"), Lines{"2 admitted"});
  EXPECT_EQ(slices(r, 4, "j3")[0].substr(0, 9), "2 pending");
  EXPECT_EQ(used(r, 4, "q1", "f0"), "6");
  EXPECT_EQ(slices(r, 5, "j3"), Lines{"2 admitted"});
  EXPECT_EQ(used(r, 5, "q1", "f0"), "5");
  EXPECT_EQ(stands(r, 6, "j0#2", "QuotaReserved"), "False WaitingForQuota");
  EXPECT_EQ(workload(r, 7, "j0#1").at("admitted").at("main").at("count"), 5) << "also when it is finished";
  EXPECT_EQ(stands(r, 7, "j0#1", "Finished"), "True WorkloadSliceReplaced");
  EXPECT_EQ(slices(r, 7, "j0").back(), "1 admitted");
  EXPECT_EQ(used(r, 7, "q1", "f0"), "5");
}

// EJ-39, EJ-155
TEST(ElasticExamples, S15TheVictimsByName) {
  Story s = one_queue("6", "preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("mid", 100).priority("high", 200).job("j0", "cq", 1, "1").job("j1", "cq", 5, "1", true, "high").step().parallelism("j1", 1);
  s.step().job("j2", "cq", 1, "1", false, "mid").step().job("j5", "cq", 3, "1", false, "mid").step().parallelism("j1", 5);
  const auto r = s.step().play();
  EXPECT_EQ(workload(r, 3, "j1").at("admitted").at("main").at("count"), 5) << "admitted with five, and shrunk";
  for (const char* victim : {"j0", "j5"}) EXPECT_EQ(stands(r, 4, victim, "Evicted"), "True Preempted") << victim;
  for (const char* spared : {"j1", "j1#1", "j2"}) EXPECT_EQ(stands(r, 4, spared, "Evicted"), "") << spared;
}

// ---- known pain (77 §6) --------------------------------------------------------------------------------------------------------

// EJ-86, EJ-149: what a start put into the job's template is not in its later slices, so that it may come back on another flavor (by code)
TEST(ElasticExamples, LaterSlicesDoNotHoldTheLabelsOfAFlavor) {
  const auto quotas = [](const char* first) {
    return std::string("resourceGroups: [{coveredResources: [cpu], flavors: [{name: in-a, resources: [{name: cpu, nominalQuota: '") +
           first + "'}]}, {name: in-b, resources: [{name: cpu, nominalQuota: '4'}]}]}]";
  };
  Story s;
  for (const char* zone : {"a", "b"})
    s.manifest(std::string("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: in-") + zone +
               "}, spec: {nodeLabels: {zone: " + zone + "}}}");
  s.queue("cq", {{"in-a", "4"}, {"in-b", "4"}}).job("train", "cq", 2, "1").step().parallelism("train", 3);
  const auto grown = s.play();
  EXPECT_EQ(slices(grown, 1, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "3 admitted"}));
  const auto selector = [](const ScenarioResult& r) {
    return r.world->simulated().find("Job", "default", "train")->spec()["template"]["spec"].value("nodeSelector", Json());
  };
  EXPECT_EQ(selector(grown), Json::parse(R"({"zone":"a"})"));
  for (const auto& w : objects(grown, "train")) EXPECT_FALSE(w->spec()["podSets"][0]["template"]["spec"].contains("nodeSelector"));
  s.step().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: HoldAndDrain}}");
  s.step().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: None, " + quotas("0") + "}}");
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 3, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "3 admitted"}));
  EXPECT_EQ(selector(r), Json::parse(R"({"zone":"b"})"));
}

// EJ-24, EJ-25, EJ-27: of three that came within one second the least uid stays, whoever was seen first (#11198, #11327, #12931)
TEST(ElasticExamples, SlicesOfOneSecondAreOrderedByUid) {
  Story s = one_queue("5");
  s.job("train", "cq", 3, "1");
  const auto start = s.play();
  const auto origin = objects(start, "train").at(0);
  s.step().parallelism("train", 9);
  for (const char* name : {"m-1", "m-2", "m-3"})
    s.manifest(std::string("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: ") + name +
               ", namespace: default, annotations: {kueue.x-k8s.io/elastic-job: 'true', kueue.x-k8s.io/workload-slice-name: " +
               origin->name + ", kueue.x-k8s.io/workload-slice-replacement-for: default/" + origin->name +
               "}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: " + job_uid(start, "train") +
               ", controller: true}]}, spec: {queueName: lq-cq, podSets: [{name: main, count: 9, template: " +
               origin->spec()["podSets"][0]["template"].dump() + "}]}}");
  const auto r = s.step().play();
  std::vector<connectors::simulated::StoredPointer> made;
  for (const char* name : {"m-1", "m-2", "m-3"}) made.push_back(r.world->simulated().find("Workload", "default", name));
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a->uid < b->uid; });
  EXPECT_EQ(message(made[0], "Finished"), "") << "the oldest";
  for (const auto& other : {made[1], made[2]})
    EXPECT_EQ(message(other, "Finished"), "The workload slice is out of sync with its parent job") << other->name;
  EXPECT_EQ(stands(r, 1, "train", "Admitted"), "True Admitted");
  EXPECT_EQ(stands(r, 1, "train", "Finished"), "");
  EXPECT_EQ(objects(r, "train").size(), 4U) << "no further one is made";
}

// EJ-28: a Workload of another namespace replaces nothing, and is charged in full (#13071)
TEST(ElasticExamples, ASliceOfAnotherNamespaceReplacesNothing) {
  Story s = one_queue("10");
  s.job("train", "cq", 3, "1");
  const std::string origin = objects(s.play(), "train").at(0)->name;
  s.step().manifest(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-cq, namespace: other}, spec: {clusterQueue: cq}}");
  s.manifest(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: stranger, namespace: other, annotations: "
      "{kueue.x-k8s.io/elastic-job: 'true', kueue.x-k8s.io/workload-slice-replacement-for: default/" +
      origin +
      "}}, spec: {queueName: lq-cq, podSets: [{name: main, count: 8, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
      "i, resources: {requests: {cpu: '1'}}}]}}}]}}");
  const auto r = s.step().play();
  EXPECT_EQ(stands(r, 1, "Workload/other/stranger", "QuotaReserved"), "False WaitingForQuota");
  EXPECT_EQ(slices(r, 1, "train"), Lines{"3 admitted"});
  EXPECT_EQ(used(r, 1, "cq"), "3");
}

// EJ-94: the slice that runs and the one that waits (#13780); a class that does not exist changes neither
TEST(ElasticExamples, BothSlicesFollowTheLabelOfTheirJob) {
  Story s = one_queue("4");
  s.priority("low", 1).priority("high", 100).job("train", "cq", 3, "1", true, "low").step().parallelism("train", 6);
  s.step().patch("Job", "train", false, "{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}");
  s.step().patch("Job", "train", false, "{metadata: {labels: {kueue.x-k8s.io/priority-class: missing}}}");
  const auto r = s.step().play();
  for (const char* slice : {"train", "train#1"}) {
    EXPECT_EQ(workload(r, 1, slice).at("priority"), 1) << slice;
    EXPECT_EQ(workload(r, 2, slice).at("priority"), 100) << slice;
    EXPECT_EQ(workload(r, 3, slice).at("priority"), 100) << slice;
  }
}

}  // namespace
}  // namespace hindsight::simulation
