// Webhooks of RayClusters and RayJobs (77 §2.5, §3.8), and where elastic jobs cannot be.

#include <gtest/gtest.h>

#include <string>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::defaulted;
using test::job;
using test::refusal;

constexpr const char* elastic_job = "kueue.x-k8s.io/elastic-job";

Json cluster_spec(bool autoscaling) {
  Json spec = Json::parse(R"({
    "headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},
    "workerGroupSpecs":[{"groupName":"a","template":{"spec":{"containers":[{"name":"w"}]}}},
                        {"groupName":"b","template":{"spec":{"containers":[{"name":"w"}]}}}]})");
  if (autoscaling) spec["enableInTreeAutoscaling"] = true;
  return spec;
}

Json ray(const std::string& kind, bool elastic, bool autoscaling = false) {
  Json spec = kind == "RayCluster" ? cluster_spec(autoscaling) : Json{{"rayClusterSpec", cluster_spec(autoscaling)}};
  Json object{{"apiVersion", "ray.io/v1"},
              {"kind", kind},
              {"metadata", {{"name", "r"}, {"namespace", "ns"}, {"labels", {{"kueue.x-k8s.io/queue-name", "q"}}}}},
              {"spec", std::move(spec)}};
  object["spec"]["suspend"] = true;
  if (elastic) object["metadata"]["annotations"][elastic_job] = "true";
  return object;
}

Json& cluster_of(Json& object) { return object["kind"] == "RayCluster" ? object["spec"] : object["spec"]["rayClusterSpec"]; }

