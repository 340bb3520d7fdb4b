#pragma once

// Stories about gate annotations: steps ten seconds apart, played with the admission webhooks, and what came of them.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "connectors/event_recorder/decision_events.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {

using connectors::Json;
using Lines = std::vector<std::string>;

inline constexpr const char* scheduling = "kueue.x-k8s.io/scheduling-gated-by";
inline constexpr const char* admission_ = "kueue.x-k8s.io/admission-gated-by";

struct Played {
  ScenarioResult result;
  Lines events;  ///< "Job prep SchedulingGated: …", warnings with a leading "!", in their order.

  [[nodiscard]] connectors::simulated::SimulatedCluster& cluster() const { return result.world->simulated(); }
  [[nodiscard]] const Json& job(const std::string& name) const { return cluster().find("Job", "default", name)->object; }
  /// The Workloads of a job, oldest first.
  [[nodiscard]] std::vector<Json> workloads(const std::string& job, const std::string& kind = "Job") const {
    std::vector<Json> out;
    for (const auto& o : cluster().store().owned_by(kind, "default", job))
      if (o->kind->type->kind == "Workload") out.push_back(o->object);
    return out;
  }
  /// "True/QuotaReserved: message" of a condition; empty: it is not there.
  static std::string condition(const Json& object, const std::string& type) {
    for (const auto& c : object["status"].value("conditions", Json::array()))
      if (c["type"] == type)
        return c["status"].get<std::string>() + "/" + c["reason"].get<std::string>() + ": " + c["message"].get<std::string>();
    return "";
  }
  [[nodiscard]] Lines events_of(const std::string& about) const {
    Lines out;
    for (const auto& e : events)
      if (e.find(about + " ") != std::string::npos) out.push_back(e);
    return out;
  }
  [[nodiscard]] std::size_t count(const std::string& part) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [&](const std::string& e) { return e.find(part) != std::string::npos; }));
  }
};

/// Steps ten seconds apart, with a ClusterQueue "cq" of 5 cpu and a LocalQueue "lq".
class Story {
 public:
  Story() {
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}, spec: {}}");
    apply(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: "
        "[{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 5}]}]}]}}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}");
  }
  /// `annotations`, `spec`: the inside of YAML maps in flow style.
  Story& job(const std::string& name, const std::string& annotations, const std::string& cpu = "1",
             const std::string& spec = "parallelism: 1, completions: 1", const std::string& labels = "kueue.x-k8s.io/queue-name: lq",
             const std::string& metadata = "") {
    return apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", namespace: default, labels: {" + labels +
                 "}, annotations: {" + annotations + "}" + metadata + "}, spec: {suspend: true, " + spec +
                 ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu +
                 "'}}}]}}}}");
  }
  Story& step() {
    steps_.emplace_back();
    return *this;
  }
  Story& patch(const std::string& name, const std::string& merge, const std::string& kind = "Job", bool status = false) {
    steps_.back().patch += "    - {kind: " + kind + ", namespace: default, name: " + name + (status ? ", subresource: status" : "") +
                           ", merge: " + merge + "}\n";
    return *this;
  }
  Story& release(const std::string& name, const char* annotation = scheduling) {
    return patch(name, std::string("{metadata: {annotations: {") + annotation + ": null}}}");
  }
  Story& remove(const std::string& name, const std::string& kind = "Job") {
    steps_.back().remove += "    - {kind: " + kind + ", namespace: default, name: " + name + "}\n";
    return *this;
  }
  Story& apply(const std::string& manifest) {
    steps_.back().apply += "    - " + manifest + "\n";
    return *this;
  }
  Story& configure(const std::string& json) {
    configuration_ = json;
    return *this;
  }
  Story& without_webhooks() {
    webhooks_ = false;
    return *this;
  }

  [[nodiscard]] Played play(events::Log* log = nullptr) const {
    std::string text = "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: story}\nspec:\n  steps:\n";
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      text += "  - at: " + std::to_string(10 * i) + "s\n";
      const Step& s = steps_[i];
      for (const auto& [verb, items] : {std::pair{"apply", &s.apply}, {"patch", &s.patch}, {"delete", &s.remove}})
        if (!items->empty()) text += std::string("    ") + verb + ":\n" + *items;
    }
    auto input = connectors::manifests::read_text(text, "story.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    Played out;
    ScenarioOptions options;
    options.states = true;
    options.webhooks = webhooks_;
    options.log = log;
    options.configuration = configuration_;
    options.on_record = [&out](const RecordView& record, const Engine& engine) {
      for (const auto& e : connectors::record_events(record, engine.driver()))
        out.events.push_back((e.is_warning ? "!" : "") + std::string(e.type->kind) + " " + e.name + " " + e.reason + ": " + e.message);
    };
    auto result = run_scenario(std::move(input->scenarios.front()), options);
    if (!result) throw std::runtime_error(result.error().message);
    out.result = std::move(*result);
    return out;
  }

 private:
  struct Step {
    std::string apply, patch, remove;
  };
  std::vector<Step> steps_{1};
  std::string configuration_ = R"({"featureGates": {"SchedulingGatedBy": true}})";
  bool webhooks_ = true;
};

}  // namespace hindsight::simulation
