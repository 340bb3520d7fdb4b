// Elastic jobs by workload slices, from the Job's spec to the objects in the cluster: the worked examples of 77 §4 that batch Jobs can
// play, and what users ran into (77 §6).

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "tests/simulation/elastic_story.hpp"

namespace hindsight::simulation {
namespace {

// EJ-5, EJ-7, EJ-17, EJ-31, EJ-57, EJ-58; a leak of quota after a scale-down, and nobody woken by it (#6384)
TEST(ElasticJobs, S1AScaleDownGivesQuotaBackAtOnce) {
  const auto r =
      one_queue("5").job("train", "cq", 3, "1").step().job("other", "cq", 3, "1", false).step().parallelism("train", 2).step().play();
  EXPECT_EQ(slices(r, 0, "train"), Lines{"3 admitted"});
  EXPECT_FALSE(suspended(r, 0, "train"));
  EXPECT_EQ(slices(r, 1, "other"), Lines{"3 pending:WaitingForQuota"});
  EXPECT_EQ(slices(r, 2, "train"), Lines{"2 admitted"});
  EXPECT_EQ(slices(r, 2, "other"), Lines{"3 admitted"});
  EXPECT_EQ(used(r, 2, "cq"), "5");
  const auto w = objects(r, "train");
  ASSERT_EQ(w.size(), 1U) << "no slice is made for a scale-down";
  const Json& assignment = w[0]->status()["admission"]["podSetAssignments"][0];
  EXPECT_EQ(assignment["count"], 3) << "the recorded admission is never rewritten";
  EXPECT_EQ(assignment["resourceUsage"]["cpu"], "3");
  EXPECT_EQ(w[0]->metadata()["annotations"]["kueue.x-k8s.io/workload-slice-name"], w[0]->name);
  EXPECT_FALSE(w[0]->metadata()["annotations"].contains("kueue.x-k8s.io/workload-slice-replacement-for"));
}

// EJ-8, EJ-9, EJ-32, EJ-34, EJ-51, EJ-149, EJ-150; old and new counted both (#9322)
TEST(ElasticJobs, S2AScaleUpReplacesTheSliceAndIsChargedTheDifference) {
  const auto r = one_queue("10").job("train", "cq", 3, "1").step().parallelism("train", 10).step().play();
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "10 admitted"}));
  EXPECT_EQ(used(r, 1, "cq"), "10");
  EXPECT_FALSE(suspended(r, 1, "train"));
  const auto w = objects(r, "train");
  ASSERT_EQ(w.size(), 2U);
  EXPECT_NE(w[0]->name, w[1]->name);
  const Json& annotations = w[1]->metadata()["annotations"];
  EXPECT_EQ(annotations["kueue.x-k8s.io/elastic-job"], "true");
  EXPECT_EQ(annotations["kueue.x-k8s.io/workload-slice-replacement-for"], "default/" + w[0]->name);
  EXPECT_EQ(annotations["kueue.x-k8s.io/workload-slice-name"], w[0]->name);
  const Json& assignment = w[1]->status()["admission"]["podSetAssignments"][0];
  EXPECT_EQ(assignment["count"], 10);
  EXPECT_EQ(assignment["resourceUsage"]["cpu"], "10");
  EXPECT_EQ(w[0]->spec()["podSets"][0]["template"], w[1]->spec()["podSets"][0]["template"]);
  const std::string uid = w[0]->metadata()["ownerReferences"][0]["uid"];
  EXPECT_EQ(message(w[0], "Finished"),
            "Replaced to accommodate a workload (UID: " + w[1]->uid + ", JobUID: " + uid + ") due to workload slice aggregation");
  EXPECT_EQ(message(w[0], "Evicted"), "");
  EXPECT_TRUE(w[0]->status().contains("admission")) << "it stays as it was";
}

