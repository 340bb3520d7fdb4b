// ray.io RayCluster and RayJob as their integrations read, start and stop them.

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

Json cluster_spec() {
  return Json::parse(R"({
    "headGroupSpec":{"rayStartParams":{},"template":{"spec":{"priorityClassName":"p","containers":[{"name":"h","image":"i","resources":{"requests":{"cpu":"1"}}}]}}},
    "workerGroupSpecs":[
      {"groupName":"Small","template":{"spec":{"containers":[{"name":"w","image":"i","resources":{"requests":{"cpu":"2"}}}]}}},
      {"groupName":"large","replicas":3,"numOfHosts":2,"minReplicas":1,"template":{"spec":{"containers":[{"name":"w","image":"i","resources":{"requests":{"cpu":"4"}}}]}}}]})");
}

Json ray(const std::string& kind, bool suspend = true, const Json& status = Json::object()) {
  Json spec = kind == "RayCluster" ? cluster_spec() : Json{{"entrypoint", "e"}, {"rayClusterSpec", cluster_spec()}};
  spec["suspend"] = suspend;
  return {
      {"apiVersion", "ray.io/v1"},
      {"kind", kind},
      {"metadata",
       {{"name", "r"}, {"namespace", "ns"}, {"uid", "u"}, {"resourceVersion", "10"}, {"labels", {{"kueue.x-k8s.io/queue-name", "lq"}}}}},
      {"spec", std::move(spec)},
      {"status", status}};
}

const ResourceType& type_of(const Json& object) { return object["kind"] == "RayCluster" ? types::ray_cluster : types::ray_job; }

JobObserved seen(const Json& object, Arena& arena) { return observed<JobObserved>(type_of(object), object.dump(), arena); }

/// "head=1(cpu=1000) ...".
std::string pod_sets(const Json& object) {
  Arena arena;
  std::string out;
  const auto j = seen(object, arena);
  for (const auto& p : j.pod_sets)
    out += (out.empty() ? "" : " ") + std::string(p.name) + "=" + std::to_string(p.count) + "(" + joined(p.requests) + ")";
  return out;
}

// BA-169, EJ-129
TEST(Ray, HeadWorkersAndSubmitterArePodSets) {
  const std::string workers = "head=1(cpu=1000) small=1(cpu=2000) large=6(cpu=4000)";
  EXPECT_EQ(pod_sets(ray("RayCluster")), workers);
  EXPECT_EQ(pod_sets(ray("RayJob")), workers + " submitter=1(cpu=500 memory=209715200)");
  Json http = ray("RayJob"), sidecar = ray("RayJob"), own = ray("RayJob");
  http["spec"]["submissionMode"] = "HTTPMode";
  EXPECT_EQ(pod_sets(http), workers);
  sidecar["spec"]["submissionMode"] = "SidecarMode";
  EXPECT_EQ(pod_sets(sidecar), "head=1(cpu=1500 memory=209715200) small=1(cpu=2000) large=6(cpu=4000)");
  own["spec"]["submitterPodTemplate"] =
      Json::parse(R"({"spec":{"containers":[{"name":"s","image":"i","resources":{"requests":{"cpu":"3"}}}]}})");
  EXPECT_EQ(pod_sets(own), workers + " submitter=1(cpu=3000)");
  Arena arena;
  const auto j = seen(ray("RayCluster"), arena);
  EXPECT_EQ(j.kind, "RayCluster");
  EXPECT_EQ(j.group, "ray.io");
  EXPECT_EQ(j.pod_priority_class, "p");
  EXPECT_EQ(j.queue_name, "lq");
  EXPECT_EQ(j.workload_name.substr(0, 13), "raycluster-r-");
}

// EJ-129: a group whose minReplicas is above its replicas has as many pods as that, and asks for them.
TEST(Ray, TheLeastThatAGroupMayHaveAsksForQuota) {
  Json cluster = ray("RayCluster");
  auto& groups = cluster["spec"]["workerGroupSpecs"];
  groups[0]["minReplicas"] = 100;
  groups[1]["minReplicas"] = 5;
  EXPECT_EQ(pod_sets(cluster), "head=1(cpu=1000) small=100(cpu=2000) large=10(cpu=4000)");
}

// EJ-130
TEST(Ray, TheHeadCountsWithItsAutoscaler) {
  Json scaled = ray("RayCluster");
  scaled["spec"]["enableInTreeAutoscaling"] = true;
  EXPECT_EQ(pod_sets(scaled).substr(0, 35), "head=1(cpu=1500 memory=536870912) s");
  scaled["spec"]["autoscalerOptions"] = Json::parse(R"({"resources":{"requests":{"cpu":"2"}}})");
  EXPECT_EQ(pod_sets(scaled).substr(0, 17), "head=1(cpu=3000) ");
}

