#include "connectors/bridge/want_names.hpp"

#include <algorithm>
#include <variant>

#include "connectors/bridge/intent_names.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {

std::string finalizer_key(ObjectKind kind, std::string_view name) {
  const auto* type = held_type(kind);
  return "finalizer/" + std::string(type == nullptr ? "" : type->plural) + "/" + std::string(name);
}

std::string adopt_key(std::string_view namespace_, std::string_view name) {
  return std::string("adopt/").append(namespace_).append("/").append(name);
}

std::string option_key(std::string_view parent_uid, std::string_view name) {
  return std::string("option/").append(parent_uid).append("/").append(name);
}

std::string key_of(const Intent& intent) {
  struct Name {
    std::string operator()(const WorkloadIntent& i) const { return "status/" + i.uid; }
    std::string operator()(const WorkloadCreateIntent& i) const { return "create/" + i.job_uid; }
    std::string operator()(const WorkloadReviseIntent& i) const { return "revise/" + i.uid; }
    std::string operator()(const JobIntent& i) const { return "job/" + i.uid; }
    std::string operator()(const QueueStatusIntent& i) const { return (i.local ? "lq/" + i.namespace_ + "/" : "cq/") + i.name; }
    std::string operator()(const FinalizerIntent& i) const { return finalizer_key(i.kind, i.name); }
    std::string operator()(const WorkloadAdoptIntent& i) const { return adopt_key(i.namespace_, i.name); }
    std::string operator()(const PodReleaseIntent& i) const { return "pod/" + i.uid; }
    std::string operator()(const PodFailIntent& i) const { return "pod/" + i.uid; }
    std::string operator()(const QuarantineIntent& i) const { return "quarantine/" + i.uid; }
    std::string operator()(const OptionCreateIntent& i) const { return option_key(i.parent_uid, i.name); }
  };
  return std::visit(Name{}, intent);
}

std::vector<std::string> looks_at(const Intent& intent) {
  struct Uids {
    std::vector<std::string> operator()(const WorkloadIntent& i) const { return {i.uid}; }
    std::vector<std::string> operator()(const WorkloadCreateIntent& i) const { return {i.job_uid, i.replaces_uid}; }
    std::vector<std::string> operator()(const WorkloadReviseIntent& i) const { return {i.uid, i.job_uid}; }
    std::vector<std::string> operator()(const JobIntent& i) const { return {i.uid, i.workload_uid}; }
    std::vector<std::string> operator()(const QueueStatusIntent&) const { return {}; }
    std::vector<std::string> operator()(const FinalizerIntent&) const { return {}; }
    std::vector<std::string> operator()(const WorkloadAdoptIntent& i) const { return {i.job_uid}; }
    std::vector<std::string> operator()(const PodReleaseIntent& i) const { return {i.uid}; }
    std::vector<std::string> operator()(const PodFailIntent& i) const { return {i.uid}; }
    std::vector<std::string> operator()(const QuarantineIntent& i) const { return {i.uid}; }
    std::vector<std::string> operator()(const OptionCreateIntent& i) const { return {i.parent_uid}; }
  };
  return std::visit(Uids{}, intent);
}

std::string namespace_of(const Intent& intent) {
  return std::visit(
      [](const auto& i) -> std::string {
        if constexpr (requires { i.namespace_; }) return i.namespace_;
        return {};
      },
      intent);
}

bool gives_back(const Intent& intent) {
  if (std::holds_alternative<admission::PodFailIntent>(intent)) return true;
  if (const auto* job = std::get_if<admission::JobIntent>(&intent)) return !job->run;
  const auto* workload = std::get_if<admission::WorkloadIntent>(&intent);
  return workload != nullptr && workload->has_admission &&
         std::any_of(workload->conditions.begin(), workload->conditions.end(),
                     [](const auto& c) { return c.type == ConditionType::evicted && c.status == ConditionStatus::true_; });
}

const ResourceType* type_of(const Intent& intent) {
  struct Type {
    const ResourceType* operator()(const WorkloadIntent&) const { return &types::workload; }
    const ResourceType* operator()(const WorkloadCreateIntent& i) const { return find_resource_type(i.job_kind, i.job_group); }
    const ResourceType* operator()(const WorkloadReviseIntent&) const { return &types::workload; }
    const ResourceType* operator()(const JobIntent& i) const { return find_resource_type(i.kind, i.group); }
    const ResourceType* operator()(const QueueStatusIntent&) const { return nullptr; }
    const ResourceType* operator()(const FinalizerIntent&) const { return nullptr; }
    const ResourceType* operator()(const WorkloadAdoptIntent& i) const { return find_resource_type(i.job_kind, i.job_group); }
    const ResourceType* operator()(const PodReleaseIntent&) const { return &types::pod; }
    const ResourceType* operator()(const PodFailIntent&) const { return &types::pod; }
    const ResourceType* operator()(const QuarantineIntent&) const { return &types::workload; }
    const ResourceType* operator()(const OptionCreateIntent&) const { return &types::workload; }
  };
  return std::visit(Type{}, intent);
}

}  // namespace hindsight::connectors