// EJ-16, EJ-19, EJ-20, EJ-37, EJ-56
TEST(ElasticJobs, S3GrowingWhilePendingAndBack) {
  const auto story = [] {
    Story s = one_queue("9");
    s.job("fixed", "cq", 3, "1", false).job("train", "cq", 3, "1").step().parallelism("train", 13).step().parallelism("train", 8);
    return s;
  };
  const auto a = story().step().parallelism("train", 6).step().play();
  EXPECT_EQ(slices(a, 1, "train"), (Lines{"3 admitted", "13 pending:ExceedsMaxQuota"}));
  EXPECT_EQ(used(a, 1, "cq"), "6");
  EXPECT_EQ(slices(a, 2, "train"), (Lines{"3 admitted", "8 pending:WaitingForQuota"})) << "the same slice, of another size";
  EXPECT_EQ(slices(a, 3, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "6 admitted"}));
  EXPECT_EQ(used(a, 3, "cq"), "9");
  const auto b = story().step().parallelism("train", 2).step().play();
  EXPECT_EQ(slices(b, 3, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "2 admitted"}));
  EXPECT_EQ(used(b, 3, "cq"), "5");
}

// EJ-20: neither a queue that is over its quota nor an older head of a StrictFIFO queue holds back who asks for nothing
TEST(ElasticJobs, WhoAsksForNothingIsHeldBackByNobody) {
  Story s = one_queue("6", "queueingStrategy: StrictFIFO, ");
  s.priority("high", 100).job("train", "cq", 4, "1").step().job("head", "cq", 6, "1", false, "high");
  s.step().parallelism("train", 8);
  s.step().patch(
      "ClusterQueue", "cq", false,
      "{spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: '2'}]}]}]}}");
  const auto r = s.step().parallelism("train", 4).step().play();
  EXPECT_EQ(slices(r, 3, "train")[0], "4 admitted");
  EXPECT_EQ(slices(r, 4, "train"), (Lines{"4 finished:WorkloadSliceReplaced", "4 admitted"}));
  EXPECT_EQ(used(r, 4, "cq"), "4");
  EXPECT_EQ(slices(r, 4, "head")[0].substr(0, 9), "6 pending");
}

// EJ-35, EJ-37
TEST(ElasticJobs, S4TheFlavorSticks) {
  Story s;
  s.flavor("smaller-flavor").flavor("larger-flavor").queue("cq", {{"smaller-flavor", "1"}, {"larger-flavor", "1500m"}});
  s.job("train", "cq", 1, "100m").step().parallelism("train", 12);
  const auto first = s.play();
  EXPECT_EQ(slices(first, 1, "train"), (Lines{"1 admitted", "12 pending:ExceedsMaxQuota"}));
  EXPECT_EQ(
      message(objects(first, "train")[1], "QuotaReserved"),
      "couldn't assign flavors to pod set main: could not assign larger-flavor flavor since the original workload is assigned: "
      "smaller-flavor, insufficient quota for cpu in flavor smaller-flavor, previously considered podsets requests (0) + current podset "
      "request (1100m) > maximum capacity (1)");
  const auto second = s.step().parallelism("train", 11).play();
  EXPECT_EQ(slices(second, 2, "train"), (Lines{"1 admitted", "11 pending:WaitingForQuota"}));
  EXPECT_EQ(
      message(objects(second, "train")[1], "QuotaReserved"),
      "couldn't assign flavors to pod set main: could not assign larger-flavor flavor since the original workload is assigned: "
      "smaller-flavor, insufficient unused quota for cpu in flavor smaller-flavor, 100m more needed (total 1100m > maximum capacity 1)");
  const auto third = s.step().parallelism("train", 10).play();
  EXPECT_EQ(slices(third, 3, "train"), (Lines{"1 finished:WorkloadSliceReplaced", "10 admitted"}));
  EXPECT_EQ(used(third, 3, "cq", "smaller-flavor"), "1");
  EXPECT_EQ(used(third, 3, "cq", "larger-flavor"), "0");
}

/// Pods that still carry the gate, by name; others that lost a foreign gate are marked.
Lines gated(const ScenarioResult& r) {
  Lines out;
  for (const auto& [key, pod] : r.world->simulated().store().of_kind("Pod"))
    for (const auto& gate : pod->spec().value("schedulingGates", Json::array()))
      if (gate["name"] == "kueue.x-k8s.io/elastic-job") out.push_back(pod->name);
  return out;
}

std::string uid_of(const ScenarioResult& r, const std::string& job) { return r.world->simulated().find("Job", "default", job)->uid; }