// EJ-4: Jobs and the kinds of Ray can be elastic; of the others the kind is named
TEST(Elastic, IsForSomeKinds) {
  EXPECT_EQ(refusal({}, "CREATE", job(R"({"annotations":{"kueue.x-k8s.io/elastic-job":"true"}})")), "");
  EXPECT_EQ(refusal({}, "CREATE", ray("RayJob", true)), "");
  EXPECT_EQ(refusal({}, "CREATE", defaulted({}, ray("RayCluster", true))), "");
  Json job_set{{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
               {"kind", "JobSet"},
               {"metadata", {{"name", "s"}, {"namespace", "ns"}, {"annotations", {{elastic_job, "true"}}}}},
               {"spec", {{"suspend", true}}}};
  EXPECT_EQ(refusal({}, "CREATE", job_set),
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not supported for \"jobset.x-k8s.io/v1alpha2, "
            "Kind=JobSet\"");
}

// EJ-65, EJ-101: all pods of an elastic RayCluster wait behind the gate, which is added once and may not be left out
TEST(Ray, PodsOfAnElasticClusterAreGated) {
  const Json gate = Json::parse(R"([{"name":"kueue.x-k8s.io/elastic-job"}])");
  const Json made = defaulted({}, ray("RayCluster", true));
  EXPECT_EQ(made["spec"]["headGroupSpec"]["template"]["spec"]["schedulingGates"], gate);
  for (const auto& group : made["spec"]["workerGroupSpecs"]) EXPECT_EQ(group["template"]["spec"]["schedulingGates"], gate);
  EXPECT_EQ(defaulted({}, made), made) << "once";
  EXPECT_EQ(refusal({}, "CREATE", made), "");

  EXPECT_EQ(
      refusal({}, "CREATE", ray("RayCluster", true)),
      "[spec.headGroupSpec.template.spec.schedulingGates: Invalid value: an elastic job must have the ElasticJobSchedulingGate, "
      "spec.workerGroupSpecs[0].template.spec.schedulingGates: Invalid value: an elastic job must have the ElasticJobSchedulingGate, "
      "spec.workerGroupSpecs[1].template.spec.schedulingGates: Invalid value: an elastic job must have the ElasticJobSchedulingGate]");
  const Json plain = defaulted({}, ray("RayCluster", false));
  EXPECT_FALSE(plain["spec"]["headGroupSpec"]["template"]["spec"].contains("schedulingGates"));
  Around off;
  off.gates["ElasticJobsViaWorkloadSlices"] = false;
  EXPECT_FALSE(defaulted(off, ray("RayCluster", true))["spec"]["headGroupSpec"]["template"]["spec"].contains("schedulingGates"));
}

// EJ-65, EJ-131: the cluster that KubeRay makes for an elastic RayJob is not queued itself, and its pods are gated all the same
TEST(Ray, TheClusterOfAJobIsGatedAndNotSuspended) {
  Around around;
  Json owner = ray("RayJob", true);
  owner["metadata"]["uid"] = "u-job";
  around.objects["RayJob/ns/r"] = owner;
  Json child = ray("RayCluster", true);
  child["spec"]["suspend"] = false;
  child["metadata"]["ownerReferences"] = {
      {{"apiVersion", "ray.io/v1"}, {"kind", "RayJob"}, {"name", "r"}, {"uid", "u-job"}, {"controller", true}}};
  const Json made = defaulted(around, child);
  EXPECT_EQ(made["spec"]["suspend"], false);
  EXPECT_EQ(made["spec"]["workerGroupSpecs"][1]["template"]["spec"]["schedulingGates"].size(), 1U);
  const Json job_made = defaulted(around, ray("RayJob", true));
  EXPECT_FALSE(cluster_of(owner)["headGroupSpec"]["template"]["spec"].contains("schedulingGates"));
  EXPECT_EQ(job_made["spec"]["rayClusterSpec"], cluster_spec(false)) << "it hands its annotation on";
}

// BA-23: both kinds are suspended when they are made, but for a job that uses a cluster which is there already
TEST(Ray, IsSuspendedAtCreation) {
  for (const char* kind : {"RayCluster", "RayJob"}) {
    Json object = ray(kind, false);
    object["spec"].erase("suspend");
    EXPECT_EQ(defaulted({}, object)["spec"]["suspend"], true) << kind;
  }
  Json elsewhere = ray("RayJob", false);
  elsewhere["spec"].erase("suspend");
  elsewhere["spec"]["clusterSelector"] = {{"ray.io/cluster", "c"}};
  EXPECT_FALSE(defaulted({}, elsewhere)["spec"].contains("suspend"));
}

// EJ-101, EJ-131: what scales itself has to be elastic
TEST(Ray, OnlyElasticOnesScaleThemselves) {
  const std::string cluster =
      "spec.enableInTreeAutoscaling: Invalid value: true: a kueue-managed RayCluster can use autoscaling only as an elastic job: enable "
      "the "
      "ElasticJobsViaWorkloadSlices feature gate and set the \"kueue.x-k8s.io/elastic-job\": \"true\" annotation";
  const std::string job =
      "spec.rayClusterSpec.enableInTreeAutoscaling: Invalid value: true: a kueue managed job should only use autoscaling when workload "
      "slicing is enabled";
  Around off;
  off.gates["ElasticJobsViaWorkloadSlices"] = false;
  EXPECT_EQ(refusal({}, "CREATE", ray("RayCluster", false, true)), cluster);
  EXPECT_EQ(refusal(off, "CREATE", ray("RayCluster", true, true)), cluster);
  EXPECT_EQ(refusal({}, "CREATE", ray("RayJob", false, true)), job);
  EXPECT_EQ(refusal(off, "CREATE", ray("RayJob", true, true)), job);
  EXPECT_EQ(refusal({}, "CREATE", ray("RayJob", true, true)), "");
  Json made = defaulted({}, ray("RayCluster", true, true));
  EXPECT_EQ(refusal({}, "CREATE", made), "");
  EXPECT_EQ(refusal({}, "UPDATE", ray("RayJob", false, true), ray("RayJob", false)), job);

  Json nobodys = ray("RayCluster", false, true);
  nobodys["metadata"].erase("labels");
  EXPECT_EQ(refusal({}, "CREATE", nobodys), "") << "it waits in no queue";
  made["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_EQ(refusal({}, "CREATE", made),
            "spec.enableInTreeAutoscaling: Forbidden: in-tree autoscaling is not supported for a MultiKueue-managed elastic RayCluster");
}

// EJ-129: at most 18 pod sets, and none but the head's is called head
TEST(Ray, GroupsAreBounded) {
  for (const std::string kind : {"RayCluster", "RayJob"}) {
    const std::string field = kind == "RayCluster" ? "spec" : "spec.rayClusterSpec";
    const std::size_t most = kind == "RayCluster" ? 17 : 16;  // a RayJob has a submitter
    Json object = ray(kind, false);
    Json& groups = cluster_of(object)["workerGroupSpecs"];
    while (groups.size() < most) groups.push_back({{"groupName", "g" + std::to_string(groups.size())}});
    EXPECT_EQ(refusal({}, "CREATE", object), "");
    groups.push_back({{"groupName", "more"}});
    EXPECT_EQ(refusal({}, "CREATE", object), field + ".workerGroupSpecs: Invalid value: " + std::to_string(most + 1) +
                                                 ": must have at most " + std::to_string(most) + " items");
    Json named = ray(kind, false);
    cluster_of(named)["workerGroupSpecs"][1]["groupName"] = "head";
    EXPECT_EQ(refusal({}, "CREATE", named), field + ".workerGroupSpecs[1].groupName: Forbidden: \"head\" is reserved for the head group");
  }
  Json http = ray("RayJob", false);
  http["spec"]["submissionMode"] = "HTTPMode";
  Json& groups = cluster_of(http)["workerGroupSpecs"];
  while (groups.size() < 17) groups.push_back({{"groupName", "g" + std::to_string(groups.size())}});
  EXPECT_EQ(refusal({}, "CREATE", http), "");
}

// EJ-107
TEST(Ray, ElasticOnesAskForNoOnePlace) {
  for (const char* which : {"required", "preferred"}) {
    Json object = defaulted({}, ray("RayCluster", true));
    const std::string key = std::string("kueue.x-k8s.io/podset-") + which + "-topology";
    object["spec"]["workerGroupSpecs"][1]["template"]["metadata"]["annotations"][key] = "rack";
    EXPECT_EQ(refusal({}, "CREATE", object), "spec.workerGroupSpecs[1].template.metadata.annotations." + key + ": Forbidden: " + which +
                                                 " topology is not supported with elastic jobs");
  }
}

// EJ-49, CA-95
TEST(Elastic, IsTakenWhereJobsAreAdmittedConcurrently) {
  const Json one = job(R"({"labels":{"kueue.x-k8s.io/queue-name":"q"},"annotations":{"kueue.x-k8s.io/elastic-job":"true"}})");
  Around around;
  around.gates["ConcurrentAdmission"] = true;
  around.objects["LocalQueue/ns/q"] = Json::parse(R"({"spec":{"clusterQueue":"cq"}})");
  for (const char* form : {"concurrentAdmissionPolicy", "concurrentAdmission"}) {
    around.objects["ClusterQueue//cq"] = Json{{"spec", {{form, Json::object()}}}};
    EXPECT_EQ(refusal(around, "CREATE", one), "") << form;
  }
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
