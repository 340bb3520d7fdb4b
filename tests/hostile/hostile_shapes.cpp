// Templates that are huge, deep, strange or contradict themselves.

#include "tests/hostile/hostile_objects.hpp"

namespace hindsight::hostile {
namespace {

using Change = std::function<void(Making&, Json& pod_spec)>;

Json requirement(const std::string& key, std::size_t values) {
  Json out{{"key", key}, {"operator", "In"}, {"values", Json::array()}};
  for (std::size_t i = 0; i < values; ++i) out["values"].push_back("v" + std::to_string(i));
  return out;
}

void pod_specs(std::vector<HostileKind>& out) {
  const std::pair<const char*, Change> changes[] = {
      {"no-containers", [](Making&, Json& s) { s["containers"] = Json::array(); }},
      {"containers-of-one-name", [](Making&, Json& s) { s["containers"].push_back(s["containers"][0]); }},
      {"hundreds-of-containers",
       [](Making&, Json& s) {
         Json c = s["containers"][0];
         for (int i = 0; i < 300; ++i) {
           c["name"] = "c" + std::to_string(i);
           s["containers"].push_back(c);
         }
       }},
      {"hundreds-of-init-containers",
       [](Making&, Json& s) {
         Json c = s["containers"][0];
         s["initContainers"] = Json::array();
         for (int i = 0; i < 300; ++i) {
           c["name"] = "i" + std::to_string(i);
           if (i % 2 == 0) c["restartPolicy"] = "Always";
           s["initContainers"].push_back(c);
         }
       }},
      {"long-command", [](Making&, Json& s) { s["containers"][0]["command"] = Json::array({std::string(300'000, 'x')}); }},
      {"thousands-of-variables",
       [](Making&, Json& s) {
         for (int i = 0; i < 5'000; ++i)
           s["containers"][0]["env"].push_back({{"name", "E" + std::to_string(i)}, {"value", std::string(20, 'v')}});
       }},
      {"node-selector-of-hundreds",
       [](Making& m, Json& s) {
         for (int i = 0; i < 400; ++i) s["nodeSelector"]["k" + std::to_string(i) + "-" + std::to_string(m.serial)] = "v";
       }},
      {"affinity-of-thousands",
       [](Making&, Json& s) {
         Json terms = Json::array();
         for (int i = 0; i < 100; ++i) {
           Json term{{"matchExpressions", Json::array()}};
           for (int k = 0; k < 10; ++k) term["matchExpressions"].push_back(requirement("k" + std::to_string(k), 5));
           terms.push_back(std::move(term));
         }
         s["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = std::move(terms);
       }},
      {"affinity-with-a-long-list",
       [](Making&, Json& s) {
         s["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
             Json::array({{{"matchExpressions", Json::array({requirement("k", 10'000)})}}});
       }},
      {"affinity-that-matches-nothing",
       [](Making&, Json& s) {
         s["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
             Json::array({Json::object()});
       }},
      {"tolerations-of-thousands",
       [](Making&, Json& s) {
         for (int i = 0; i < 2'000; ++i)
           s["tolerations"].push_back({{"key", "t" + std::to_string(i)}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
       }},
      {"tolerates-everything",
       [](Making&, Json& s) {
         s["tolerations"] = Json::array({{{"operator", "Exists"}}});
       }},
      {"class-that-is-not-there", [](Making& m, Json& s) { s["priorityClassName"] = m.name("class"); }},
      {"class-of-the-system", [](Making&, Json& s) { s["priorityClassName"] = "system-node-critical"; }},
      {"runtime-class-that-is-not-there", [](Making& m, Json& s) { s["runtimeClassName"] = m.name("runtime"); }},
      {"overhead",
       [](Making&, Json& s) {
         s["overhead"] = {{"cpu", "9223372036854775807"}};
       }},
      {"pod-resources",
       [](Making&, Json& s) {
         s["resources"] = {{"requests", {{"cpu", "1000000"}}}};
       }},
      {"own-gates",
       [](Making&, Json& s) {
         s["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/elastic-job"}}, {{"name", "kueue.x-k8s.io/topology"}}});
       }},
      {"host-everything",
       [](Making&, Json& s) {
         s["hostNetwork"] = true;
         s["hostPID"] = true;
         s["nodeName"] = "node-0";
       }},
      {"scheduler-of-nobody", [](Making&, Json& s) { s["schedulerName"] = "nobody"; }},
      {"restart-always", [](Making&, Json& s) { s["restartPolicy"] = "Always"; }},
      {"wrong-types",
       [](Making&, Json& s) {
         s["containers"][0]["resources"] = "none";
         s["nodeSelector"] = Json::array({1, 2});
       }},
      {"nulls",
       [](Making&, Json& s) {
         s["nodeSelector"] = nullptr;
         s["tolerations"] = nullptr;
         s["affinity"] = nullptr;
       }},
  };
  for (const auto& [name, change] : changes) {
    out.push_back({"template/" + std::string(name), Right::jobs, [change = change](Making& m) {
                     Json j = job(m, m.name("shape"));
                     change(m, j["spec"]["template"]["spec"]);
                     return std::vector<Write>{create(std::move(j))};
                   }});
    out.push_back({"ray-template/" + std::string(name), Right::jobs, [change = change](Making& m) {
                     Json j = ray_job(m, m.name("rayshape"));
                     change(m, j["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["template"]["spec"]);
                     return std::vector<Write>{create(std::move(j))};
                   }});
  }
}

/// Kinds whose definitions are open, so that nothing but we look at them.
void open_kinds(std::vector<HostileKind>& out) {
  const auto spec_of = [&out](const std::string& name, bool job_kind, std::function<Json(Making&)> make) {
    out.push_back({"ray-spec/" + name, Right::jobs, [job_kind, make = std::move(make)](Making& m) {
                     Json j = job_kind ? ray_job(m, m.name("rayjob")) : ray_cluster(m, m.name("raycluster"));
                     j["spec"] = make(m);
                     return std::vector<Write>{create(std::move(j))};
                   }});
  };
  const auto deep = [](std::size_t levels) {
    Json out_json = 1;
    for (std::size_t i = 0; i < levels; ++i) out_json = Json::array({std::move(out_json)});
    return out_json;
  };
  for (const bool job_kind : {false, true}) {
    const std::string of = job_kind ? "job-" : "cluster-";
    spec_of(of + "empty", job_kind, [](Making&) { return Json::object(); });
    spec_of(of + "a-list", job_kind, [](Making&) { return Json::array({1, 2}); });
    spec_of(of + "a-text", job_kind, [](Making&) { return Json("text"); });
    spec_of(of + "deep", job_kind, [deep](Making&) { return Json{{"suspend", true}, {"deep", deep(90)}}; });
    spec_of(of + "deeper", job_kind, [deep](Making&) { return Json{{"suspend", true}, {"headGroupSpec", {{"template", deep(900)}}}}; });
    spec_of(of + "suspend-is-a-text", job_kind, [](Making&) { return Json{{"suspend", "true"}}; });
    spec_of(of + "groups-of-hundreds", job_kind, [job_kind](Making& m) {
      Json groups = Json::array();
      for (int i = 0; i < 500; ++i)
        groups.push_back({{"groupName", "g" + std::to_string(i)}, {"replicas", 1}, {"template", pod_template()}});
      Json cluster{{"headGroupSpec", {{"template", pod_template()}}}, {"workerGroupSpecs", std::move(groups)}};
      (void)m;
      return job_kind ? Json{{"suspend", true}, {"rayClusterSpec", std::move(cluster)}} : cluster;
    });
    spec_of(of + "groups-of-one-name", job_kind, [job_kind](Making&) {
      Json groups = Json::array();
      for (const char* name : {"head", "HEAD", "w", "W", "", "submitter"})
        groups.push_back({{"groupName", name}, {"replicas", 1}, {"template", pod_template()}});
      Json cluster{{"headGroupSpec", {{"template", pod_template()}}}, {"workerGroupSpecs", std::move(groups)}};
      return job_kind ? Json{{"suspend", true}, {"rayClusterSpec", std::move(cluster)}} : cluster;
    });
  }
  out.push_back({"ray-spec/on-a-cluster-of-its-own", Right::jobs, [](Making& m) {
                   Json j = ray_job(m, m.name("selects"));
                   j["spec"]["clusterSelector"] = {{"ray.io/cluster", "x"}};
                   j["spec"]["suspend"] = false;
                   return std::vector<Write>{create(std::move(j))};
                 }});
}

void job_sets(std::vector<HostileKind>& out) {
  out.push_back({"job-set/no-jobs", Right::jobs, [](Making& m) {
                   Json j = job_set(m, m.name("set"));
                   j["spec"]["replicatedJobs"] = Json::array();
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"job-set/jobs-of-one-name", Right::jobs, [](Making& m) {
                   Json j = job_set(m, m.name("set"));
                   for (int i = 0; i < 5; ++i) j["spec"]["replicatedJobs"].push_back(j["spec"]["replicatedJobs"][0]);
                   return std::vector<Write>{create(std::move(j))};
                 }});
  out.push_back({"job-set/hundreds-of-jobs", Right::jobs, [](Making& m) {
                   Json j = job_set(m, m.name("set"));
                   Json one = j["spec"]["replicatedJobs"][0];
                   for (int i = 0; i < 300; ++i) {
                     one["name"] = "w" + std::to_string(i);
                     j["spec"]["replicatedJobs"].push_back(one);
                   }
                   return std::vector<Write>{create(std::move(j))};
                 }});
}

}  // namespace

void add_shapes(std::vector<HostileKind>& out) {
  pod_specs(out);
  open_kinds(out);
  job_sets(out);
}

}  // namespace hindsight::hostile
