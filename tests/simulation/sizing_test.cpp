// Jobs whose containers are sized at admission (5440 §3.D, §3.E; worked examples E1, E8).

#include <gtest/gtest.h>

#include "tests/simulation/resource_story.hpp"

namespace hindsight::simulation {
namespace {

using connectors::Json;
using connectors::simulated::JobApiLevel;
using connectors::simulated::JobRules;

constexpr const char* gate_on = R"({"featureGates": {"AdjustResourcesOnAdmission": true}})";
constexpr const char* gpu = "nvidia.com/gpu";

std::string quota(int cpu, int gpus) {
  return "{spec: {resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], flavors: [{name: default, resources: [{name: cpu, "
         "nominalQuota: " +
         std::to_string(cpu) + "}, {name: nvidia.com/gpu, nominalQuota: " + std::to_string(gpus) + "}]}]}]}}";
}

/// Job "train" of one pod with container t, that asks for 8 cpu and 4 gpus and may be given fewer gpus.
class Training : public Story {
 public:
  explicit Training(int gpus, const std::string& policy = "Shrink", const std::string& more_annotations = "") : Story(10) {
    options.configuration = gate_on;
    patch("ClusterQueue", "cq", quota(100, gpus));
    step();
    apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, annotations: {hindsight.dev/run-seconds: '1000', "
        "hindsight.dev/resource-policy: " +
        policy + ", hindsight.dev/resource-bounds: '{\"t\":{\"nvidia.com/gpu\":{\"min\":\"1\",\"max\":\"6\",\"step\":\"1\"}}}'" +
        more_annotations +
        "}, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: "
        "{restartPolicy: Never, containers: [{name: t, image: i, resources: {requests: {cpu: '8', nvidia.com/gpu: '4'}, limits: {cpu: '8', "
        "nvidia.com/gpu: '4'}}}]}}}}");
  }
  Training& other(const std::string& name, int gpus, const std::string& labels = "") {
    apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
          ", namespace: default, annotations: {hindsight.dev/run-seconds: '1000'}, labels: {kueue.x-k8s.io/queue-name: lq" + labels +
          "}}, spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
          "i, resources: {requests: {nvidia.com/gpu: '" +
          std::to_string(gpus) + "'}, limits: {nvidia.com/gpu: '" + std::to_string(gpus) + "'}}}]}}}}");
    return *this;
  }
};

Json resources(const Played& p, const std::string& job) { return p.pod(job)["containers"][0]["resources"]; }
std::string gpus(const Played& p, const std::string& job) { return resources(p, job)["requests"][gpu]; }
Json usage(const Json& workload) { return workload["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]; }

const Json own = Json::parse(R"({"requests":{"cpu":"8","nvidia.com/gpu":"4"},"limits":{"cpu":"8","nvidia.com/gpu":"4"}})");

// MR-35, MR-40, MR-41, MR-42, MR-45, MR-46, MR-47, MR-55, MR-56, MR-66
TEST(Sizing, E1AJobGetsTheGpusThatAreFreeAndItsOwnBackAfterwards) {
  Training s(2);
  const auto started = s.play();
  EXPECT_EQ(started.result.refused, Lines{});
  EXPECT_EQ(started.result.notices, Lines{});
  EXPECT_EQ(started.job("train")["spec"]["suspend"], false);
  EXPECT_EQ(resources(started, "train"),
            Json::parse(R"({"requests":{"cpu":"8","nvidia.com/gpu":"2"},"limits":{"cpu":"8","nvidia.com/gpu":"2"}})"));
  EXPECT_EQ(started.pod("train")["nodeSelector"]["zone"], "a") << "in the same write";
  EXPECT_EQ(started.job("train")["metadata"]["generation"], 2) << "one write";
  ASSERT_EQ(started.workloads("train").size(), 1U);
  const auto w = started.workloads("train")[0];
  EXPECT_EQ(usage(w)[gpu], "2");
  EXPECT_EQ(usage(w)["cpu"], "8");
  EXPECT_EQ(w["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"], own) << "the Workload keeps what the user wanted";
  EXPECT_EQ(w["metadata"]["annotations"]["hindsight.dev/resource-plan"], R"({"main":{"t":{"nvidia.com/gpu":"2"}}})");
  EXPECT_EQ(started.count("Job train ResourcesAdjusted: Resources adjusted at admission: container t nvidia.com/gpu 4 -> 2"), 1U);
  EXPECT_EQ(started.count("Job train Started: "), 1U);

  const auto preempted =
      s.step()
          .patch("ClusterQueue", "cq", quota(100, 2))
          .apply(
              "{apiVersion: batch/v1, kind: Job, metadata: {name: urgent, namespace: default, annotations: {hindsight.dev/run-seconds: "
              "'15'}, labels: "
              "{kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: high}}, spec: {suspend: true, parallelism: 1, completions: "
              "1, template: "
              "{spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: '2'}, limits: "
              "{nvidia.com/gpu: '2'}}}]}}}}")
          .play();
  EXPECT_EQ(preempted.result.notices, Lines{}) << "no write was refused";
  EXPECT_EQ(preempted.job("train")["spec"]["suspend"], true);
  EXPECT_EQ(resources(preempted, "train"), own);
  EXPECT_FALSE(preempted.pod("train").contains("nodeSelector"));
  const Json annotations = preempted.workloads("train").at(0)["metadata"]["annotations"];
  EXPECT_FALSE(annotations.contains("hindsight.dev/resource-plan"));
  EXPECT_EQ(preempted.count("Job train ResourcesRestored: "), 1U);
  EXPECT_EQ(preempted.workloads("train").size(), 1U);
  EXPECT_EQ(gpus(preempted, "urgent"), "2") << "a job without bounds is left alone";

  const auto again = s.step().patch("ClusterQueue", "cq", quota(100, 6)).play();
  EXPECT_EQ(resources(again, "train"), own) << "as it is made, now that it fits";
  EXPECT_EQ(usage(again.workloads("train").at(0))[gpu], "4");
  EXPECT_EQ(again.count("Job train ResourcesAdjusted: "), 1U);
}

// MR-39, MR-57: off by default, and without a policy.
TEST(Sizing, WithoutGateOrPolicyResourcesAreLeftAlone) {
  Training off(2);
  off.options.configuration.clear();
  for (const auto& played : {off.play(), Training(2, "None").play(), Training(0).play()}) {
    EXPECT_EQ(played.job("train")["spec"]["suspend"], true);
    EXPECT_EQ(resources(played, "train"), own);
    EXPECT_EQ(Played::condition(played.workloads("train").at(0), "QuotaReserved").substr(0, 6), "False/");
    EXPECT_EQ(played.count("ResourcesAdjusted"), 0U);
  }
}

// MR-66: from the originals each time, whose bytes are never lost.
TEST(Sizing, TenEvictionsLeaveTheOriginalsAsTheyWere) {
  Training s(3);
  for (int i = 0; i < 10; ++i) {
    s.step().workload("train", "{spec: {active: false}}");
    const auto stopped = s.play();
    ASSERT_EQ(resources(stopped, "train"), own) << i;
    EXPECT_EQ(stopped.count("Job train ResourcesRestored: "), static_cast<std::size_t>(i + 1));
    s.step().workload("train", "{spec: {active: true}}").patch("ClusterQueue", "cq", quota(100, 1 + i % 3));
    const auto resumed = s.play();
    ASSERT_EQ(gpus(resumed, "train"), std::to_string(1 + i % 3));
    EXPECT_EQ(resumed.result.notices, Lines{});
  }
}

// MR-41: a Fit policy also takes what nobody else waits for.
TEST(Sizing, FitGrowsOnlyWhileNobodyElseWaits) {
  Training alone(8, "Fit");
  const auto grown = alone.play();
  EXPECT_EQ(gpus(grown, "train"), "6") << "no more than its max";
  EXPECT_EQ(usage(grown.workloads("train").at(0))[gpu], "6");
  Training crowded(8, "Fit");
  crowded.other("waits", 9);
  const auto same = crowded.play();
  EXPECT_EQ(gpus(same, "train"), "4");
  Training shrinks(8, "Shrink");
  EXPECT_EQ(gpus(shrinks.play(), "train"), "4");
}

// MR-44: what counts against quota may have another name than what the pod asks for.
TEST(Sizing, TransformationsChangeTheAccountAndNotTheJob) {
  Training s(2);
  s.options.configuration = R"({"featureGates": {"AdjustResourcesOnAdmission": true}, "resources": {"excludeResourcePrefixes": ["cpu"],
    "transformations": [{"input": "nvidia.com/gpu", "strategy": "Replace", "outputs": {"example.com/credits": "10"}}]}})";
  s.patch("ClusterQueue", "cq",
          "{spec: {resourceGroups: [{coveredResources: [example.com/credits], flavors: [{name: default, resources: [{name: "
          "example.com/credits, nominalQuota: 35}]}]}]}}");
  const auto started = s.play();
  EXPECT_EQ(gpus(started, "train"), "3");
  EXPECT_EQ(usage(started.workloads("train").at(0)), Json::parse(R"({"example.com/credits":"30"})"));
}

