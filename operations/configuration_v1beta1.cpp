#include "operations/configuration_v1beta1.hpp"

#include <array>

#include "operations/configuration_schema.hpp"

namespace hindsight::operations {
namespace {

using connectors::manifests::check;
using connectors::manifests::Json;
using connectors::manifests::Problem;
using connectors::manifests::ProblemKind;
using connectors::manifests::Schema;
using connectors::manifests::shortened;
using connectors::manifests::UnknownFields;

/// The member if it is an object; nullptr otherwise, also for null.
Json* section(Json& parent, const char* name) {
  if (!parent.is_object()) return nullptr;
  const auto it = parent.find(name);
  return it != parent.end() && it->is_object() ? &*it : nullptr;
}

class Converter {
 public:
  Converter(Json& root, std::vector<Problem>& problems, std::vector<std::string>& warnings)
      : root_(root), problems_(problems), warnings_(warnings) {}

  bool run() {
    refuse_newer_fields();
    const bool pods_ready_on = pods_ready();
    fair_sharing();
    drop(root_, "queueVisibility", "queueVisibility", queue_visibility_schema(), "ClusterQueues show their pending workloads on request");
    if (Json* integrations = section(root_, "integrations"))
      drop(*integrations, "podOptions", "integrations.podOptions", pod_options_schema(),
           "say in managedJobsNamespaceSelector which namespaces are managed");
    root_["apiVersion"] = "config.kueue.x-k8s.io/v1beta2";
    return pods_ready_on;
  }

 private:
  void refuse(Json& parent, const std::string& path, const char* name) {
    const auto it = parent.find(name);
    if (it == parent.end()) return;
    problems_.push_back({ProblemKind::forbidden, path + name, shortened(*it), "is a field of v1beta2 only"});
    parent.erase(it);
  }

  void refuse_newer_fields() {
    refuse(root_, "", "visibilityServer");
    if (Json* resources = section(root_, "resources")) refuse(*resources, "resources.", "quotaCheckStrategy");
    if (Json* multi = section(root_, "multiKueue")) {
      refuse(*multi, "multiKueue.", "clusterProfile");
      refuse(*multi, "multiKueue.", "incrementalDispatcherConfig");
    }
    Json* metrics = section(root_, "metrics");
    if (metrics == nullptr) return;
    const auto labels = metrics->find("customLabels");
    if (labels == metrics->end() || !labels->is_array()) return;
    for (std::size_t i = 0; i < labels->size(); ++i) {
      if (!(*labels)[i].is_object()) continue;
      const std::string path = "metrics.customLabels[" + std::to_string(i) + "].";
      refuse((*labels)[i], path, "sourceKind");
      refuse((*labels)[i], path, "trackedValues");
    }
  }

  /// Takes `enable` out of a section. Off, also when it does not say, and when it says what is no boolean.
  bool take_enable(Json& part, const std::string& path) {
    const auto it = part.find("enable");
    if (it == part.end()) return false;
    const Json value = std::move(*it);
    part.erase(it);
    if (value.is_boolean()) return value.get<bool>();
    if (!value.is_null()) problems_.push_back({ProblemKind::type, path, shortened(value), "must be true or false"});
    return false;
  }

  bool pods_ready() {
    Json* part = section(root_, "waitForPodsReady");
    // What else it says when it is off has no effect, yet must not be nonsense: it stays to be judged.
    if (part == nullptr || !take_enable(*part, "waitForPodsReady.enable")) return false;
    if (!part->contains("timeout") || (*part)["timeout"].is_null()) (*part)["timeout"] = "5m";
    if (!part->contains("blockAdmission") || (*part)["blockAdmission"].is_null()) (*part)["blockAdmission"] = true;
    return true;
  }

  void fair_sharing() {
    Json* part = section(root_, "fairSharing");
    if (part == nullptr) return;
    const bool enabled = take_enable(*part, "fairSharing.enable");
    // v1beta1 leaves the list out where both are meant.
    const auto it = part->find("preemptionStrategies");
    if (it == part->end() || it->is_null() || (it->is_array() && it->empty()))
      (*part)["preemptionStrategies"] = {"LessThanOrEqualToFinalShare", "LessThanInitialShare"};
    if (enabled) return;
    check(*configuration_schema().field("fairSharing")->schema, *part, "fairSharing", UnknownFields::reported, problems_);
    root_.erase("fairSharing");
  }

  void drop(Json& parent, const char* name, const std::string& path, const Schema& schema, const std::string& instead) {
    const auto it = parent.find(name);
    if (it == parent.end()) return;
    if (!it->is_null()) {
      check(schema, *it, path, UnknownFields::reported, problems_);
      warnings_.push_back(path + " has no effect any more; " + instead);
    }
    parent.erase(it);
  }

  Json& root_;
  std::vector<Problem>& problems_;
  std::vector<std::string>& warnings_;
};

}  // namespace

bool convert_configuration_v1beta1(Json& configuration, std::vector<Problem>& problems, std::vector<std::string>& warnings) {
  return Converter(configuration, problems, warnings).run();
}

}  // namespace hindsight::operations
