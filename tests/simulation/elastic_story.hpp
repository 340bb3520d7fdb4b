#pragma once

// Elastic jobs played in virtual time: what is done to them step by step, and what is read of them afterwards.

#include <string>
#include <utility>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {

using connectors::Json;
using Lines = std::vector<std::string>;

/// Steps ten seconds apart, each with its verbs as YAML in flow style.
class Story {
 public:
  Story& flavor(const std::string& name) {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + name + "}, spec: {}}");
  }
  /// `flavors`: name → nominal cpu, in order. `more`: further fields of spec.
  Story& queue(const std::string& name, const std::vector<std::pair<std::string, std::string>>& flavors, const std::string& more = "") {
    std::string list;
    for (const auto& [flavor, cpu] : flavors)
      list += (list.empty() ? "" : ", ") + ("{name: " + flavor + ", resources: [{name: cpu, nominalQuota: '" + cpu + "'}]}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name + "}, spec: {namespaceSelector: {}, " + more +
          "resourceGroups: [{coveredResources: [cpu], flavors: [" + list + "]}]}}");
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-" + name +
                 ", namespace: default}, spec: {clusterQueue: " + name + "}}");
  }
  Story& priority(const std::string& name, int value) {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: " + name +
                 "}, value: " + std::to_string(value) + "}");
  }
  Story& job(const std::string& name, const std::string& queue, int parallelism, const std::string& cpu, bool elastic = true,
             const std::string& priority = "", int completions = 100) {
    return apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-" +
        queue + (priority.empty() ? "" : ", kueue.x-k8s.io/priority-class: " + priority) + "}, annotations: {" +
        (elastic ? "kueue.x-k8s.io/elastic-job: 'true'" : "") + "}}, spec: {suspend: true, parallelism: " + std::to_string(parallelism) +
        ", completions: " + std::to_string(completions) +
        ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "'}}}]}}}}");
  }
  Story& step() {
    steps_.emplace_back();
    return *this;
  }
  Story& parallelism(const std::string& job, int n) { return patch("Job", job, false, "{spec: {parallelism: " + std::to_string(n) + "}}"); }
  Story& status(const std::string& job, const std::string& status) { return patch("Job", job, true, "{status: " + status + "}"); }
  Story& patch(const std::string& kind, const std::string& name, bool status, const std::string& merge) {
    current().patch += "    - {kind: " + kind + ", namespace: default, name: " + name + (status ? ", subresource: status" : "") +
                       ", merge: " + merge + "}\n";
    return *this;
  }
  Story& finish(const std::string& job) {
    current().finish += "    - {kind: Job, namespace: default, name: " + job + "}\n";
    return *this;
  }
  Story& remove(const std::string& kind, const std::string& name) {
    current().remove += "    - {kind: " + kind + ", namespace: default, name: " + name + "}\n";
    return *this;
  }
  /// A pod of a job, as its controller makes it; `gates` beside, as names.
  Story& pod(const std::string& name, const std::string& job, const std::string& uid, const std::string& phase, bool gated,
             const std::string& pod_set = "main") {
    return apply("{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default, labels: {" +
                 (pod_set.empty() ? "" : "kueue.x-k8s.io/podset: " + pod_set) +
                 "}, annotations: {kueue.x-k8s.io/workload-slice-name: chain}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " +
                 job + ", uid: " + uid + ", controller: true}]}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]" +
                 (gated ? ", schedulingGates: [{name: example.com/other}, {name: kueue.x-k8s.io/elastic-job}]" : "") +
                 "}, status: {phase: " + phase + "}}");
  }
  Story& configure(const std::string& json) {
    configuration_ = json;
    return *this;
  }

  Story& manifest(const std::string& text) { return apply(text); }

  [[nodiscard]] connectors::manifests::Scenario scenario() const {
    std::string text = "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: story}\nspec:\n  steps:\n";
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      text += "  - at: " + std::to_string(10 * i) + "s\n";
      const Step& s = steps_[i];
      for (const auto& [verb, items] : {std::pair{"apply", &s.apply}, {"patch", &s.patch}, {"finish", &s.finish}, {"delete", &s.remove}})
        if (!items->empty()) text += std::string("    ") + verb + ":\n" + *items;
    }
    auto input = connectors::manifests::read_text(text, "story.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    return std::move(input->scenarios.front());
  }

  ScenarioResult play(events::Log* log = nullptr) const {
    ScenarioOptions options;
    options.states = true;
    options.log = log;
    options.configuration = configuration_;
    auto result = run_scenario(scenario(), options);
    if (!result) throw std::runtime_error(result.error().message);
    if (!result->refused.empty()) throw std::runtime_error(result->refused.front());
    return std::move(*result);
  }

 private:
  struct Step {
    std::string apply, patch, finish, remove;
  };
  Step& current() {
    if (steps_.empty()) steps_.emplace_back();
    return steps_.back();
  }
  Story& apply(const std::string& manifest) {
    current().apply += "    - " + manifest + "\n";
    return *this;
  }
  std::vector<Step> steps_;
  std::string configuration_;
};

/// "count admitted/pending/finished:Reason" of each slice of a job after a step, oldest first.
inline Lines slices(const ScenarioResult& r, std::size_t step, const std::string& job) {
  const Json& workloads = r.states["states"][step]["workloads"];
  Lines out;
  for (int n = 0;; ++n) {
    const auto it = workloads.find("Job/default/" + job + (n == 0 ? "" : "#" + std::to_string(n)));
    if (it == workloads.end()) return out;
    const Json& conditions = (*it)["conditions"];
    const auto is = [&](const char* type) { return conditions.contains(type) && conditions[type][0] == "True"; };
    std::string line = std::to_string((*it)["counts"]["main"].get<int>()) + " ";
    if (is("Finished"))
      line += "finished:" + conditions["Finished"][1].get<std::string>();
    else if (is("Evicted") && is("QuotaReserved"))
      line += "leaving";
    else if (is("Admitted"))
      line += "admitted";
    else if (is("QuotaReserved"))
      line += "reserved";
    else
      line += "pending" + (conditions.contains("QuotaReserved") ? ":" + conditions["QuotaReserved"][1].get<std::string>() : "");
    out.push_back(std::move(line));
  }
}

inline std::string used(const ScenarioResult& r, std::size_t step, const std::string& queue, const std::string& flavor = "default") {
  return r.states["states"][step]["clusterQueues"][queue]["flavorsReservation"][flavor]["cpu"][0].get<std::string>();
}

inline bool suspended(const ScenarioResult& r, std::size_t step, const std::string& job) {
  return r.states["states"][step]["jobs"]["Job/default/" + job]["suspended"].get<bool>();
}

/// The Workload objects at the end, by owner, oldest first.
inline std::vector<connectors::simulated::StoredPointer> objects(const ScenarioResult& r, const std::string& job) {
  std::vector<connectors::simulated::StoredPointer> out;
  for (const auto& o : r.world->simulated().store().owned_by("Job", "default", job))
    if (o->kind->type->kind == "Workload") out.push_back(o);
  return out;
}

inline std::string message(const connectors::simulated::StoredPointer& w, const std::string& type) {
  for (const auto& c : w->status().value("conditions", Json::array()))
    if (c["type"] == type) return c["message"].get<std::string>();
  return "";
}

inline Story one_queue(const std::string& cpu, const std::string& more = "") {
  Story s;
  s.flavor("default").queue("cq", {{"default", cpu}}, more);
  return s;
}

}  // namespace hindsight::simulation