// EJ-67, EJ-69, EJ-70, EJ-71, EJ-72, EJ-73, EJ-74, EJ-75, EJ-76, EJ-77, EJ-80: no pod beyond the quota (#11977, #12045), and none forgotten
// (#9879)
TEST(ElasticJobs, S12AsManyPodsAreReleasedAsTheActiveSliceGrants) {
  Story s = one_queue("5");
  s.job("train", "cq", 3, "1");
  const std::string uid = uid_of(s.play(), "train");
  s.step().pod("p-1", "train", uid, "Running", false).pod("p-2", "train", uid, "Succeeded", false);
  s.pod("p-5", "train", uid, "Pending", true).pod("p-3", "train", uid, "Pending", true).pod("p-4", "train", uid, "Pending", true);
  s.pod("q-0", "train", uid, "Pending", true, "");
  const auto first = s.play();
  EXPECT_EQ(gated(first), (Lines{"p-5", "q-0"})) << "in order of names, up to the size of the slice";
  const auto other = first.world->simulated().find("Pod", "default", "p-3");
  EXPECT_EQ(other->spec()["schedulingGates"], Json::parse(R"([{"name":"example.com/other"}])")) << "foreign gates stay";

  Story failed = s;
  EXPECT_EQ(gated(failed.step().patch("Pod", "p-3", true, "{status: {phase: Failed}}").play()), Lines{"q-0"}) << "its place is free";
  Story larger = s;
  EXPECT_EQ(gated(larger.step().parallelism("train", 6).play()), (Lines{"p-5", "q-0"})) << "a slice that waits grants nothing";
  Story grown = s;
  EXPECT_EQ(gated(grown.step().parallelism("train", 4).play()), Lines{"q-0"}) << "granted with the admission of the new slice";

  Story evicted = s;
  evicted.step().status("train", "{active: 3}").step().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: HoldAndDrain}}");
  const auto leaving = evicted.step().patch("Pod", "p-3", true, "{status: {phase: Failed}}").play();
  EXPECT_EQ(slices(leaving, 3, "train"), Lines{"3 leaving"});
  EXPECT_EQ(gated(leaving), (Lines{"p-5", "q-0"})) << "nothing is released while the job is evicted";
}

// EJ-68: what a start puts into the template came too late for a pod that was made before; it gets that with the release of its gate.
TEST(ElasticJobs, AReleasedPodCarriesWhatItsFlavorAsksFor) {
  Story s;
  s.manifest(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: spot}, spec: {nodeLabels: {zone: a, arch: arm}, "
      "tolerations: "
      "[{key: spot, operator: Exists, effect: NoSchedule}]}}");
  s.queue("cq", {{"spot", "4"}}).job("train", "cq", 2, "1").step();
  const std::string uid = uid_of(s.play(), "train");
  s.manifest(
      "{apiVersion: v1, kind: Pod, metadata: {name: p-1, namespace: default, labels: {kueue.x-k8s.io/podset: main}, annotations: "
      "{kueue.x-k8s.io/workload-slice-name: chain}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: " +
      uid +
      ", controller: true}]}, spec: {restartPolicy: Never, nodeSelector: {zone: b}, containers: [{name: c, image: i}], schedulingGates: "
      "[{name: example.com/other}, {name: kueue.x-k8s.io/elastic-job}]}}");
  s.step();
  const auto r = s.play();
  const Json spec = r.world->simulated().find("Pod", "default", "p-1")->object["spec"];
  EXPECT_EQ(spec["schedulingGates"].size(), 1U) << "only ours goes";
  EXPECT_EQ(spec["nodeSelector"]["arch"], "arm");
  EXPECT_EQ(spec["nodeSelector"]["zone"], "b") << "what it has already cannot be replaced";
  ASSERT_EQ(spec["tolerations"].size(), 1U);
  EXPECT_EQ(spec["tolerations"][0]["key"], "spot");
}

