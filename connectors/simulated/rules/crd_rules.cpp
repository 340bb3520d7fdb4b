#include "connectors/simulated/rules/crd_rules.hpp"

#include <algorithm>
#include <array>

namespace hindsight::connectors::simulated {
namespace {

constexpr std::string_view effects_text = "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'";
constexpr std::string_view hostname_label = "kubernetes.io/hostname";

bool is_effect(const Json& value) { return value == "NoSchedule" || value == "PreferNoSchedule" || value == "NoExecute"; }

// ---- shared parts ---------------------------------------------------------------------------------------------------------

void check_tolerations(const Json& parent, const std::string& path, Findings& findings) {
  each_item(parent, "tolerations", path, [&](const Json& toleration, const std::string&) {
    const std::string field = path + ".tolerations";
    const Json& op = member(toleration, "operator");
    if (!toleration.contains("key") && op != "Exists")
      findings.invalid(field, toleration, "operator must be Exists when 'key' is empty, which means 'match all values and all keys'");
    if (toleration.contains("tolerationSeconds") && member(toleration, "effect") != "NoExecute")
      findings.invalid(field, toleration, "effect must be 'NoExecute' when 'tolerationSeconds' is set");
    if (!op.is_null() && op != "Equal" && op != "Exists")
      findings.invalid(field, toleration, "supported toleration values: 'Equal'(default), 'Exists'");
    if (op == "Exists" && toleration.contains("value"))
      findings.invalid(field, toleration, "a value must be empty when 'operator' is 'Exists'");
    if (toleration.contains("effect") && !is_effect(toleration["effect"])) findings.invalid(field, toleration, std::string(effects_text));
  });
}

void check_resource_groups(const Json& spec, Findings& findings) {
  each_item(spec, "resourceGroups", "spec", [&](const Json& group, const std::string& field) {
    const Json& flavors = member(group, "flavors");
    const Json& covered = member(group, "coveredResources");
    const bool equal =
        std::all_of(flavors.begin(), flavors.end(), [&](const Json& f) { return member(f, "resources").size() == covered.size(); });
    if (!equal) findings.invalid(field, group, "flavors must have the same number of resources as the coveredResources");
  });
}

/// A rule about a field that may change from absent and to absent, but not in between.
void check_unchanged(const Json& now, const Json& before, std::string_view name, const std::string& path, const char* message,
                     Findings& findings) {
  const Json& new_value = member(now, name);
  const Json& old_value = member(before, name);
  if (!new_value.is_null() && !old_value.is_null() && new_value != old_value)
    findings.invalid(path + "." + std::string(name), new_value, message);
}

void check_all_different(const Json& list, const std::string& field, Findings& findings) {
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) != list.begin() + static_cast<std::ptrdiff_t>(i))
      return findings.invalid(field, list, "must be unique");
  }
}

// ---- kinds ----------------------------------------------------------------------------------------------------------------

void check_flavor(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const Json& spec = now.spec;
  const Json& topology = member(spec, "topologyName");
  if (!topology.is_null() && member(spec, "nodeLabels").empty())
    findings.invalid("spec", spec, "at least one nodeLabel is required when topology is set");
  const Json& old_topology = member(before.spec, "topologyName");
  if (!old_topology.is_null() && topology != old_topology)
    findings.invalid("spec", spec, "topologyName is immutable when topologyName is set");
  each_item(spec, "nodeTaints", "spec", [&](const Json& taint, const std::string&) {
    if (!is_effect(member(taint, "effect"))) findings.invalid("spec.nodeTaints", taint, std::string(effects_text));
  });
  check_tolerations(spec, "spec", findings);
}

bool sets_borrowing_limit(const Json& spec) {
  const Json& groups = member(spec, "resourceGroups");
  if (!groups.is_array()) return false;
  for (const auto& group : groups)
    for (const auto& flavor : member(group, "flavors"))
      for (const auto& resource : member(flavor, "resources"))
        if (resource.contains("borrowingLimit")) return true;
  return false;
}

/// 8691 V5 and V7.
void check_concurrent_admission(const Json& spec, Findings& findings) {
  const Json& migration = member(spec, "concurrentAdmissionPolicy", "migration");
  if (!member(migration, "constraints").is_null() && member(migration, "mode") != "TryPreferredFlavors")
    findings.forbidden("spec.concurrentAdmissionPolicy.migration.constraints",
                       R"(may only be set when migration.mode is "TryPreferredFlavors" (got "RetainFirstAdmission"))");
  const Json& form = member(spec, "concurrentAdmission");
  const bool wants_target = member(form, "onSuccess") == "RemoveBelowTarget";
  const bool has_target = !member(form, "removeBelowTargetConfig").is_null();
  if (wants_target && !has_target)
    findings.required("spec.concurrentAdmission.removeBelowTargetConfig", R"(must be set when onSuccess is "RemoveBelowTarget")");
  if (has_target && !wants_target)
    findings.forbidden("spec.concurrentAdmission.removeBelowTargetConfig", R"(may only be set when onSuccess is "RemoveBelowTarget")");
}

