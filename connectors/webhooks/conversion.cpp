#include "connectors/webhooks/conversion.hpp"

#include <algorithm>

#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/v1beta1.hpp"
#include "connectors/webhooks/topology_domains.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using manifests::member;
using manifests::text;

constexpr std::string_view v1beta1 = "kueue.x-k8s.io/v1beta1";
constexpr std::string_view v1beta2 = "kueue.x-k8s.io/v1beta2";
constexpr std::int64_t retry_delay_by_default = 15;
constexpr const char* constraint_layers = "podsetSliceRequiredTopologyConstraints";

/// The member `name` if it is an object; nullptr otherwise.
Json* inner(Json* object, std::string_view name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto it = object->find(name);
  return it != object->end() && it->is_object() ? &*it : nullptr;
}

/// Takes a member out; null where there is none.
Json take(Json* object, const char* name) {
  if (object == nullptr) return {};
  const auto it = object->find(name);
  if (it == object->end()) return {};
  Json value = std::move(*it);
  object->erase(it);
  return value;
}

void put_if_absent(Json& object, const char* name, const Json& value) {
  if (!value.is_null() && !object.contains(name)) object[name] = value;
}

/// What an annotation remembers; an empty object when there is none or it does not read.
Json take_memory(Json& object, std::string_view annotation) {
  Json* metadata = inner(&object, "metadata");
  Json* annotations = inner(metadata, "annotations");
  if (annotations == nullptr) return Json::object();
  const Json value = take(annotations, std::string(annotation).c_str());
  if (annotations->empty()) metadata->erase("annotations");
  if (!value.is_string()) return Json::object();
  auto memory = manifests::parse_json(value.get_ref<const std::string&>());
  return memory && memory->is_object() ? std::move(*memory) : Json::object();
}