// EJ-6: with the gate off, pods that were made gated are let go all the same
TEST(ElasticJobs, WithoutTheGateNoPodStaysBehindIts) {
  Story s = one_queue("5");
  s.configure(R"({"featureGates":{"ElasticJobsViaWorkloadSlices":false}})").job("train", "cq", 2, "1");
  const std::string uid = uid_of(s.play(), "train");
  const auto r = s.step()
                     .pod("p-1", "train", uid, "Pending", true)
                     .pod("p-2", "train", uid, "Pending", true)
                     .pod("p-3", "train", uid, "Pending", true)
                     .play();
  EXPECT_EQ(gated(r), Lines{"p-3"});
}

// EJ-136: what was decided can be folded again, and gives the same
TEST(ElasticJobs, TheLogTellsTheWholeStory) {
  Story s = one_queue("9");
  s.job("fixed", "cq", 3, "1", false);
  s.job("train", "cq", 3, "1").step().parallelism("train", 13).step().parallelism("train", 8).step().parallelism("train", 2);
  events::MemoryLog first, second;
  const auto a = s.play(&first);
  const auto b = s.play(&second);
  EXPECT_EQ(a.state_hash, b.state_hash);
  events::RecordBatch records;
  ASSERT_TRUE(first.read(1, {}, records));
  std::map<std::string, int> seen;
  events::RecordReader reader;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto record = reader.read(records[i].bytes);
    ASSERT_TRUE(record);
    const auto* d = std::get_if<Decisions>(&(*record)->body);
    if (d == nullptr) continue;
    for (const Event& e : d->events) {
      if (const auto* q = std::get_if<WorkloadRequested>(&e); q != nullptr && !q->counts.empty()) {
        ++seen[q->replaces.uid.empty() ? "first" : "scale-up"];
        EXPECT_EQ(q->counts.size(), 1U);
      }
      if (const auto* v = std::get_if<WorkloadRevised>(&e); v != nullptr && !v->counts.empty()) ++seen["resized"];
      if (const auto* x = std::get_if<SliceReplaced>(&e)) {
        ++seen["replaced"];
        ASSERT_EQ(x->delta.size(), 1U);
        EXPECT_EQ(x->delta[0].amount, -1000);
        EXPECT_EQ(x->counts[0].count, 2);
      }
    }
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{{"first", 1}, {"scale-up", 1}, {"resized", 2}, {"replaced", 1}}));
}

// EJ-38, EJ-39; a scale-up did not preempt (#6969)
TEST(ElasticJobs, S5AScaleUpPreemptsAnotherJobAndGivesBack) {
  Story s = one_queue("2", "preemption: {withinClusterQueue: LowerOrNewerEqualPriority}, ");
  s.priority("low", -1).priority("high", 100);
  s.job("low", "cq", 1, "1", false, "low").job("train", "cq", 1, "1", true, "high").step().status("low", "{active: 1}");
  s.step().parallelism("train", 2).step().status("low", "{active: 0}").step().parallelism("train", 1);
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"1 admitted", "2 pending:WaitingForPreemptedWorkloads"}));
  EXPECT_EQ(slices(r, 2, "low"), Lines{"1 leaving"});
  EXPECT_EQ(used(r, 2, "cq"), "2");
  EXPECT_EQ(slices(r, 3, "train"), (Lines{"1 finished:WorkloadSliceReplaced", "2 admitted"}));
  EXPECT_EQ(used(r, 3, "cq"), "2");
  EXPECT_EQ(slices(r, 4, "train")[1], "1 admitted");
  EXPECT_EQ(slices(r, 4, "low"), Lines{"1 admitted"});
}