void check_cluster_queue(const ObjectView& now, Findings& findings) {
  const Json& spec = now.spec;
  if (!spec.is_object()) return;
  if (!spec.contains("cohortName") && sets_borrowing_limit(spec))
    findings.invalid("spec", Json(), "borrowingLimit must be nil when cohort is empty");
  const Json& fungibility = member(spec, "flavorFungibility");
  if (!member(fungibility, "preference").is_null() &&
      !(member(fungibility, "whenCanBorrow") == "TryNextFlavor" && member(fungibility, "whenCanPreempt") == "TryNextFlavor"))
    findings.invalid("spec.flavorFungibility", fungibility,
                     "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor");
  const Json& preemption = member(spec, "preemption");
  const Json& borrow = member(preemption, "borrowWithinCohort");
  if (member(preemption, "reclaimWithinCohort") == "Never" && !borrow.is_null() && member(borrow, "policy") != "Never")
    findings.invalid("spec.preemption", preemption, "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never");
  check_concurrent_admission(spec, findings);
  check_resource_groups(spec, findings);
}

void check_topology(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const Json& levels = member(now.spec, "levels");
  if (!levels.is_array() || levels.empty()) return;
  const auto hostname_last = [](const Json& list) {
    return list.is_array() && !list.empty() && text(list.back(), "nodeLabel") == hostname_label;
  };
  const Json& old_levels = member(before.spec, "levels");
  if (!old_levels.is_null() && levels != old_levels && !(hostname_last(levels) && hostname_last(old_levels))) {
    findings.invalid("spec.levels", levels,
                     "levels are mutable only when kubernetes.io/hostname is the lowest level both before and after the change");
  }
  check_all_different(levels, "spec.levels", findings);
  const bool hostname =
      std::any_of(levels.begin(), levels.end(), [](const Json& level) { return text(level, "nodeLabel") == hostname_label; });
  if (hostname && !hostname_last(levels))
    findings.invalid("spec.levels", levels, "the kubernetes.io/hostname label can only be used at the lowest level of topology");
}

void check_multikueue_cluster(const ObjectView& now, Findings& findings) {
  const Json& source = member(now.spec, "clusterSource");
  if (source.is_object() && source.contains("kubeConfig") == source.contains("clusterProfileRef"))
    findings.invalid("spec.clusterSource", source, "exactly one of the fields in [kubeConfig clusterProfileRef] must be set");
}

void check_job_set(const ObjectView& now, const ObjectView& before, Findings& findings) {
  for (const char* name : {"failurePolicy", "managedBy", "network", "startupPolicy", "successPolicy"})
    check_unchanged(now.spec, before.spec, name, "spec", "Value is immutable", findings);
}

// ---- Workload -------------------------------------------------------------------------------------------------------------

bool has_one_of(const Json& value, const char* a, const char* b) { return value.contains(a) != value.contains(b); }

void check_topology_assignment(const Json& assignment, const std::string& path, Findings& findings) {
  const Json& topology = member(assignment, "topologyAssignment");
  if (!topology.is_object()) return;
  each_item(topology, "slices", path + ".topologyAssignment", [&](const Json& slice, const std::string& field) {
    const auto domains = number(slice, "domainCount").value_or(0);
    const Json& levels = member(slice, "valuesPerLevel");
    if (levels.size() != member(topology, "levels").size())
      findings.invalid(path + ".topologyAssignment", Json(),
                       "valuesPerLevel must have the same length as the number of levels in this TopologyAssignment");
    const Json& counts = member(slice, "podCounts");
    if (!has_one_of(counts, "universal", "individual"))
      findings.invalid(field + ".podCounts", counts, "exactly one of the fields in [universal individual] must be set");
    if (counts.contains("individual") && static_cast<std::int64_t>(counts["individual"].size()) != domains)
      findings.invalid(field, Json(), "podCounts.individual must have length equal to domainCount");
    for (const auto& level : levels) {
      if (!has_one_of(level, "universal", "individual"))
        findings.invalid(field + ".valuesPerLevel", level, "exactly one of the fields in [universal individual] must be set");
      if (level.contains("individual") && static_cast<std::int64_t>(member(level, "individual", "roots").size()) != domains)
        findings.invalid(
            field, Json(),
            "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of this TopologyAssignmentSlice");
    }
  });
}

