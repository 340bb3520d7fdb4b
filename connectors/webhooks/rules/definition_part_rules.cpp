#include "connectors/webhooks/rules/definition_part_rules.hpp"

#include <algorithm>

namespace hindsight::connectors::webhooks {
namespace {

using manifests::at;
using manifests::each_item;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr const char* one_of_both = "exactly one of the fields in [universal individual] must be set";

bool has(const Json& value, std::string_view name) { return !member(value, name).is_null(); }

/// A list or a map has so many; what is none has none.
std::size_t size_of(const Json& value) { return value.is_structured() ? value.size() : 0; }

// ---- spec -----------------------------------------------------------------------------------------------------------------

void check_resources(const Part& resources, const std::string& field, Findings& findings) {
  if (resources.unchanged()) return;
  for (const char* name : {"requests", "limits"})
    if (has(member(resources.now, name), "pods"))
      findings.invalid(field + "." + name, member(resources.now, name), "the key is reserved for internal kueue use");
}

void check_template(const Part& pod, const std::string& field, Findings& findings) {
  if (pod.unchanged()) return;
  for (const char* name : {"initContainers", "containers"})
    each_named_part(pod, name, field, [&](const Part& container, const std::string& inner) {
      check_resources(container.at("resources"), inner + ".resources", findings);
    });
  check_resources(pod.at("resources"), field + ".resources", findings);
}

void check_pod_set(const Part& pod_set, const std::string& field, Findings& findings) {
  if (pod_set.unchanged()) return;
  const auto least = number(pod_set.now, "minCount");
  if (least && *least > number(pod_set.now, "count").value_or(1))
    findings.invalid(field, Json(*least), "minCount should be positive and less or equal to count");
  check_template(pod_set.at("template").at("spec"), field + ".template.spec", findings);
}

void check_priority_class(const Part& reference, Findings& findings) {
  if (reference.now.is_null() || reference.unchanged()) return;
  const auto group = text(reference.now, "group");
  const auto kind = text(reference.now, "kind");
  if (group == "scheduling.k8s.io" && kind != "PriorityClass")
    findings.invalid("spec.priorityClassRef", reference.now, "only the PriorityClass kind is allowed for the scheduling.k8s.io group");
  if (group == "kueue.x-k8s.io" && kind != "WorkloadPriorityClass")
    findings.invalid("spec.priorityClassRef", reference.now, "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group");
}

// ---- places ---------------------------------------------------------------------------------------------------------------

void check_slice(const Json& slice, const std::string& field, Findings& findings) {
  const auto domains = number(slice, "domainCount").value_or(0);
  const auto are_domains = [&](const Json& list) { return static_cast<std::int64_t>(size_of(list)) == domains; };
  const Json& counts = member(slice, "podCounts");
  if (has(counts, "universal") == has(counts, "individual")) findings.invalid(field + ".podCounts", Json(), one_of_both);
  if (has(counts, "individual") && !are_domains(member(counts, "individual")))
    findings.invalid(field, Json(), "podCounts.individual must have length equal to domainCount");
  each_item(slice, "valuesPerLevel", field, [&](const Json& value, const std::string& inner) {
    if (has(value, "universal") == has(value, "individual")) findings.invalid(inner, Json(), one_of_both);
    if (has(value, "individual") && !are_domains(member(value, "individual", "roots")))
      findings.invalid(field, Json(),
                       "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of this TopologyAssignmentSlice");
  });
}

/// v1beta1 lists domains, v1beta2 slices, and an object that nobody has converted may have either.
void check_places(const Part& places, const std::string& field, Findings& findings) {
  if (places.now.is_null() || places.unchanged()) return;
  if (has(places.now, "domains") == has(places.now, "slices"))
    findings.invalid(field, Json(), "exactly one of the fields in [domains slices] must be set");
  const std::size_t levels = size_of(member(places.now, "levels"));
  each_item(places.now, "slices", field, [&](const Json& slice, const std::string& inner) {
    if (size_of(member(slice, "valuesPerLevel")) != levels)
      findings.invalid(field, Json(), "valuesPerLevel must have the same length as the number of levels in this TopologyAssignment");
    check_slice(slice, inner, findings);
  });
}

// ---- what checks add to pods ----------------------------------------------------------------------------------------------

void check_toleration(const Json& toleration, const std::string& field, Findings& findings) {
  const Json& op = member(toleration, "operator");
  const Json& effect = member(toleration, "effect");
  if (text(toleration, "key").empty() && op != "Exists")
    findings.invalid(field, toleration, "operator must be Exists when 'key' is empty, which means 'match all values and all keys'");
  if (has(toleration, "tolerationSeconds") && effect != "NoExecute")
    findings.invalid(field, toleration, "effect must be 'NoExecute' when 'tolerationSeconds' is set");
  if (!op.is_null() && op != "Equal" && op != "Exists")
    findings.invalid(field, toleration, "supported toleration values: 'Equal'(default), 'Exists'");
  if (op == "Exists" && !text(toleration, "value").empty())
    findings.invalid(field, toleration, "a value must be empty when 'operator' is 'Exists'");
  if (!effect.is_null() && effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
    findings.invalid(field, toleration, "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'");
}

void check_pod_set_updates(const Part& check, const std::string& path, Findings& findings) {
  const Part updates = check.at("podSetUpdates");
  if (!updates.now.is_array()) return;
  if (updates.unchanged()) return;
  const auto is_there_twice = [&](const Json& one) {
    return std::count_if(updates.now.begin(), updates.now.end(),
                         [&](const Json& other) { return text(other, "name") == text(one, "name"); }) > 1;
  };
  if (std::any_of(updates.now.begin(), updates.now.end(), is_there_twice))
    findings.invalid(path + ".podSetUpdates", Json(), "Duplicate value: there can be one entry a podSet");
  each_item(check.now, "podSetUpdates", path, [&](const Json& update, const std::string& field) {
    each_item(update, "tolerations", field,
              [&](const Json& one, const std::string&) { check_toleration(one, field + ".tolerations", findings); });
  });
}

}  // namespace

void check_workload_parts(const Part& workload, Findings& findings) {
  const Part spec = workload.at("spec"), status = workload.at("status");
  if (!spec.unchanged()) {
    each_named_part(spec, "podSets", "spec", [&](const Part& one, const std::string& field) { check_pod_set(one, field, findings); });
    check_priority_class(spec.at("priorityClassRef"), findings);
  }
  if (status.unchanged()) return;
  each_named_part(status.at("admission"), "podSetAssignments", "status.admission", [&](const Part& one, const std::string& field) {
    check_places(one.at("topologyAssignment"), field + ".topologyAssignment", findings);
  });
  each_named_part(status, "admissionChecks", "status",
                  [&](const Part& one, const std::string& field) { check_pod_set_updates(one, field, findings); });
}

}  // namespace hindsight::connectors::webhooks