// EJ-83, EJ-84, EJ-85, EJ-86, EJ-152, EJ-154; quota free while pods ran (#15661)
TEST(ElasticJobs, S6APendingScaleUpDoesNotSaveTheJobFromPreemption) {
  Story s = one_queue("4", "preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("high", 100).job("train", "cq", 3, "1").job("x", "cq", 1, "1", false, "high").step().status("train", "{active: 3}");
  s.step().parallelism("train", 4).step().job("urgent", "cq", 2, "1", false, "high");
  s.step().status("train", "{active: 0}").step().finish("x").finish("urgent");
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"3 admitted", "4 pending:WaitingForQuota"}));
  EXPECT_EQ(slices(r, 3, "train")[0], "3 leaving");
  EXPECT_TRUE(suspended(r, 3, "train"));
  EXPECT_EQ(used(r, 3, "cq"), "4") << "the pods still run";
  EXPECT_EQ(slices(r, 3, "urgent")[0].substr(0, 9), "2 pending");
  ASSERT_EQ(slices(r, 4, "train").size(), 2U);
  EXPECT_EQ(slices(r, 4, "train")[0], "3 finished:WorkloadSliceReplaced");
  EXPECT_EQ(slices(r, 4, "train")[1].substr(0, 9), "4 pending");
  EXPECT_EQ(slices(r, 4, "urgent"), Lines{"2 admitted"});
  EXPECT_EQ(used(r, 4, "cq"), "3");
  EXPECT_EQ(slices(r, 5, "train")[1], "4 admitted");
  EXPECT_FALSE(suspended(r, 5, "train"));
  EXPECT_EQ(used(r, 5, "cq"), "4");
}

// EJ-87, EJ-153: a job that is resized while it drains comes back with its new size, and no slice is made for it
TEST(ElasticJobs, AResizeWhileTheJobDrainsIsKept) {
  Story s = one_queue("4", "preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("high", 100)
      .job("train", "cq", 3, "1")
      .step()
      .status("train", "{active: 3}")
      .step()
      .job("urgent", "cq", 2, "1", false, "high");
  s.step().parallelism("train", 4).step().status("train", "{active: 0}").step().finish("urgent");
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 3, "train"), Lines{"3 leaving"});
  ASSERT_EQ(slices(r, 4, "train").size(), 1U);
  EXPECT_EQ(slices(r, 4, "train")[0].substr(0, 9), "4 pending");
  EXPECT_EQ(slices(r, 5, "train"), Lines{"4 admitted"});
}

// EJ-40
TEST(ElasticJobs, S9TwoHeadsOfACohortDoNotOverAdmit) {
  Story s;
  s.flavor("default").queue("a", {{"default", "5"}}, "cohortName: both, ").queue("b", {{"default", "5"}}, "cohortName: both, ");
  s.job("train", "a", 3, "1").step().parallelism("train", 10).job("p", "b", 3, "1", false);
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 1, "p"), Lines{"3 admitted"});
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"3 admitted", "10 pending:WaitingForQuota"}));
  EXPECT_EQ(used(r, 1, "a"), "3");
}

// EJ-60, EJ-62, EJ-64, EJ-156; reclaimable pods after a scale-down (#12670, #12958, #13117)
TEST(ElasticJobs, S11ReclaimablePodsFollowTheSize) {
  Story s = one_queue("5");
  s.job("train", "cq", 20, "100m", true, "", 20).step().status("train", "{active: 5, succeeded: 15}").step().parallelism("train", 10);
  const auto r = s.step().play();
  EXPECT_EQ(used(r, 1, "cq"), "500m");
  EXPECT_EQ(slices(r, 2, "train"), Lines{"10 admitted"});
  EXPECT_EQ(used(r, 2, "cq"), "500m");
  EXPECT_EQ(r.states["states"][2]["workloads"]["Job/default/train"]["reclaimable"]["main"], 5);
}

// EJ-96
TEST(ElasticJobs, S13TheEndOfTheJobEndsAllItsSlices) {
  const auto r = one_queue("3").job("train", "cq", 3, "1").step().parallelism("train", 5).step().finish("train").step().play();
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"3 admitted", "5 pending:WaitingForQuota"}));
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"3 finished:Succeeded", "5 finished:Succeeded"}));
  EXPECT_EQ(used(r, 2, "cq"), "0");
}

