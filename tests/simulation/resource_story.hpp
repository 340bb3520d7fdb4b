#pragma once

// Stories about the resources of Jobs, told in steps some seconds apart (5440 §4).

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "connectors/event_recorder/decision_events.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {

using connectors::Json;
using Lines = std::vector<std::string>;

struct Played {
  ScenarioResult result;
  Lines events;

  [[nodiscard]] const Json& job(const std::string& name) const { return result.world->simulated().find("Job", "default", name)->object; }
  [[nodiscard]] const Json& pod(const std::string& name) const { return job(name)["spec"]["template"]["spec"]; }
  [[nodiscard]] std::string cpu(const std::string& name) const { return pod(name)["containers"][0]["resources"]["requests"]["cpu"]; }
  [[nodiscard]] std::vector<Json> workloads(const std::string& job) const {
    std::vector<Json> out;
    for (const auto& o : result.world->simulated().store().owned_by("Job", "default", job))
      if (o->kind->type->kind == "Workload") out.push_back(o->object);
    return out;
  }
  [[nodiscard]] std::string job_condition(const std::string& name) const {
    for (const auto& c : job(name)["status"].value("conditions", Json::array()))
      if (c["type"] == "Suspended") return c["status"].get<std::string>() + "/" + c["reason"].get<std::string>();
    return "";
  }
  static std::string condition(const Json& object, const std::string& type) {
    for (const auto& c : object["status"].value("conditions", Json::array()))
      if (c["type"] == type) return c["status"].get<std::string>() + "/" + c["reason"].get<std::string>();
    return "";
  }
  [[nodiscard]] std::size_t count(const std::string& part) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [&](const std::string& e) { return e.find(part) != std::string::npos; }));
  }
};

/// Steps some seconds apart, with a ClusterQueue "cq" of 4 cpu on a flavor whose nodes carry zone=a, and a LocalQueue "lq".
class Story {
 public:
  explicit Story(int seconds = 10) : seconds_(seconds) {
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}, spec: {nodeLabels: {zone: a}}}");
    apply(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, preemption: "
        "{withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, "
        "nominalQuota: 4}]}]}]}}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}");
  }
  ScenarioOptions options;

  Story& job(const std::string& name, const std::string& cpu, const std::string& spec = "parallelism: 1, completions: 1",
             const std::string& labels = "") {
    return apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
                 ", namespace: default, annotations: {hindsight.dev/run-seconds: '1000'}, labels: {kueue.x-k8s.io/queue-name: lq" + labels +
                 "}}, spec: {suspend: true, " + spec +
                 ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu +
                 "'}}}]}}}}");
  }
  Story& step() {
    steps_.emplace_back();
    return *this;
  }
  Story& patch(const std::string& kind, const std::string& name, const std::string& merge) {
    steps_.back().patch += "    - {kind: " + kind + ", namespace: default, name: " + name + ", merge: " + merge + "}\n";
    return *this;
  }
  Story& status(const std::string& kind, const std::string& name, const std::string& merge) {
    steps_.back().patch +=
        "    - {kind: " + kind + ", namespace: default, name: " + name + ", subresource: status, merge: " + merge + "}\n";
    return *this;
  }
  Story& cpu(const std::string& job, const std::string& cpu) {
    return patch("Job", job,
                 "{spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "'}}}]}}}}");
  }
  /// A patch of the only Workload of a job.
  Story& workload(const std::string& job, const std::string& merge, const std::string& more = "") {
    steps_.back().patch +=
        "    - {kind: Workload, namespace: default, owner: {kind: Job, name: " + job + "}" + more + ", merge: " + merge + "}\n";
    return *this;
  }
  /// An admission check "budget" of the queue, whose controller is active.
  Story& check() {
    return apply(
               "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget}, spec: {controllerName: "
               "example.com/c}}")
        .status("AdmissionCheck", "budget",
                "{status: {conditions: [{type: Active, status: 'True', reason: Active, message: ok, lastTransitionTime: "
                "'2026-01-01T00:00:00Z'}]}}")
        .patch("ClusterQueue", "cq", "{spec: {admissionChecksStrategy: {admissionChecks: [{name: budget}]}}}");
  }
  Story& ready(const std::string& job, const std::string& updates) {
    return workload(job,
                    "{status: {admissionChecks: [{name: budget, state: Ready, message: m, lastTransitionTime: '2026-01-01T00:00:10Z', "
                    "podSetUpdates: [{name: main, " +
                        updates + "}]}]}}",
                    ", subresource: status");
  }
  Story& remove(const std::string& kind, const std::string& name) {
    steps_.back().remove += "    - {kind: " + kind + ", namespace: default, name: " + name + "}\n";
    return *this;
  }
  Story& apply(const std::string& manifest) {
    steps_.back().apply += "    - " + manifest + "\n";
    return *this;
  }

  [[nodiscard]] connectors::manifests::Scenario scenario() const {
    std::string text = "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: story}\nspec:\n  steps:\n";
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      text += "  - at: " + std::to_string(static_cast<std::size_t>(seconds_) * i) + "s\n";
      for (const auto& [verb, items] : {std::pair{"apply", &steps_[i].apply}, {"patch", &steps_[i].patch}, {"delete", &steps_[i].remove}})
        if (!items->empty()) text += std::string("    ") + verb + ":\n" + *items;
    }
    auto input = connectors::manifests::read_text(text, "story.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    return std::move(input->scenarios.front());
  }

  [[nodiscard]] Played play() const {
    Played out;
    ScenarioOptions how = options;
    how.on_record = [&out](const RecordView& record, const Engine& engine) {
      for (const auto& e : connectors::record_events(record, engine.driver()))
        out.events.push_back(std::string(e.type->kind) + " " + e.name + " " + e.reason + ": " + e.message);
    };
    auto result = run_scenario(scenario(), how);
    if (!result) throw std::runtime_error(result.error().message);
    out.result = std::move(*result);
    return out;
  }

 private:
  struct Step {
    std::string apply, patch, remove;
  };
  int seconds_;
  std::vector<Step> steps_{1};
};

}  // namespace hindsight::simulation