// MR-4, MR-51, MR-53, MR-80: a server without the feature is asked three times; then the job waits for what it asks for.
TEST(Sizing, E8AServerWithoutTheFeatureLeavesTheJobAsItIs) {
  Training s(2);
  s.options.job_rules = JobRules::of(JobApiLevel::v1_36_2);
  s.options.job_rules.mutable_resources = false;
  const auto refused = s.step().play();
  EXPECT_EQ(refused.count("Job train ResourceUpdateUnsupported: "), 1U);
  EXPECT_EQ(refused.result.notices.size(), 3U);
  EXPECT_EQ(refused.job("train")["spec"]["suspend"], true);
  EXPECT_EQ(resources(refused, "train"), own);
  const auto w = refused.workloads("train").at(0);
  EXPECT_EQ(Played::condition(w, "QuotaReserved").substr(0, 6), "False/") << "the reservation is given back";
  EXPECT_FALSE(w["metadata"].value("annotations", Json::object()).contains("hindsight.dev/resource-plan"));
  const auto fits = Story(s).step().patch("ClusterQueue", "cq", quota(100, 4)).step().play();
  EXPECT_EQ(fits.job("train")["spec"]["suspend"], false) << "with its own resources it can start";
  EXPECT_EQ(fits.result.notices.size(), 3U);
  for (int i = 0; i < 370; ++i) s.step();
  const auto later = s.patch("ClusterQueue", "cq", quota(100, 2)).play();
  EXPECT_EQ(later.count("Job train ResourceUpdateUnsupported: "), 2U) << "it is asked again after an hour";
}

