#include "connectors/manifests/v1beta1.hpp"

#include <string>
#include <utility>

namespace hindsight::connectors::manifests {
namespace {

/// The member `name` of an object if it is an object itself; nullptr otherwise.
Json* member(Json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto it = object->find(name);
  return it != object->end() && it->is_object() ? &*it : nullptr;
}

class Converter {
 public:
  Converter(Json& object, std::vector<Problem>& problems) : object_(object), problems_(problems) {}

  void cluster_queue() {
    if (Json* status = member(&object_, "status")) status->erase("pendingWorkloadsStatus");
    Json* spec = member(&object_, "spec");
    if (spec == nullptr) return;
    rename(*spec, "spec", "cohort", "cohortName");
    if (const auto checks = spec->find("admissionChecks"); checks != spec->end()) {
      Json list = std::move(*checks);
      spec->erase("admissionChecks");
      if (spec->contains("admissionChecksStrategy")) {
        problems_.push_back({ProblemKind::invalid, "spec.admissionChecks", shortened(list),
                             "Either AdmissionChecks or AdmissionCheckStrategy can be set, but not both"});
      } else if (list.is_array() && !list.empty()) {
        Json entries = Json::array();
        for (auto& name : list) entries.push_back({{"name", std::move(name)}});
        (*spec)["admissionChecksStrategy"]["admissionChecks"] = std::move(entries);
      }
    }
    if (Json* fungibility = member(spec, "flavorFungibility")) {
      replace_value(*fungibility, "whenCanBorrow", "Borrow", "MayStopSearch");
      replace_value(*fungibility, "whenCanPreempt", "Preempt", "MayStopSearch");
    }
  }

  void local_queue() {
    Json* status = member(&object_, "status");
    if (status == nullptr) return;
    status->erase("flavors");
    rename(*status, "status", "flavorUsage", "flavorsUsage");
  }

  void workload() {
    if (Json* spec = member(&object_, "spec")) priority_class(*spec);
    Json* status = member(&object_, "status");
    if (status == nullptr) return;
    rename(*status, "status", "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds");
    Json* admission = member(status, "admission");
    if (admission == nullptr) return;
    const auto assignments = admission->find("podSetAssignments");
    if (assignments == admission->end() || !assignments->is_array()) return;
    for (auto& assignment : *assignments)
      if (Json* topology = member(&assignment, "topologyAssignment")) compress(*topology);
  }

  void admission_check() {
    if (Json* spec = member(&object_, "spec")) spec->erase("retryDelayMinutes");
  }

  void multikueue_cluster() {
    Json* spec = member(&object_, "spec");
    if (spec == nullptr) return;
    for (const char* name : {"kubeConfig", "clusterProfileRef"}) {
      const auto it = spec->find(name);
      if (it == spec->end()) continue;
      Json value = std::move(*it);
      spec->erase(name);
      Json& source = (*spec)["clusterSource"];
      if (source.is_null()) source = Json::object();
      if (!source.is_object()) continue;
      if (source.contains(name))
        problems_.push_back({ProblemKind::invalid, std::string("spec.") + name, shortened(value),
                             std::string("is the older name of clusterSource.") + name + "; give one of them"});
      else
        source[name] = std::move(value);
    }
  }

 private:
  void rename(Json& parent, const std::string& path, const char* from, const char* to) {
    const auto it = parent.find(from);
    if (it == parent.end()) return;
    Json value = std::move(*it);
    parent.erase(from);
    if (parent.contains(to)) {
      problems_.push_back(
          {ProblemKind::invalid, path + "." + from, shortened(value), std::string("is the older name of ") + to + "; give one of them"});
      return;
    }
    parent[to] = std::move(value);
  }

  static void replace_value(Json& parent, const char* name, const char* from, const char* to) {
    const auto it = parent.find(name);
    if (it != parent.end() && *it == from) *it = to;
  }

  void priority_class(Json& spec) {
    const auto name = spec.find("priorityClassName");
    const auto source = spec.find("priorityClassSource");
    const Json name_value = name == spec.end() ? Json("") : *name;
    const Json source_value = source == spec.end() ? Json("") : *source;
    spec.erase("priorityClassName");
    spec.erase("priorityClassSource");
    if (source_value == "kueue.x-k8s.io/workloadpriorityclass") {
      spec["priorityClassRef"] = {{"group", "kueue.x-k8s.io"}, {"kind", "WorkloadPriorityClass"}, {"name", name_value}};
    } else if (source_value == "scheduling.k8s.io/priorityclass") {
      spec["priorityClassRef"] = {{"group", "scheduling.k8s.io"}, {"kind", "PriorityClass"}, {"name", name_value}};
    } else if (source_value != Json("")) {
      problems_.push_back({ProblemKind::not_supported, "spec.priorityClassSource", shortened(source_value),
                           "supported values: \"kueue.x-k8s.io/workloadpriorityclass\", \"scheduling.k8s.io/priorityclass\", \"\""});
    }
  }

  /// domains[{values, count}] → one slice that lists every domain.
  static void compress(Json& topology) {
    const auto it = topology.find("domains");
    if (it == topology.end() || !it->is_array()) return;
    const Json domains = std::move(*it);
    topology.erase("domains");
    const std::size_t levels = topology.contains("levels") && topology["levels"].is_array() ? topology["levels"].size() : 0;
    Json slice = {{"domainCount", domains.size()}, {"podCounts", {{"individual", Json::array()}}}, {"valuesPerLevel", Json::array()}};
    for (std::size_t level = 0; level < levels; ++level) {
      Json roots = Json::array();
      for (const auto& domain : domains) {
        const bool there =
            domain.is_object() && domain.contains("values") && domain["values"].is_array() && level < domain["values"].size();
        roots.push_back(there ? domain["values"][level] : Json(nullptr));
      }
      slice["valuesPerLevel"].push_back({{"individual", {{"roots", std::move(roots)}}}});
    }
    for (const auto& domain : domains)
      slice["podCounts"]["individual"].push_back(domain.is_object() && domain.contains("count") ? domain["count"] : Json(nullptr));
    topology["slices"] = domains.empty() ? Json::array() : Json::array({std::move(slice)});
  }

  Json& object_;
  std::vector<Problem>& problems_;
};

}  // namespace

void convert_v1beta1(std::string_view kind, Json& object, std::vector<Problem>& problems) {
  Converter converter(object, problems);
  if (kind == "ClusterQueue") converter.cluster_queue();
  if (kind == "LocalQueue") converter.local_queue();
  if (kind == "Workload") converter.workload();
  if (kind == "AdmissionCheck") converter.admission_check();
  if (kind == "MultiKueueCluster") converter.multikueue_cluster();
  object["apiVersion"] = "kueue.x-k8s.io/v1beta2";
}

}  // namespace hindsight::connectors::manifests
