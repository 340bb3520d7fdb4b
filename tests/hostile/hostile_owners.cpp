// References to owners: forged, cyclic, deep, wide, of other tenants.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

constexpr const char* batch = "batch/v1";
constexpr const char* set_version = "jobset.x-k8s.io/v1alpha2";
constexpr const char* ray = "ray.io/v1";

/// A job that runs, owned by `reference`.
Json owned(Json object, Json reference) {
  object["metadata"]["ownerReferences"] = Json::array({std::move(reference)});
  object["spec"]["suspend"] = false;
  return object;
}

std::string uid_of(const std::string& kind, const std::string& name) { return "@uid:" + kind + "/" + name; }

Victim victim(Making& m) {
  if (m.victims.empty()) return {"elsewhere", "nobody", "00000000-0000-0000-0000-000000000000"};
  return m.victims[m.random.below(m.victims.size())];
}

}  // namespace

void add_owners(std::vector<HostileKind>& out) {
  out.push_back({"owner/own-job", Right::jobs, [](Making& m) {
                   const std::string top = m.name("top");
                   return std::vector<Write>{create(job(m, top)),
                                             create(owned(job(m, m.name("forged")), owner(batch, "Job", top, uid_of("Job", top))))};
                 }});
  out.push_back({"owner/own-job-without-a-queue", Right::jobs, [](Making& m) {
                   const std::string top = m.name("top");
                   Json forged = owned(job(m, m.name("forged")), owner(batch, "Job", top, uid_of("Job", top)));
                   forged["metadata"]["labels"] = Json::object();
                   return std::vector<Write>{create(job(m, top)), create(std::move(forged))};
                 }});
  for (const char* kind : {"Job", "RayCluster"})
    out.push_back({"owner/beyond-a-job-set/" + std::string(kind), Right::jobs, [kind](Making& m) {
                     const std::string top = m.name("set");
                     std::vector<Write> writes{create(job_set(m, top))};
                     for (int i = 0; i < 6; ++i) {
                       const std::string name = m.name("part" + std::to_string(i));
                       writes.push_back(create(owned(std::string_view(kind) == "Job" ? job(m, name) : ray_cluster(m, name),
                                                     owner(set_version, "JobSet", top, uid_of("JobSet", top)))));
                     }
                     return writes;
                   }});
  out.push_back({"owner/beyond-a-ray-job", Right::jobs, [](Making& m) {
                   const std::string top = m.name("ray");
                   std::vector<Write> writes{create(ray_job(m, top))};
                   for (int i = 0; i < 4; ++i) {
                     Json cluster = ray_cluster(m, m.name("cluster" + std::to_string(i)));
                     cluster["spec"]["workerGroupSpecs"][0]["replicas"] = 1 + i;
                     writes.push_back(create(owned(std::move(cluster), owner(ray, "RayJob", top, uid_of("RayJob", top)))));
                   }
                   return writes;
                 }});
  out.push_back({"owner/somebody-elses", Right::jobs, [](Making& m) {
                   const Victim v = victim(m);
                   return std::vector<Write>{create(owned(job(m, m.name("thief")), owner(set_version, "JobSet", v.name, v.uid))),
                                             create(owned(job(m, m.name("thief2")), owner(batch, "Job", v.name, v.uid)))};
                 }});
  out.push_back(
      {"owner/itself", Right::jobs, [](Making& m) {
         const std::string name = m.name("self");
         return std::vector<Write>{
             create(job_set(m, name)),
             patch("JobSet", name,
                   {{"metadata", {{"ownerReferences", Json::array({owner(set_version, "JobSet", name, uid_of("JobSet", name))})}}}})};
       }});
  for (const int length : {2, 3, 12, 40})
    out.push_back(
        {"owner/circle-of-" + std::to_string(length), Right::jobs, [length](Making& m) {
           std::vector<Write> writes;
           const auto name = [&](int i) { return m.name("ring" + std::to_string(i % length)); };
           const auto make = [&](int i) { return i % 2 == 0 ? ray_job(m, name(i)) : ray_cluster(m, name(i)); };
           for (int i = 0; i < length; ++i) writes.push_back(create(make(i)));
           for (int i = 0; i < length; ++i) {
             const std::string above = (i + 1) % length % 2 == 0 ? "RayJob" : "RayCluster";
             writes.push_back(
                 patch(i % 2 == 0 ? "RayJob" : "RayCluster", name(i),
                       {{"metadata", {{"ownerReferences", Json::array({owner(ray, above, name(i + 1), uid_of(above, name(i + 1)))})}}}}));
           }
           return writes;
         }});
  for (const int length : {9, 10, 11, 30})
    out.push_back({"owner/chain-of-" + std::to_string(length), Right::jobs, [length](Making& m) {
                     std::vector<Write> writes{create(ray_job(m, m.name("link0")))};
                     for (int i = 1; i < length; ++i) {
                       const std::string above = i % 2 == 1 ? "RayJob" : "RayCluster";
                       const std::string upper = m.name("link" + std::to_string(i - 1));
                       const std::string name = m.name("link" + std::to_string(i));
                       writes.push_back(create(
                           owned(i % 2 == 1 ? ray_cluster(m, name) : ray_job(m, name), owner(ray, above, upper, uid_of(above, upper)))));
                     }
                     return writes;
                   }});
  out.push_back({"owner/hundreds", Right::jobs, [](Making& m) {
                   Json j = job(m, m.name("owned"));
                   Json all = Json::array();
                   for (int i = 0; i < 500; ++i)
                     all.push_back(owner(batch, "Job", "o" + std::to_string(i), "uid-" + std::to_string(i), false));
                   all.push_back(owner(set_version, "JobSet", "o", "uid-o"));
                   j["metadata"]["ownerReferences"] = std::move(all);
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"owner/two-controllers", Right::jobs, [](Making& m) {
                   Json j = job(m, m.name("owned"));
                   j["metadata"]["ownerReferences"] =
                       Json::array({owner(set_version, "JobSet", "a", "uid-a"), owner(set_version, "JobSet", "b", "uid-b")});
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"owner/long-uid", Right::jobs, [](Making& m) {
                   return std::vector<Write>{
                       create(owned(job(m, m.name("owned")), owner(set_version, "JobSet", "a", std::string(100'000, 'u'))))};
                 }});
  out.push_back(
      {"owner/changes-all-the-time", Right::jobs, [](Making& m) {
         const std::string a = m.name("seta"), b = m.name("setb"), c = m.name("between");
         std::vector<Write> writes{create(job_set(m, a)), create(job_set(m, b)), create(job(m, c))};
         for (int i = 0; i < 12; ++i) {
           const std::string& to = i % 2 == 0 ? a : b;
           Json references = i % 3 == 2 ? Json::array() : Json::array({owner(set_version, "JobSet", to, uid_of("JobSet", to))});
           writes.push_back(patch("Job", c, {{"metadata", {{"ownerReferences", std::move(references)}}}, {"spec", {{"suspend", false}}}}));
         }
         return writes;
       }});
  out.push_back({"owner/goes-before-its-children", Right::jobs, [](Making& m) {
                   const std::string top = m.name("gone");
                   Json child = owned(job(m, m.name("orphan")), owner(set_version, "JobSet", top, uid_of("JobSet", top)));
                   child["metadata"]["finalizers"] = Json::array({"example.com/stays"});
                   return std::vector<Write>{create(job_set(m, top)), create(std::move(child)), remove("JobSet", top)};
                 }});
  out.push_back({"owner/workload-of-somebody-elses-job", Right::workloads, [](Making& m) {
                   const Victim v = victim(m);
                   Json w = workload(m, m.name("theirs"));
                   w["metadata"]["ownerReferences"] = Json::array({owner(batch, "Job", v.name, v.uid)});
                   w["metadata"]["labels"]["kueue.x-k8s.io/job-uid"] = v.uid;
                   return std::vector<Write>{create(std::move(w))};
                 }});
  out.push_back({"owner/workload-of-nobody", Right::workloads, [](Making& m) {
                   std::vector<Write> writes;
                   for (int i = 0; i < 5; ++i) {
                     const std::string name = m.name("nobodys" + std::to_string(i));
                     Json w = workload(m, name);
                     w["metadata"]["ownerReferences"] = Json::array({owner(batch, "Job", "never", m.name("uid" + std::to_string(i)))});
                     writes.push_back(create(std::move(w)));
                     if (i % 2 == 0) writes.push_back(remove("Workload", name));
                   }
                   return writes;
                 }});
  out.push_back({"owner/pod-of-somebody-elses-job", Right::jobs, [](Making& m) {
                   const Victim v = victim(m);
                   Json pod = pod_template();
                   pod["apiVersion"] = "v1";
                   pod["kind"] = "Pod";
                   pod["metadata"] = {{"name", m.name("pod")},
                                      {"labels", {{"kueue.x-k8s.io/podset", "main"}}},
                                      {"annotations", {{"kueue.x-k8s.io/workload-slice-name", "x"}}},
                                      {"ownerReferences", Json::array({owner(batch, "Job", v.name, v.uid)})}};
                   pod["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/elastic-job"}}});
                   return std::vector<Write>{create(std::move(pod))};
                 }});
}

}  // namespace hindsight::hostile