/// What the user of job "train" writes: three gpus.
const Json three_gpus = Json::parse(R"({"spec":{"template":{"spec":{"containers":[{"name":"t","image":"i","resources":
  {"requests":{"cpu":"8","nvidia.com/gpu":"3"},"limits":{"cpu":"8","nvidia.com/gpu":"3"}}}]}}}})");

/// A user of job "train" who asks for three gpus as soon as its last pod has ended, before anybody else has seen that end.
struct QuickUser {
  int edits = 0;
  bool accepted = false;
  Json found;  ///< The pod's spec just before.

  void follow(connectors::simulated::SimulatedCluster& cluster) {
    *this = {};
    cluster.observe([this, &cluster](const connectors::simulated::ObjectChange& change) {
      const Json& job = change.object->object;
      if (edits > 0 || job["kind"] != "Job" || change.object->name != "train") return;
      if (!job["metadata"]["annotations"].contains("kueue.x-k8s.io/stopping") || job["status"].value("active", 0) > 0) return;
      ++edits;
      found = job["spec"]["template"]["spec"];
      accepted = cluster.merge_patch("Job", "default", "train", connectors::simulated::Part::main, three_gpus).accepted();
    });
  }
};

// MR-65: the user's change comes between the end of the pods and the write that restores the job. What was added to the template goes all
// the same, and the resources are those that the user wants. That a write which was planned before the change is refused and planned anew
// cannot be shown here, for this cluster answers at once; see bridge_test.cpp and sized_jobs_test.cpp.
TEST(Sizing, WhatTheUserChangesMeanwhileWins) {
  Training s(2);
  s.options.jobs.failing_deletions = 1;
  s.options.jobs.retry = Duration::seconds(15);
  QuickUser user;
  s.options.on_start = [&user](connectors::simulated::SimulatedCluster& cluster) { user.follow(cluster); };
  s.step().workload("train", "{spec: {active: false}}");
  const auto stopping = s.play();
  EXPECT_EQ(gpus(stopping, "train"), "2") << "a pod is active still";
  EXPECT_EQ(user.edits, 0);

  const auto changed = s.step().step().play();
  ASSERT_EQ(user.edits, 1);
  EXPECT_TRUE(user.accepted);
  EXPECT_EQ(user.found["containers"][0]["resources"]["requests"][gpu], "2") << "nothing was restored yet";
  EXPECT_EQ(user.found["nodeSelector"]["zone"], "a");
  EXPECT_EQ(gpus(changed, "train"), "3");
  EXPECT_EQ(resources(changed, "train")["limits"][gpu], "3");
  EXPECT_FALSE(changed.pod("train").contains("nodeSelector"));
  EXPECT_FALSE(changed.job("train")["metadata"]["annotations"].contains("kueue.x-k8s.io/stopping"));
  EXPECT_EQ(changed.job("train")["spec"]["suspend"], true);
  EXPECT_EQ(changed.result.notices, Lines{});
  ASSERT_EQ(changed.workloads("train").size(), 1U);
  const auto w = changed.workloads("train")[0];
  EXPECT_EQ(w["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"], resources(changed, "train")) << "the new original";

  const auto resumed = s.step().workload("train", "{spec: {active: true}}").play();
  EXPECT_EQ(gpus(resumed, "train"), "2");
  EXPECT_EQ(usage(resumed.workloads("train").at(0))[gpu], "2");
  EXPECT_EQ(resumed.count("Job train ResourcesAdjusted: Resources adjusted at admission: container t nvidia.com/gpu 3 -> 2"), 1U);
}