// EJ-65: only where head and workers all carry the gate, no pod of it runs before it is let
TEST(Ray, TellsWhetherAllOfItsPodsWaitAtTheGate) {
  const auto gated = [](const Json& object) {
    Arena arena;
    return seen(object, arena).pods_gated;
  };
  const Json gates = Json::parse(R"([{"name":"example.com/other"},{"name":"kueue.x-k8s.io/elastic-job"}])");
  Json cluster = ray("RayCluster");
  EXPECT_FALSE(gated(cluster));
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["schedulingGates"] = gates;
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["schedulingGates"] = gates;
  EXPECT_FALSE(gated(cluster)) << "one group is not";
  cluster["spec"]["workerGroupSpecs"][1]["template"]["spec"]["schedulingGates"] = Json::array({gates[0]});
  EXPECT_FALSE(gated(cluster)) << "that is another gate";
  cluster["spec"]["workerGroupSpecs"][1]["template"]["spec"]["schedulingGates"] = gates;
  EXPECT_TRUE(gated(cluster));
}

// BA-169
TEST(Ray, ReadsItsState) {
  struct Case {
    std::string kind, status;
    bool active, ready, finished, succeeded, on_hold;
    std::string message;
  };
  const Case cases[] = {
      {"RayCluster", "{}", false, false, false, false, false, ""},
      {"RayCluster", R"({"state":"ready"})", true, true, false, false, false, ""},
      {"RayCluster", R"({"state":"suspended"})", false, false, false, false, false, ""},
      {"RayCluster", R"({"state":"failed"})", false, false, false, false, false, ""},
      {"RayJob", "{}", false, false, false, false, false, ""},
      {"RayJob", R"({"jobDeploymentStatus":"New"})", false, false, false, false, false, ""},
      {"RayJob", R"({"jobDeploymentStatus":"Suspended"})", false, false, false, false, false, ""},
      {"RayJob", R"({"jobDeploymentStatus":"Initializing"})", true, false, false, false, false, ""},
      {"RayJob", R"({"jobDeploymentStatus":"Running","rayClusterStatus":{"state":"ready"}})", true, true, false, false, false, ""},
      {"RayJob", R"({"jobDeploymentStatus":"Complete","jobStatus":"SUCCEEDED","message":"done"})", true, false, true, true, false, "done"},
      {"RayJob", R"({"jobDeploymentStatus":"Failed","jobStatus":"FAILED","message":"no"})", true, false, true, false, false, "no"},
      {"RayJob", R"({"jobDeploymentStatus":"Complete","jobStatus":"STOPPED"})", true, false, true, false, false, ""},
      {"RayJob", R"({"jobDeploymentStatus":"ValidationFailed"})", true, false, false, false, true, ""},
  };
  for (const auto& c : cases) {
    Arena arena;
    const auto j = seen(ray(c.kind, false, Json::parse(c.status)), arena);
    EXPECT_FALSE(j.suspended);
    EXPECT_EQ(j.active, c.active) << c.kind << c.status;
    EXPECT_EQ(j.pods_ready, c.ready) << c.kind << c.status;
    EXPECT_EQ(j.finished, c.finished) << c.kind << c.status;
    EXPECT_EQ(j.succeeded, c.succeeded) << c.kind << c.status;
    EXPECT_EQ(j.on_hold, c.on_hold) << c.kind << c.status;
    EXPECT_EQ(j.finish_message, c.message) << c.kind << c.status;
  }
  Json elsewhere = ray("RayJob");
  elsewhere["spec"]["clusterSelector"] = {{"ray.io/cluster", "c"}};
  Arena arena;
  EXPECT_FALSE(seen(elsewhere, arena).managed) << "it makes no cluster of its own";
}

admission::JobIntent intent_for(const Json& object, bool run) {
  admission::JobIntent out;
  out.uid = "u";
  out.kind = object["kind"];
  out.group = "ray.io";
  out.namespace_ = "ns";
  out.name = "r";
  out.run = run;
  out.workload = "w";
  out.cluster_queue = "cq";
  if (run)
    for (const char* name : {"head", "small", "large", "submitter"}) out.pod_sets.push_back({name, 1, {{"zone", name}}, {}, {}});
  return out;
}

Json workload_of(const Json& object) {
  admission::WorkloadCreateIntent intent;
  intent.job_uid = "u";
  intent.job_kind = object["kind"];
  intent.job_group = "ray.io";
  intent.namespace_ = "ns";
  intent.job_name = "r";
  intent.name = "w";
  const auto write = plan_create(intent, object);
  EXPECT_TRUE(write) << write.error().message;
  return write ? Json::parse(write->body) : Json();
}