void remember(Json& object, std::string_view annotation, const Json& memory) {
  if (memory.empty() || !member(object, "metadata").is_object()) return;
  Json& annotations = object["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations[std::string(annotation)] = memory.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ---- v1beta1 → v1beta2 ----------------------------------------------------------------------------------------------------

/// The spelling that v1beta2 does not keep.
Json v1beta1_spelling(std::string_view kind, const Json& object) {
  Json memory = Json::object();
  const Json& spec = member(object, "spec");
  if (kind == "ClusterQueue") {
    const Json& checks = member(spec, "admissionChecks");
    if (checks.is_array() && !checks.empty()) memory["admissionChecks"] = true;
    if (member(spec, "flavorFungibility", "whenCanBorrow") == "Borrow") memory["whenCanBorrow"] = "Borrow";
    if (member(spec, "flavorFungibility", "whenCanPreempt") == "Preempt") memory["whenCanPreempt"] = "Preempt";
  } else if (kind == "Workload") {
    // A name without a source says nothing, but it is the user's.
    const Json& name = member(spec, "priorityClassName");
    if (name.is_string() && name != Json("") && text(spec, "priorityClassSource").empty()) memory["priorityClassName"] = name;
  } else if (kind == "AdmissionCheck") {
    const auto delay = manifests::number(spec, "retryDelayMinutes");
    if (delay && *delay != retry_delay_by_default) memory["retryDelayMinutes"] = *delay;
  }
  return memory;
}

void restore_v1beta2(std::string_view kind, Json& object, const Json& memory) {
  if (const Json& gates = member(memory, "statusPreemptionGates"); kind == "Workload" && !gates.is_null()) {
    Json& status = object["status"];
    if (status.is_null()) status = Json::object();
    if (status.is_object()) put_if_absent(status, "preemptionGates", gates);
  }
  Json* spec = inner(&object, "spec");
  if (spec == nullptr) return;
  if (kind == "ClusterQueue") put_if_absent(*spec, "concurrentAdmissionPolicy", member(memory, "concurrentAdmissionPolicy"));
  if (kind == "MultiKueueConfig") put_if_absent(*spec, "quotaManagement", member(memory, "quotaManagement"));
  if (kind != "Workload") return;
  put_if_absent(*spec, "preemptionGates", member(memory, "preemptionGates"));
  const auto pod_sets = spec->find("podSets");
  if (pod_sets == spec->end() || !pod_sets->is_array()) return;
  for (auto& pod_set : *pod_sets)
    if (Json* request = inner(&pod_set, "topologyRequest"))
      put_if_absent(*request, constraint_layers, member(member(memory, constraint_layers), text(pod_set, "name")));
}

// ---- v1beta2 → v1beta1 ----------------------------------------------------------------------------------------------------

void rename(Json* parent, const char* from, const char* to) {
  const Json value = take(parent, from);
  if (!value.is_null()) put_if_absent(*parent, to, value);
}

void cluster_queue_to_v1beta1(Json* spec, const Json& spelling, Json& memory) {
  rename(spec, "cohortName", "cohort");
  if (Json policy = take(spec, "concurrentAdmissionPolicy"); !policy.is_null()) memory["concurrentAdmissionPolicy"] = std::move(policy);
  if (Json* fungibility = inner(spec, "flavorFungibility")) {
    for (const char* name : {"whenCanBorrow", "whenCanPreempt"})
      if (const Json& said = member(spelling, name); !said.is_null() && member(*fungibility, name) == "MayStopSearch")
        (*fungibility)[name] = said;
  }
  if (!manifests::flag(spelling, "admissionChecks")) return;
  const Json& checks = member(*spec, "admissionChecksStrategy", "admissionChecks");
  const bool plain =
      checks.is_array() && std::all_of(checks.begin(), checks.end(), [](const Json& check) { return member(check, "onFlavors").empty(); });
  if (!plain) return;
  Json names = Json::array();
  for (const auto& check : checks) names.push_back(member(check, "name"));
  spec->erase("admissionChecksStrategy");
  (*spec)["admissionChecks"] = std::move(names);
}

Result<void> workload_to_v1beta1(Json& object, Json* spec, const Json& spelling, Json& memory) {
  if (spec != nullptr) {
    const Json reference = take(spec, "priorityClassRef");
    if (!reference.is_null()) {
      (*spec)["priorityClassName"] = member(reference, "name");
      (*spec)["priorityClassSource"] =
          text(reference, "kind") == "PriorityClass" ? "scheduling.k8s.io/priorityclass" : "kueue.x-k8s.io/workloadpriorityclass";
    } else if (!spec->contains("priorityClassName")) {
      put_if_absent(*spec, "priorityClassName", member(spelling, "priorityClassName"));
    }
    if (Json gates = take(spec, "preemptionGates"); !gates.is_null()) memory["preemptionGates"] = std::move(gates);
    if (const auto pod_sets = spec->find("podSets"); pod_sets != spec->end() && pod_sets->is_array()) {
      for (auto& pod_set : *pod_sets)
        if (Json value = take(inner(&pod_set, "topologyRequest"), constraint_layers); !value.is_null())
          memory[constraint_layers][std::string(text(pod_set, "name"))] = std::move(value);
    }
  }
  Json* status = inner(&object, "status");
  if (status == nullptr) return {};
  rename(status, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds");
  if (Json gates = take(status, "preemptionGates"); !gates.is_null()) memory["statusPreemptionGates"] = std::move(gates);
  Json* admission = inner(status, "admission");
  if (admission == nullptr) return {};
  const auto assignments = admission->find("podSetAssignments");
  if (assignments == admission->end() || !assignments->is_array()) return {};
  for (auto& assignment : *assignments) {
    Json* topology = inner(&assignment, "topologyAssignment");
    if (topology == nullptr || !topology->contains("slices")) continue;
    auto domains = domains_of_slices((*topology)["slices"]);
    if (!domains)
      return fail(domains.error().kind, "status.admission.podSetAssignments[" + std::string(text(assignment, "name")) +
                                            "].topologyAssignment: " + domains.error().message);
    topology->erase("slices");
    (*topology)["domains"] = std::move(*domains);
  }
  return {};
}

Result<void> to_v1beta1(std::string_view kind, Json& object) {
  const Json spelling = take_memory(object, v1beta1_annotation);
  Json memory = Json::object();
  Json* spec = inner(&object, "spec");
  if (kind == "ClusterQueue" && spec != nullptr) cluster_queue_to_v1beta1(spec, spelling, memory);
  if (kind == "LocalQueue") rename(inner(&object, "status"), "flavorsUsage", "flavorUsage");
  if (kind == "Workload")
    if (auto done = workload_to_v1beta1(object, spec, spelling, memory); !done) return done;
  if (kind == "AdmissionCheck" && spec != nullptr) {
    const Json& delay = member(spelling, "retryDelayMinutes");
    put_if_absent(*spec, "retryDelayMinutes", delay.is_null() ? Json(retry_delay_by_default) : delay);
  }
  if (kind == "MultiKueueCluster") {
    const Json source = take(spec, "clusterSource");
    for (const char* name : {"kubeConfig", "clusterProfileRef"})
      if (const Json& value = member(source, name); !value.is_null()) put_if_absent(*spec, name, value);
  }
  if (kind == "MultiKueueConfig")
    if (Json value = take(spec, "quotaManagement"); !value.is_null()) memory["quotaManagement"] = std::move(value);
  object["apiVersion"] = v1beta1;
  remember(object, v1beta2_annotation, memory);
  return {};
}

Result<void> to_v1beta2(std::string_view kind, Json& object) {
  const Json memory = take_memory(object, v1beta2_annotation);
  const Json spelling = v1beta1_spelling(kind, object);
  std::vector<manifests::Problem> problems;
  manifests::convert_v1beta1(kind, object, problems);
  if (!problems.empty()) return fail(ErrorKind::invalid, describe(problems.front()));
  restore_v1beta2(kind, object, memory);
  remember(object, v1beta1_annotation, spelling);
  return {};
}

}  // namespace

Result<void> convert(Json& object, std::string_view wanted) {
  const auto version = text(object, "apiVersion");
  const std::string kind(text(object, "kind"));
  const auto about = [&] {
    const auto space = text(member(object, "metadata"), "namespace");
    return kind + " " + std::string(space) + (space.empty() ? "" : "/") + std::string(text(member(object, "metadata"), "name"));
  };
  if (wanted != v1beta1 && wanted != v1beta2)
    return fail(ErrorKind::invalid, about() + ": desiredAPIVersion: found \"" + std::string(wanted) +
                                        "\"; allowed: kueue.x-k8s.io/v1beta1, kueue.x-k8s.io/v1beta2");
  if (version != v1beta1 && version != v1beta2)
    return fail(ErrorKind::invalid, about() + ": apiVersion: found " + manifests::shortened(member(object, "apiVersion")) +
                                        "; allowed: kueue.x-k8s.io/v1beta1, kueue.x-k8s.io/v1beta2");
  if (version == wanted) return {};
  auto done = wanted == v1beta1 ? to_v1beta1(kind, object) : to_v1beta2(kind, object);
  if (!done) return fail(done.error().kind, about() + ": " + done.error().message);
  return {};
}

void use_newer_fields(Json& object) {
  std::vector<manifests::Problem> said_twice;
  manifests::convert_v1beta1(text(object, "kind"), object, said_twice);
}

}  // namespace hindsight::connectors::webhooks