// EJ-59, EJ-148, EJ-150
TEST(ElasticJobs, S14ShrinkLendAndGrowAgain) {
  Story s;
  s.flavor("f0")
      .queue("q0", {{"f0", "5"}}, "cohortName: c, ")
      .queue("q1", {{"f0", "2"}}, "cohortName: c, preemption: {withinClusterQueue: Never}, ");
  s.job("first", "q0", 1, "1", false).job("j0", "q1", 2, "1").step().parallelism("j0", 5);
  s.step().job("j2", "q1", 2, "1", false).job("j3", "q1", 2, "1", false).step().parallelism("j0", 4).step().parallelism("j0", 1);
  s.step().parallelism("j0", 3).step().parallelism("j0", 1);
  const auto r = s.step().play();
  EXPECT_EQ(used(r, 1, "q1", "f0"), "5");
  EXPECT_EQ(used(r, 3, "q1", "f0"), "6");
  EXPECT_EQ(slices(r, 3, "j0"), (Lines{"2 finished:WorkloadSliceReplaced", "4 admitted"}));
  EXPECT_EQ(used(r, 4, "q1", "f0"), "5");
  EXPECT_EQ(slices(r, 5, "j0"), (Lines{"2 finished:WorkloadSliceReplaced", "1 admitted", "3 pending:WaitingForQuota"}));
  EXPECT_EQ(slices(r, 6, "j0"), (Lines{"2 finished:WorkloadSliceReplaced", "1 finished:WorkloadSliceReplaced", "1 admitted"}));
  EXPECT_EQ(used(r, 6, "q1", "f0"), "5");
}

// EJ-155
TEST(ElasticJobs, S15VictimsOfAScaleUp) {
  Story s = one_queue("6", "preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("mid", 100).priority("high", 200).job("j0", "cq", 1, "1").job("j1", "cq", 5, "1", true, "high").step().parallelism("j1", 1);
  s.step().job("j2", "cq", 1, "1", false, "mid").step().job("j5", "cq", 3, "1", false, "mid").step().parallelism("j1", 5);
  const auto r = s.step().play();
  EXPECT_EQ(used(r, 3, "cq"), "6");
  EXPECT_EQ(slices(r, 4, "j1"), (Lines{"1 finished:WorkloadSliceReplaced", "5 admitted"}));
  EXPECT_EQ(slices(r, 4, "j2"), Lines{"1 admitted"});
  EXPECT_EQ(used(r, 4, "cq"), "6");
}

// EJ-1, EJ-2: without the gate a change of the running job's size suspends it and queues it anew
TEST(ElasticJobs, WithoutTheGateAResizeIsAnotherJob) {
  Story s = one_queue("10");
  s.configure(R"({"featureGates":{"ElasticJobsViaWorkloadSlices":false}})");
  const auto r = s.job("train", "cq", 3, "1").step().parallelism("train", 4).step().play();
  EXPECT_EQ(slices(r, 1, "train"), Lines{"4 admitted"});
  EXPECT_EQ(objects(r, "train").size(), 1U);
  EXPECT_FALSE(objects(r, "train")[0]->metadata()["annotations"].contains("kueue.x-k8s.io/workload-slice-name"));
}

// EJ-154: an elastic job runs if and only if one of its slices is admitted
TEST(ElasticJobs, NobodyStartsOrStopsTheJobByHand) {
  Story s = one_queue("4");
  s.job("train", "cq", 3, "1").job("waits", "cq", 3, "1").step().patch("Job", "train", false, "{spec: {suspend: true}}");
  s.patch("Job", "waits", false, "{spec: {suspend: false}}");
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 1, "train"), Lines{"3 admitted"});
  EXPECT_FALSE(suspended(r, 1, "train"));
  EXPECT_EQ(slices(r, 1, "waits")[0].substr(0, 9), "3 pending");
  EXPECT_TRUE(suspended(r, 1, "waits"));
}

// EJ-21, EJ-22: the size is the smaller of parallelism and completions; zero is a size
TEST(ElasticJobs, ZeroIsASize) {
  Story s = one_queue("4");
  s.job("train", "cq", 3, "1", true, "", 3).step().parallelism("train", 9).step().parallelism("train", 0).step().parallelism("train", 2);
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 1, "train"), Lines{"3 admitted"}) << "no more pods than completions";
  EXPECT_EQ(slices(r, 2, "train"), Lines{"0 admitted"});
  EXPECT_EQ(used(r, 2, "cq"), "0");
  EXPECT_EQ(slices(r, 3, "train"), (Lines{"0 finished:WorkloadSliceReplaced", "2 admitted"}));
  EXPECT_EQ(used(r, 3, "cq"), "2");
}