void check_workload_alone(const ObjectView& now, bool reserved, Findings& findings) {
  const Json& spec = now.spec;
  const Json& status = now.status;
  const Json& admission = member(status, "admission");
  if (reserved && !admission.is_null() && member(spec, "podSets").size() != member(admission, "podSetAssignments").size())
    findings.invalid("", Json(), "podSetAssignments must have the same number of podSets as the spec");
  const Json& reference = member(spec, "priorityClassRef");
  if (!reference.is_null()) {
    if (!spec.contains("priority")) findings.invalid("spec", Json(), "priority should not be nil when priorityClassRef is set");
    if (member(reference, "group") == "scheduling.k8s.io" && member(reference, "kind") != "PriorityClass")
      findings.invalid("spec.priorityClassRef", reference, "only the PriorityClass kind is allowed for the scheduling.k8s.io group");
    if (member(reference, "group") == "kueue.x-k8s.io" && member(reference, "kind") != "WorkloadPriorityClass")
      findings.invalid("spec.priorityClassRef", reference, "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group");
  }
  each_item(spec, "podSets", "spec", [&](const Json& pod_set, const std::string& field) {
    const auto least = number(pod_set, "minCount");
    if (least && *least > number(pod_set, "count").value_or(1))
      findings.invalid(field, Json(*least), "minCount should be positive and less or equal to count");
  });
  if (status.contains("clusterName") && !member(status, "nominatedClusterNames").empty())
    findings.invalid("status", Json(), "clusterName and nominatedClusterNames are mutually exclusive");
  each_item(admission, "podSetAssignments", "status.admission",
            [&](const Json& assignment, const std::string& field) { check_topology_assignment(assignment, field, findings); });
  each_item(status, "admissionChecks", "status", [&](const Json& check, const std::string& field) {
    each_item(check, "podSetUpdates", field,
              [&](const Json& update, const std::string& inner) { check_tolerations(update, inner, findings); });
  });
}

void check_workload_change(const ObjectView& now, const ObjectView& before, bool reserved, Findings& findings) {
  const Json& spec = now.spec;
  const Json& old_spec = before.spec;
  const Json& old_status = before.status;
  if (condition_is(old_status, "QuotaReserved")) {
    const Json& reference = member(spec, "priorityClassRef");
    const Json& old_reference = member(old_spec, "priorityClassRef");
    if (reference.is_null() != old_reference.is_null()) {
      findings.invalid("", Json(), "priorityClassRef is immutable while workload quota reserved");
    } else if (!reference.is_null()) {
      for (const char* name : {"group", "kind"})
        if (member(reference, name) != member(old_reference, name))
          findings.invalid("", Json(), std::string("priorityClassRef.") + name + " is immutable while workload quota reserved");
      if (member(reference, "group") == "scheduling.k8s.io" && member(reference, "kind") == "PriorityClass" &&
          member(reference, "name") != member(old_reference, "name"))
        findings.invalid("", Json(),
                         "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload quota reserved");
    }
    if (reserved && member(spec, "queueName") != member(old_spec, "queueName"))
      findings.invalid("", Json(), "queueName is immutable while workload quota reserved");
  }
  if (condition_is(old_status, "Admitted") && condition_is(now.status, "Admitted") &&
      number(spec, "maximumExecutionTimeSeconds").value_or(0) != number(old_spec, "maximumExecutionTimeSeconds").value_or(0))
    findings.invalid("", Json(), "maximumExecutionTimeSeconds is immutable while workload quota reserved");
  check_unchanged(now.status, old_status, "clusterName", "status", "clusterName is immutable once set", findings);
}

}  // namespace

void check_crd_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings) {
  const auto name = kind.type->kind;
  if (name == "Workload") {
    const bool reserved = condition_is(now.status, "QuotaReserved");
    check_workload_alone(now, reserved, findings);
    if (before.exists()) check_workload_change(now, before, reserved, findings);
  } else if (name == "ClusterQueue") {
    check_cluster_queue(now, findings);
  } else if (name == "LocalQueue") {
    check_unchanged(now.spec, before.spec, "clusterQueue", "spec", "field is immutable", findings);
  } else if (name == "Cohort") {
    check_resource_groups(now.spec, findings);
  } else if (name == "ResourceFlavor") {
    check_flavor(now, before, findings);
  } else if (name == "Topology") {
    check_topology(now, before, findings);
  } else if (name == "AdmissionCheck") {
    check_unchanged(now.spec, before.spec, "controllerName", "spec", "field is immutable", findings);
  } else if (name == "MultiKueueConfig") {
    check_all_different(member(now.spec, "clusters"), "spec.clusters", findings);
  } else if (name == "MultiKueueCluster") {
    check_multikueue_cluster(now, findings);
  } else if (name == "JobSet") {
    check_job_set(now, before, findings);
  }
}

}  // namespace hindsight::connectors::simulated
