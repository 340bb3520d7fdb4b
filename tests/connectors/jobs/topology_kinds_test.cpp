// Topologies of every kind of job that has pod sets: what its Workload asks for, what a start puts into its templates, and that a stop
// takes it away again.

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

using admission::JobIntent;

constexpr const char* pods = R"({"metadata":{"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"}},
  "spec":{"containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"1"}}}]}})";

struct Kind {
  const char *kind, *group;
  Json spec;
  std::vector<std::string> pod_sets;
  std::vector<std::string> templates;  ///< Paths in the object, in the order of the pod sets.
  Json labels;                         ///< What the topology request says of ranks, of the last pod set.
};

std::vector<Kind> kinds() {
  const Json pod = Json::parse(pods);
  const Json ranked{{"podIndexLabel", "batch.kubernetes.io/job-completion-index"}};
  Json in_groups = ranked;
  in_groups["subGroupIndexLabel"] = "jobset.sigs.k8s.io/job-index";
  in_groups["subGroupCount"] = 2;
  const Json cluster{{"headGroupSpec", {{"template", pod}}},
                     {"workerGroupSpecs", Json::array({{{"groupName", "w"}, {"replicas", 2}, {"template", pod}}})}};
  return {
      {"Job", "batch", {{"suspend", true}, {"parallelism", 2}, {"template", pod}}, {"main"}, {"/spec/template"}, ranked},
      {"JobSet",
       "jobset.x-k8s.io",
       {{"suspend", true},
        {"replicatedJobs",
         Json::array({{{"name", "w"}, {"replicas", 2}, {"template", {{"spec", {{"parallelism", 1}, {"template", pod}}}}}}})}},
       {"w"},
       {"/spec/replicatedJobs/0/template/spec/template"},
       in_groups},
      {"RayCluster",
       "ray.io",
       [&] {
         Json spec = cluster;
         spec["suspend"] = true;
         return spec;
       }(),
       {"head", "w"},
       {"/spec/headGroupSpec/template", "/spec/workerGroupSpecs/0/template"},
       Json::object()},
      {"RayJob",
       "ray.io",
       {{"suspend", true}, {"shutdownAfterJobFinishes", true}, {"rayClusterSpec", cluster}, {"submissionMode", "HTTPMode"}},
       {"head", "w"},
       {"/spec/rayClusterSpec/headGroupSpec/template", "/spec/rayClusterSpec/workerGroupSpecs/0/template"},
       Json::object()},
  };
}

Json object_of(const Kind& k) {
  const std::string version = std::string(k.group) == "jobset.x-k8s.io" ? "v1alpha2" : "v1";
  return {{"apiVersion", std::string(k.group) + "/" + version},
          {"kind", k.kind},
          {"metadata",
           {{"name", "j"},
            {"namespace", "ns"},
            {"uid", "u"},
            {"resourceVersion", "10"},
            {"generation", 1},
            {"labels", {{"kueue.x-k8s.io/queue-name", "lq"}}}}},
          {"spec", k.spec},
          {"status", Json::object()}};
}

// TAS-130, TAS-77, TAS-127
TEST(TopologyKinds, TheWorkloadAsksAndTheTemplatesWait) {
  for (const Kind& k : kinds()) {
    SCOPED_TRACE(k.kind);
    const Json before = object_of(k);
    admission::WorkloadCreateIntent create;
    create.job_uid = "u";
    create.job_kind = k.kind;
    create.job_group = k.group;
    create.namespace_ = "ns";
    create.job_name = "j";
    create.name = "wl";
    const auto made = plan_create(create, before);
    ASSERT_TRUE(made) << made.error().message;
    const Json workload = Json::parse(made->body);
    const Json& pod_sets = workload["spec"]["podSets"];
    ASSERT_EQ(pod_sets.size(), k.pod_sets.size()) << pod_sets.dump();
    for (std::size_t i = 0; i < k.pod_sets.size(); ++i) {
      EXPECT_EQ(pod_sets[i]["name"], k.pod_sets[i]);
      EXPECT_EQ(pod_sets[i]["topologyRequest"]["required"], "rack") << pod_sets[i].dump();
    }
    Json wanted = k.labels;
    wanted["required"] = "rack";
    EXPECT_EQ(pod_sets.back()["topologyRequest"], wanted);

    JobIntent intent;
    intent.uid = "u";
    intent.kind = k.kind;
    intent.group = k.group;
    intent.namespace_ = "ns";
    intent.name = "j";
    intent.run = true;
    intent.workload = "wl";
    intent.workload_uid = "w";
    intent.cluster_queue = "cq";
    intent.local_queue = "lq";
    for (std::size_t i = 0; i < k.pod_sets.size(); ++i) {
      auto& start = intent.pod_sets.emplace_back();
      start.name = k.pod_sets[i];
      start.count = pod_sets[i]["count"].get<std::int32_t>();
      start.node_labels = {{"pool", "gpu"}};
      start.placed = true;
    }
    Json object = before;
    const auto settle_with = [&](const JobIntent& wants) {
      settle(object, [&](const Json& o) {
        auto writes = plan_job(wants, o, workload, TemplateMutability::suspended);
        EXPECT_TRUE(writes) << writes.error().message;
        return writes ? *writes : std::vector<Write>{};
      });
    };
    settle_with(intent);
    EXPECT_FALSE(object["spec"].value("suspend", false));
    for (std::size_t i = 0; i < k.templates.size(); ++i) {
      const Json& pod = object.at(Json::json_pointer(k.templates[i]));
      EXPECT_EQ(pod["spec"]["schedulingGates"], Json::parse(R"([{"name":"kueue.x-k8s.io/topology"}])")) << pod.dump();
      EXPECT_EQ(pod["spec"]["nodeSelector"]["pool"], "gpu");
      EXPECT_EQ(pod["metadata"]["annotations"]["kueue.x-k8s.io/workload"], "wl");
      EXPECT_EQ(pod["metadata"]["labels"]["kueue.x-k8s.io/podset"], k.pod_sets[i]);
    }
    intent.run = false;
    intent.pod_sets.clear();
    settle_with(intent);
    EXPECT_TRUE(object["spec"]["suspend"].get<bool>());
    for (const auto& path : k.templates)
      EXPECT_EQ(object.at(Json::json_pointer(path)), before.at(Json::json_pointer(path))) << path << " is as its user wrote it";
  }
}

}  // namespace
}  // namespace hindsight::connectors