// BA-169, BA-176, EJ-129, EJ-130: what starts is as it was again after a stop, each in one write, and matches its Workload.
TEST(Ray, StartsAndStopsInOneWriteEach) {
  for (const std::string kind : {"RayCluster", "RayJob"}) {
    Json object = ray(kind);
    Json& cluster = kind == "RayCluster" ? object["spec"] : object["spec"]["rayClusterSpec"];
    cluster["enableInTreeAutoscaling"] = true;
    if (kind == "RayJob") object["spec"]["submitterPodTemplate"] = Json::parse(R"({"spec":{"containers":[{"name":"s","image":"i"}]}})");
    const Json before = object, workload = workload_of(object);
    const auto writes = plan_job(intent_for(object, true), object, workload);
    ASSERT_TRUE(writes) << writes.error().message;
    ASSERT_EQ(writes->size(), 1U);
    store(object, writes->front());
    const Json& started = kind == "RayCluster" ? object["spec"] : object["spec"]["rayClusterSpec"];
    EXPECT_EQ(object["spec"]["suspend"], false);
    EXPECT_EQ(started["headGroupSpec"]["template"]["spec"]["nodeSelector"]["zone"], "head");
    EXPECT_EQ(started["headGroupSpec"]["template"]["spec"]["containers"].size(), 1U) << "the autoscaler is added by KubeRay";
    EXPECT_EQ(started["workerGroupSpecs"][0]["template"]["spec"]["nodeSelector"]["zone"], "small");
    EXPECT_EQ(started["workerGroupSpecs"][1]["template"]["spec"]["nodeSelector"]["zone"], "large");
    if (kind == "RayJob") {
      EXPECT_EQ(object["spec"]["submitterPodTemplate"]["spec"]["nodeSelector"]["zone"], "submitter");
    }
    EXPECT_TRUE(plan_job(intent_for(object, true), object, workload)->empty()) << "done";

    Arena arena;
    const auto job = seen(object, arena);
    const auto w = observed<WorkloadObserved>(types::workload, workload.dump(), arena);
    ASSERT_EQ(w.pod_sets.size(), job.pod_sets.size());
    for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
      EXPECT_EQ(w.pod_sets[i].core_hash, job.pod_sets[i].core_hash) << w.pod_sets[i].name;
      EXPECT_EQ(joined(w.pod_sets[i].requests), joined(job.pod_sets[i].requests));
    }

    const auto stop = plan_job(intent_for(object, false), object, workload);
    ASSERT_TRUE(stop);
    ASSERT_EQ(stop->size(), 1U);
    store(object, stop->front());
    EXPECT_EQ(object["spec"], before["spec"]);
    EXPECT_TRUE(plan_job(intent_for(object, false), object, workload)->empty());
  }
}

// ---- elastic ones that scale themselves -------------------------------------------------------------------------------------

/// A RayJob, and the RayCluster that KubeRay made for it.
class ScalingRayJob : public ::testing::Test {
 protected:
  Json job, cluster;
  Arena arena;