// EJ-97: nothing is left of a job that was deleted
TEST(ElasticJobs, ADeletedJobLeavesNothing) {
  const auto r = one_queue("3")
                     .job("train", "cq", 1, "1")
                     .step()
                     .parallelism("train", 2)
                     .step()
                     .parallelism("train", 5)
                     .step()
                     .remove("Job", "train")
                     .step()
                     .play();
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"1 finished:WorkloadSliceReplaced", "2 admitted", "5 pending:WaitingForQuota"}));
  EXPECT_TRUE(slices(r, 3, "train").empty());
  EXPECT_EQ(used(r, 3, "cq"), "0");
}

// EJ-100
TEST(ElasticJobs, OnlyTheNewestReplacedSlicesAreKept) {
  Story s = one_queue("10");
  s.configure(R"({"hindsight":{"preemptedWorkloadSliceHistory":1}})");
  s.job("train", "cq", 1, "1");
  for (int n = 2; n <= 5; ++n) s.step().parallelism("train", n);
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 4, "train"), (Lines{"4 finished:WorkloadSliceReplaced", "5 admitted"}));
}

// EJ-91: a job that was deactivated stays so, whatever slice waits
TEST(ElasticJobs, ADeactivatedJobDoesNotComeBackByItsPendingSlice) {
  Story s = one_queue("4");
  s.job("train", "cq", 3, "1").step().parallelism("train", 5);
  auto names = s.play();
  const std::string origin = objects(names, "train")[0]->name;
  const auto r = s.step().patch("Workload", origin, false, "{spec: {active: false}}").step().parallelism("train", 2).step().play();
  EXPECT_TRUE(suspended(r, 2, "train"));
  EXPECT_TRUE(suspended(r, 3, "train"));
  EXPECT_EQ(used(r, 3, "cq"), "0");
  ASSERT_FALSE(slices(r, 3, "train").empty());
  EXPECT_EQ(slices(r, 3, "train")[0].substr(0, 9), "2 pending");
}

// EJ-44, EJ-45, EJ-46, EJ-147: while its checks are not ready a replacement holds the difference, and the old slice runs on
TEST(ElasticJobs, AReplacementThatWaitsForItsChecks) {
  Story s;
  s.flavor("default");
  s.queue("cq", {{"default", "10"}}, "admissionChecksStrategy: {admissionChecks: [{name: budget}]}, ");
  const std::string check =
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget}, spec: {controllerName: example.com/c}, "
      "status: {conditions: [{type: Active, status: 'True', reason: R, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}}";
  s.manifest(check).job("train", "cq", 3, "1");
  const auto ready = [](const std::string& state) {
    return "{status: {admissionChecks: [{name: budget, state: " + state + ", message: m, lastTransitionTime: '2026-01-01T00:00:00Z'}]}}";
  };
  const std::string first = objects(s.play(), "train")[0]->name;
  s.step().patch("Workload", first, true, ready("Ready")).step().parallelism("train", 7);
  const auto waiting = s.play();
  EXPECT_EQ(slices(waiting, 2, "train"), (Lines{"3 admitted", "7 reserved"}));
  EXPECT_EQ(used(waiting, 2, "cq"), "7") << "the larger of the two, not both";
  const std::string second = objects(waiting, "train")[1]->name;

  Story retried = s;
  const auto retry = retried.step().patch("Workload", second, true, ready("Retry")).step().play();
  EXPECT_EQ(slices(retry, 3, "train")[0], "3 admitted");
  EXPECT_FALSE(suspended(retry, 3, "train"));

  Story shrunk = s;
  EXPECT_EQ(slices(shrunk.step().parallelism("train", 5).step().play(), 3, "train"), (Lines{"3 admitted", "5 reserved"}));
  Story grown = s;
  const auto again = grown.step().parallelism("train", 9).step().play();
  EXPECT_EQ(slices(again, 3, "train"), (Lines{"3 admitted", "7 finished:OutOfSync", "9 reserved"}));
  EXPECT_EQ(used(again, 3, "cq"), "9");

  const auto admitted = s.step().patch("Workload", second, true, ready("Ready")).step().play();
  EXPECT_EQ(slices(admitted, 3, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "7 admitted"}));
  EXPECT_EQ(used(admitted, 3, "cq"), "7");
}

}  // namespace
}  // namespace hindsight::simulation
