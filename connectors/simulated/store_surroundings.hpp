#pragma once

#include "connectors/simulated/object_store.hpp"
#include "connectors/simulated/simulated_cluster.hpp"
#include "connectors/webhooks/surroundings.hpp"

namespace hindsight::connectors::simulated {

/// What webhooks see of a simulated cluster: all its objects, the feature gates and the bound of Options that it was given, and all
/// other settings as they are unless set.
class StoreSurroundings final : public webhooks::Surroundings {
 public:
  StoreSurroundings(const ObjectStore& store, const ClusterOptions& options) : store_(store), options_(options) {}

  [[nodiscard]] std::shared_ptr<const Json> find(std::string_view kind, std::string_view namespace_, std::string_view name) const override {
    const auto stored = store_.find(kind, namespace_, name);
    return stored ? std::shared_ptr<const Json>(stored, &stored->object) : nullptr;
  }
  [[nodiscard]] bool gate(std::string_view name) const override {
    const auto given = options_.gates.find(name);
    return given == options_.gates.end() ? webhooks::gate_by_default(name) : given->second;
  }
  [[nodiscard]] bool manages_namespace(std::string_view name) const override {
    const auto& asked = options_.job_defaults.manages_namespace;
    if (!asked) return true;
    const auto space = store_.find("Namespace", "", name);
    return asked(name, space ? member(space->metadata(), "labels") : Json());
  }
  [[nodiscard]] bool manages_jobs_without_queue_name() const override { return options_.job_defaults.without_queue_name; }
  [[nodiscard]] bool manages_kind(std::string_view kind, std::string_view group) const override {
    if ((kind == "Job" && group == "batch") || (kind == "JobSet" && group == "jobset.x-k8s.io")) return true;
    return options_.job_defaults.on && is_ray_kind(kind, group);
  }
  [[nodiscard]] bool is_controller(std::string_view user) const override { return user == simulated_controller; }
  [[nodiscard]] std::size_t max_options() const override { return options_.max_options; }

 private:
  static bool is_ray_kind(std::string_view kind, std::string_view group) {
    return group == "ray.io" && (kind == "RayJob" || kind == "RayCluster");
  }

  const ObjectStore& store_;
  const ClusterOptions& options_;
};

}  // namespace hindsight::connectors::simulated