// MR-62, MR-66: also what is changed when the job has its own resources again is planned from
TEST(Sizing, WhatTheUserChangesAfterwardsIsTheNewOriginal) {
  Training s(2);
  s.step().workload("train", "{spec: {active: false}}");
  EXPECT_EQ(resources(s.play(), "train"), own);
  const auto changed = s.step().patch("Job", "train", three_gpus.dump()).play();
  EXPECT_EQ(gpus(changed, "train"), "3");
  const auto resumed = s.step().workload("train", "{spec: {active: true}}").play();
  EXPECT_EQ(gpus(resumed, "train"), "2");
  EXPECT_EQ(usage(resumed.workloads("train").at(0))[gpu], "2");
  EXPECT_EQ(resumed.count("Job train ResourcesAdjusted: Resources adjusted at admission: container t nvidia.com/gpu 3 -> 2"), 1U);
}

// MR-70: the log knows what the resources were when there is no Workload to say so.
TEST(Sizing, WithoutItsWorkloadAJobStillGetsItsResourcesBack) {
  Training s(2);
  const auto started = s.play();
  s.step();
  s.patch("ClusterQueue", "cq", "{spec: {stopPolicy: Hold}}");
  s.remove("Workload", started.workloads("train").at(0)["metadata"]["name"]);
  const auto played = s.step().play();
  EXPECT_EQ(played.job("train")["spec"]["suspend"], true);
  EXPECT_EQ(resources(played, "train"), own);
}

// MR-76
TEST(Sizing, AChangedElasticJobReachesItsPendingSlice) {
  Training s(2, "None", ", kueue.x-k8s.io/elastic-job: 'true'");
  const auto waiting = s.play();
  ASSERT_EQ(waiting.workloads("train").size(), 1U);
  EXPECT_EQ(Played::condition(waiting.workloads("train")[0], "QuotaReserved").substr(0, 6), "False/");
  const auto fits = s.step()
                        .patch("Job", "train",
                               "{spec: {template: {spec: {containers: [{name: t, image: i, resources: {requests: {cpu: '8', "
                               "nvidia.com/gpu: '2'}, limits: {cpu: '8', nvidia.com/gpu: '2'}}}]}}}}")
                        .play();
  EXPECT_EQ(fits.result.refused, Lines{});
  EXPECT_EQ(fits.job("train")["spec"]["suspend"], false);
  ASSERT_EQ(fits.workloads("train").size(), 1U);
  EXPECT_EQ(usage(fits.workloads("train")[0])[gpu], "2");
}

}  // namespace
}  // namespace hindsight::simulation