  void SetUp() override {
    job = ray("RayJob", false, {{"rayClusterName", "c"}, {"jobDeploymentStatus", "Running"}});
    job["metadata"]["name"] = "rj";
    job["metadata"]["uid"] = "11111111-2222-3333-4444-555555555555";
    job["metadata"]["generation"] = 1;
    job["metadata"]["annotations"] = {{"kueue.x-k8s.io/elastic-job", "true"}};
    job["spec"]["submissionMode"] = "HTTPMode";
    job["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = true;
    cluster = ray("RayCluster", false);
    cluster["metadata"]["name"] = "c";
    cluster["metadata"]["generation"] = 3;
    cluster["metadata"]["ownerReferences"] = {
        {{"apiVersion", "ray.io/v1"}, {"kind", "RayJob"}, {"name", "rj"}, {"uid", job["metadata"]["uid"]}, {"controller", true}}};
    cluster["spec"]["workerGroupSpecs"][0]["replicas"] = 4;
  }
  JobContext context() {
    JobContext out;
    out.find = [this](std::string_view kind, std::string_view namespace_, std::string_view name) -> std::shared_ptr<const std::string> {
      if (kind != "RayCluster" || namespace_ != "ns" || name != "c" || cluster.is_null()) return nullptr;
      return std::make_shared<const std::string>(cluster.dump());
    };
    return out;
  }
  std::string counts() {
    std::string out;
    const auto seen = observed<JobObserved>(types::ray_job, job.dump(), arena, context());
    for (const auto& p : seen.pod_sets) out += (out.empty() ? "" : " ") + std::string(p.name) + "=" + std::to_string(p.count);
    return out + " " + std::string(seen.workload_name);
  }
};

const std::string as_written = "head=1 small=1 large=6 ";

// EJ-131, EJ-132: the size is that of the live cluster, and each step of the autoscaler has a name of its own
TEST_F(ScalingRayJob, HasTheSizeOfItsCluster) {
  EXPECT_EQ(counts(), "head=1 small=4 large=6 rayjob-rj-c0ecf");
  cluster["spec"]["workerGroupSpecs"][1]["replicas"] = 1;
  cluster["metadata"]["generation"] = 4;
  const auto next = counts();
  EXPECT_EQ(next.substr(0, 23), "head=1 small=4 large=2 ");
  EXPECT_NE(next.substr(23), "rayjob-rj-c0ecf");
}

// EJ-8, EJ-131: the new slice is as large as the cluster, not as the job's own text says
TEST_F(ScalingRayJob, ItsNextSliceIsAsLargeAsItsCluster) {
  admission::WorkloadCreateIntent intent;
  intent.job_uid = "u";
  intent.job_kind = "RayJob";
  intent.job_group = "ray.io";
  intent.namespace_ = "ns";
  intent.job_name = "rj";
  intent.name = intent.slice_name = "first";
  const auto first = plan_create(intent, job);
  ASSERT_TRUE(first) << first.error().message;
  intent.name = "second";
  intent.replaces_uid = "uid-first";
  intent.replaces = "ns/first";
  intent.counts = {{"head", 1}, {"small", 4}, {"large", 6}};
  const auto second = plan_create(intent, job, {}, Json::parse(first->body));
  ASSERT_TRUE(second) << second.error().message;
  const Json pod_sets = Json::parse(second->body)["spec"]["podSets"];
  ASSERT_EQ(pod_sets.size(), 3U);
  EXPECT_EQ(pod_sets[1]["count"], 4);
  EXPECT_EQ(pod_sets[2]["count"], 6);
  EXPECT_EQ(Json::parse(first->body)["spec"]["podSets"][1]["count"], 1);
}

// EJ-93, EJ-131: what the job says counts while there is no cluster, and for the next one, which KubeRay makes from it
TEST_F(ScalingRayJob, HasItsOwnSizeWithoutACluster) {
  const std::string own = as_written + "rayjob-rj-d1fd4";
  const Json whole = cluster;
  cluster = nullptr;
  EXPECT_EQ(counts(), own);
  cluster = whole;
  cluster["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(counts(), own);
  cluster = whole;
  cluster["metadata"]["ownerReferences"][0]["uid"] = "somebody-else";
  EXPECT_EQ(counts(), own) << "it has the name only";
  cluster = whole;
  job["spec"]["suspend"] = true;
  EXPECT_EQ(counts(), own);
}

// EJ-1, EJ-131, EJ-132
TEST_F(ScalingRayJob, OnlyElasticOnesThatScaleThemselvesFollowTheirCluster) {
  Json plain = job;
  job["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = false;
  EXPECT_EQ(counts(), as_written + "rayjob-rj-d1fd4") << "elastic, by the generation of the job alone";
  job = plain;
  job["metadata"].erase("annotations");
  EXPECT_EQ(counts().substr(0, as_written.size()), as_written);
}

// EJ-132: who keeps the annotation may tell of the generation as well
TEST_F(ScalingRayJob, ReadsTheGenerationFromItsAnnotation) {
  cluster = nullptr;
  job["metadata"]["annotations"]["kueue.x-k8s.io/raycluster-generation"] = "3";
  EXPECT_EQ(counts(), as_written + "rayjob-rj-c0ecf");
}

// EJ-131
TEST_F(ScalingRayJob, AGroupThatTheJobDoesNotKnowIsAnError) {
  cluster["spec"]["workerGroupSpecs"][1]["groupName"] = "New";
  const auto result = observe_text(types::ray_job, job.dump(), arena, context());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.substr(0, 53), "RayJob ns/rj: spec.rayClusterSpec.workerGroupSpecs: f");
  EXPECT_NE(result.error().message.find("allowed: all groups of its RayCluster, which has new"), std::string::npos)
      << result.error().message;
}

TEST(Ray, NamesWhatIsWrong) {
  EXPECT_EQ(refusal(types::ray_cluster, R"({"metadata":{"name":"r","namespace":"n"}})"),
            "RayCluster n/r: spec: found nothing, allowed: an object");
  EXPECT_EQ(refusal(types::ray_cluster, R"({"metadata":{"name":"r","namespace":"n"},"spec":{"headGroupSpec":{"template":{"spec":{}}}}})"),
            "RayCluster n/r: podSets[0].template.spec.containers: found nothing, allowed: at least one");
}

}  // namespace
}  // namespace hindsight::connectors
