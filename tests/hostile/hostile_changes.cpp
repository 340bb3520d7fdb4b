// Objects that do not stay what they are.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

using Writes = std::vector<Write>;

constexpr const char* queue_name = "kueue.x-k8s.io/queue-name";

Json labelled(const char* key, Json value) { return {{"metadata", {{"labels", {{key, std::move(value)}}}}}}; }
Json annotated(const char* key, Json value) { return {{"metadata", {{"annotations", {{key, std::move(value)}}}}}}; }

/// A job, and then these patches in turn, `times` over.
HostileKind changing(std::string name, std::vector<Json> patches, int times, Json base = Json::object()) {
  return {"change/" + std::move(name), Right::jobs, [patches = std::move(patches), times, base = std::move(base)](Making& m) {
            const std::string job_name = m.name("ch");
            Json j = job(m, job_name);
            j.merge_patch(base);
            Writes out{create(std::move(j))};
            for (int i = 0; i < times; ++i)
              for (const auto& body : patches) out.push_back(patch("Job", job_name, body));
            return out;
          }};
}

}  // namespace

void add_changes(std::vector<HostileKind>& out) {
  out.push_back(changing("suspend", {{{"spec", {{"suspend", false}}}}, {{"spec", {{"suspend", true}}}}}, 8));
  out.push_back(changing("unsuspend", {{{"spec", {{"suspend", false}}}}}, 8));
  out.push_back(changing("queue", {labelled(queue_name, "other"), labelled(queue_name, "lq"), labelled(queue_name, nullptr)}, 6));
  out.push_back(
      changing("class", {labelled("kueue.x-k8s.io/priority-class", "none"), labelled("kueue.x-k8s.io/priority-class", nullptr)}, 6));
  out.push_back(
      changing("max-time",
               {labelled("kueue.x-k8s.io/max-exec-time-seconds", "1"), labelled("kueue.x-k8s.io/max-exec-time-seconds", "2147483647")}, 6));
  out.push_back(changing(
      "gate-grows-and-goes",
      {annotated("kueue.x-k8s.io/admission-gated-by", "a/b"), annotated("kueue.x-k8s.io/admission-gated-by", "a/b,c/d"),
       annotated("kueue.x-k8s.io/admission-gated-by", nullptr), annotated("kueue.x-k8s.io/admission-gated-by", std::string(40'000, 'g'))},
      3, annotated("kueue.x-k8s.io/admission-gated-by", "a/b")));
  out.push_back(changing("scheduling-gate-grows-and-goes",
                         {annotated("kueue.x-k8s.io/scheduling-gated-by", "a/b"), annotated("kueue.x-k8s.io/scheduling-gated-by", nullptr)},
                         4, annotated("kueue.x-k8s.io/scheduling-gated-by", "a/b")));
  out.push_back(
      changing("elastic-or-not", {annotated("kueue.x-k8s.io/elastic-job", "true"), annotated("kueue.x-k8s.io/elastic-job", nullptr)}, 4));
  out.push_back(changing("elastic-sizes",
                         {{{"spec", {{"parallelism", 9}}}}, {{"spec", {{"parallelism", 1}}}}, {{"spec", {{"parallelism", 3}}}}}, 5,
                         {{"metadata", {{"annotations", {{"kueue.x-k8s.io/elastic-job", "true"}}}}}, {"spec", {{"completions", 20}}}}));
  out.push_back(changing("parallelism",
                         {{{"spec", {{"parallelism", 0}}}}, {{"spec", {{"parallelism", 100'000}}}}, {{"spec", {{"parallelism", 1}}}}}, 5));
  out.push_back(changing("stopping", {annotated("kueue.x-k8s.io/stopping", "true"), annotated("kueue.x-k8s.io/stopping", nullptr)}, 6));
  out.push_back(changing("prebuilt",
                         {annotated("kueue.x-k8s.io/prebuilt-workload-name", "a"), annotated("kueue.x-k8s.io/prebuilt-workload-name", "b"),
                          annotated("kueue.x-k8s.io/prebuilt-workload-name", nullptr)},
                         4));
  out.push_back(changing("sizes",
                         {annotated("hindsight.dev/resource-policy", "Fit"), annotated("hindsight.dev/resource-policy", "Shrink"),
                          annotated("hindsight.dev/resource-policy", "None")},
                         4, annotated("hindsight.dev/resource-bounds", R"({"c":{"cpu":{"min":"1m","max":"100"}}})")));
  out.push_back(changing("notes", {annotated("note", std::string(100'000, 'n')), annotated("note", "short")}, 4));
  out.push_back(changing("template",
                         {{{"spec", {{"template", {{"spec", {{"nodeSelector", {{"a", "b"}}}}}}}}}},
                          {{"spec", {{"template", {{"spec", {{"nodeSelector", nullptr}}}}}}}}},
                         5));
  out.push_back({"change/deleted-and-held", Right::jobs, [](Making& m) {
                   const std::string name = m.name("held");
                   Json j = job(m, name);
                   j["metadata"]["finalizers"] = Json::array({"example.com/stays"});
                   j["spec"]["suspend"] = false;
                   return Writes{create(std::move(j)), remove("Job", name), patch("Job", name, {{"spec", {{"suspend", false}}}}),
                                 patch("Job", name, labelled(queue_name, "other"))};
                 }});
  out.push_back({"change/made-anew-all-the-time", Right::jobs, [](Making& m) {
                   Writes writes;
                   const std::string name = m.name("anew");
                   for (int i = 0; i < 8; ++i) {
                     Json j = job(m, name);
                     j["spec"]["suspend"] = i % 2 == 0;
                     writes.push_back(create(std::move(j)));
                     writes.push_back(remove("Job", name));
                   }
                   return writes;
                 }});
  out.push_back(
      {"change/ray-sizes", Right::jobs, [](Making& m) {
         const std::string name = m.name("rs");
         Writes writes{create(ray_cluster(m, name))};
         for (int i = 0; i < 8; ++i)
           writes.push_back(patch(
               "RayCluster", name,
               {{"spec",
                 {{"suspend", i % 2 == 0},
                  {"workerGroupSpecs",
                   Json::array({{{"groupName", "w" + std::to_string(i % 3)}, {"replicas", i * 100}, {"template", pod_template()}}})}}}}));
         return writes;
       }});
  out.push_back({"change/ray-loses-its-spec", Right::jobs, [](Making& m) {
                   const std::string name = m.name("rl");
                   return Writes{create(ray_job(m, name)), patch("RayJob", name, {{"spec", {{"rayClusterSpec", nullptr}}}}),
                                 patch("RayJob", name, {{"spec", {{"rayClusterSpec", {{"headGroupSpec", Json::array()}}}}}}),
                                 remove("RayJob", name)};
                 }});
  out.push_back({"change/workload-active", Right::workloads, [](Making& m) {
                   const std::string name = m.name("wa");
                   Writes writes{create(workload(m, name))};
                   for (int i = 0; i < 8; ++i) writes.push_back(patch("Workload", name, {{"spec", {{"active", i % 2 == 1}}}}));
                   writes.push_back(remove("Workload", name));
                   return writes;
                 }});
  out.push_back({"change/workload-of-a-job", Right::workloads, [](Making& m) {
                   const std::string name = m.name("wj");
                   Json w = workload(m, name);
                   Writes writes{create(job(m, m.name("jwj")))};
                   w["metadata"]["ownerReferences"] = Json::array({owner("batch/v1", "Job", m.name("jwj"), "@uid:Job/" + m.name("jwj"))});
                   for (int i = 0; i < 4; ++i) {
                     writes.push_back(create(w));
                     writes.push_back(patch("Workload", name, {{"spec", {{"priority", i * 1'000}}}}));
                     writes.push_back(remove("Workload", name));
                   }
                   return writes;
                 }});
}

}  // namespace hindsight::hostile
