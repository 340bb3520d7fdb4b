#include "connectors/webhooks/rules/webhook_rules.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/manifests/syntax.hpp"
#include "connectors/webhooks/rules/concurrent_admission_rules.hpp"
#include "connectors/webhooks/rules/gate_rules.hpp"
#include "connectors/webhooks/rules/topology_webhook_rules.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::at;
using manifests::condition_is;
using manifests::each_item;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr std::size_t most_flavors = 256;
constexpr std::size_t most_resources = 256;
constexpr std::size_t most_combinations = 512;

long double amount_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  return manifests::quantity_value(value.get_ref<const std::string&>()).value_or(0);
}

// ---- quota ----------------------------------------------------------------------------------------------------------------

struct Limits {
  bool has_parent = false;
  const char* parent = "cohort";
  bool lending_up_to_nominal = false;
};

void check_quota(const Json& quota, const std::string& field, const Limits& limits, Findings& findings) {
  if (amount_of(member(quota, "nominalQuota")) < 0)
    findings.invalid(field + ".nominalQuota", quota["nominalQuota"], "must be greater than or equal to 0");
  for (const char* name : {"borrowingLimit", "lendingLimit"}) {
    const Json& limit = member(quota, name);
    if (limit.is_null()) continue;
    const std::string inner = field + "." + name;
    if (amount_of(limit) < 0) findings.invalid(inner, limit, "must be greater than or equal to 0");
    if (!limits.has_parent) findings.invalid(inner, limit, std::string("must be nil when ") + limits.parent + " is empty");
  }
  const Json& lending = member(quota, "lendingLimit");
  if (limits.lending_up_to_nominal && !lending.is_null() && amount_of(lending) > amount_of(member(quota, "nominalQuota")))
    findings.invalid(field + ".lendingLimit", lending, "must be less than or equal to the nominalQuota");
}

void check_groups(const Json& spec, const Limits& limits, Findings& findings) {
  std::set<std::string> resources, flavors;
  std::size_t flavor_count = 0;
  each_item(spec, "resourceGroups", "spec", [&](const Json& group, const std::string& field) {
    const Json& covered = member(group, "coveredResources");
    const Json& offered = member(group, "flavors");
    for (std::size_t i = 0; i < covered.size(); ++i) {
      const auto& name = covered[i].get_ref<const std::string&>();
      if (!manifests::is_qualified_name(name))
        findings.invalid(at(field + ".coveredResources", i), covered[i], "name part must be a resource name");
      if (!resources.insert(name).second) findings.duplicate(at(field + ".coveredResources", i), covered[i]);
    }
    flavor_count += offered.size();
    if (offered.size() * covered.size() > most_combinations)
      findings.invalid(field, Json(offered.size() * covered.size()),
                       "number of flavor-resource combinations in a resourceGroup must be ≤ 512");
    for (std::size_t i = 0; i < offered.size(); ++i) {
      const std::string inner = at(field + ".flavors", i);
      if (!flavors.emplace(text(offered[i], "name")).second) findings.duplicate(inner + ".name", member(offered[i], "name"));
      const Json& quotas = member(offered[i], "resources");
      for (std::size_t j = 0; j < quotas.size(); ++j) {
        if (j < covered.size() && member(quotas[j], "name") != covered[j])
          findings.invalid(at(inner + ".resources", j) + ".name", member(quotas[j], "name"), "must match the name in coveredResources");
        check_quota(quotas[j], at(inner + ".resources", j), limits, findings);
      }
    }
  });
  if (flavor_count > most_flavors)
    findings.invalid("spec.resourceGroups", Json(flavor_count),
                     "total number of flavors across all resourceGroups must be ≤ 256, got " + std::to_string(flavor_count));
  if (resources.size() > most_resources)
    findings.invalid("spec.resourceGroups", Json(resources.size()), "total number of covered resources must be ≤ 256");
}

void check_weight(const Json& spec, Findings& findings) {
  const Json& weight = member(spec, "fairSharing", "weight");
  if (weight.is_null()) return;
  const auto value = amount_of(weight);
  if (value < 0) findings.invalid("spec.fairSharing.weight", weight, "must be greater than or equal to 0");
  if (value > 0 && value <= 1e-9L) findings.invalid("spec.fairSharing.weight", weight, "When not 0, weight must be > 10e-9");
}

void check_label_selector(const Json& selector, const std::string& field, Findings& findings) {
  if (!selector.is_object()) return;
  const Json& labels = member(selector, "matchLabels");
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.get_ref<const Json::object_t&>()) {
      const bool good =
          manifests::is_qualified_name(key) && value.is_string() && manifests::is_label_value(value.get_ref<const std::string&>());
      if (!good) findings.invalid(field + ".matchLabels", Json{{key, value}}, "must be a label key and a label value");
    }
  }
  each_item(selector, "matchExpressions", field, [&](const Json& expression, const std::string& inner) {
    const auto op = text(expression, "operator");
    const bool has_values = !member(expression, "values").empty();
    if (op == "In" || op == "NotIn") {
      if (!has_values) findings.required(inner + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (has_values) findings.forbidden(inner + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      findings.invalid(inner + ".operator", member(expression, "operator"), "not a valid selector operator");
    }
    if (!manifests::is_qualified_name(text(expression, "key")))
      findings.invalid(inner + ".key", member(expression, "key"), "must be a label key");
  });
}

std::set<std::string_view> flavor_names(const Json& spec) {
  std::set<std::string_view> names;
  for (const auto& group : member(spec, "resourceGroups"))
    for (const auto& flavor : member(group, "flavors")) names.insert(text(flavor, "name"));
  return names;
}

void check_cluster_queue(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings) {
  const Json& spec = now.spec;
  check_groups(spec, {spec.contains("cohortName"), "cohort", true}, findings);
  check_weight(spec, findings);
  check_label_selector(member(spec, "namespaceSelector"), "spec.namespaceSelector", findings);
  check_concurrent_admission(spec, around, findings);
  const Json& checks = member(spec, "admissionChecksStrategy");
  auto flavors = flavor_names(spec);
  // What is stored and wrong may stay while neither the checks nor the flavors change.
  const bool same = before.exists() && checks == member(before.spec, "admissionChecksStrategy") && flavors == flavor_names(before.spec);
  if (same && !around.gate("RejectUpdatesToCQWithInvalidOnFlavors")) return;
  each_item(checks, "admissionChecks", "spec.admissionChecksStrategy", [&](const Json& check, const std::string& field) {
    each_item(check, "onFlavors", field, [&](const Json& flavor, const std::string& inner) {
      if (!flavors.contains(flavor.get_ref<const std::string&>()))
        findings.add(ProblemKind::not_supported, inner, flavor, "must be a flavor of this ClusterQueue");
    });
  });
}

void check_flavor(const ObjectView& now, Findings& findings) {
  const Json& spec = now.spec;
  check_label_selector(Json{{"matchLabels", member(spec, "nodeLabels").is_object() ? member(spec, "nodeLabels") : Json::object()}},
                       "spec.nodeLabels", findings);
  std::set<std::pair<std::string_view, std::string_view>> taints;
  each_item(spec, "nodeTaints", "spec", [&](const Json& taint, const std::string& field) {
    if (!taints.emplace(text(taint, "key"), text(taint, "effect")).second)
      findings.invalid(field, taint, "taints must be unique by key and effect pair");
  });
}

// ---- Workload -------------------------------------------------------------------------------------------------------------

void check_requests(const Json& template_, const std::string& field, bool not_negative, Findings& findings) {
  const auto check_list = [&](const Json& resources, const std::string& path) {
    for (const char* name : {"requests", "limits"}) {
      const Json& list = member(resources, name);
      if (!list.is_object()) continue;
      for (const auto& [resource, value] : list.get_ref<const Json::object_t&>()) {
        const std::string inner = path + "." + name + "[" + resource + "]";
        if (resource == "pods") findings.invalid(inner, Json(resource), "the key is reserved for internal kueue use");
        if (not_negative && amount_of(value) < 0) findings.invalid(inner, value, "must be greater than or equal to 0");
      }
    }
  };
  const Json& pod = member(template_, "spec");
  for (const char* list : {"initContainers", "containers"})
    each_item(pod, list, field,
              [&](const Json& container, const std::string& inner) { check_list(member(container, "resources"), inner + ".resources"); });
  check_list(member(pod, "resources"), field + ".resources");
}

void check_assignments(const ObjectView& now, Findings& findings) {
  std::set<std::string_view> names;
  for (const auto& pod_set : member(now.spec, "podSets")) names.insert(text(pod_set, "name"));
  each_item(member(now.status, "admission"), "podSetAssignments", "status.admission",
            [&](const Json& assignment, const std::string& field) {
              if (!names.contains(text(assignment, "name")))
                findings.add(ProblemKind::not_supported, field + ".name", member(assignment, "name"), "must be the name of a podset");
              const auto count = number(assignment, "count").value_or(0);
              const Json& usage = member(assignment, "resourceUsage");
              if (count <= 0 || !usage.is_object()) return;
              for (const auto& [resource, value] : usage.get_ref<const Json::object_t&>()) {
                const auto amount = parse_quantity(value.is_string() ? value.get<std::string>() : to_text(value), resource);
                if (amount && *amount % count != 0)
                  findings.invalid(field + ".resourceUsage[" + resource + "]", value, "is not a multiple of " + std::to_string(count));
              }
            });
}

/// The podSets with the counts of `counts` where these are lower: what an elastic scale-down may write (EJ-103).
bool only_lowers_counts(const Json& now, const Json& before) {
  if (now.size() != before.size()) return false;
  Json patched = before;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (number(now[i], "count").value_or(1) > number(before[i], "count").value_or(1)) return false;
    patched[i]["count"] = member(now[i], "count");
  }
  return patched == now;
}

std::map<std::string_view, std::int64_t> counts_of(const Json& list, std::int64_t unless_said) {
  std::map<std::string_view, std::int64_t> counts;
  for (const auto& entry : list) counts[text(entry, "name")] = number(entry, "count").value_or(unless_said);
  return counts;
}

/// `elastic`: a scale-down takes reclaimable pods with it, and the entry that is stored may be too high until it is written again (EJ-63).
void check_reclaimable(const ObjectView& now, const ObjectView& before, bool reserved, bool elastic, Findings& findings) {
  const auto counts = counts_of(member(now.spec, "podSets"), 1);
  const auto admitted = counts_of(member(member(now.status, "admission"), "podSetAssignments"), 0);
  const auto reclaimed = counts_of(member(now.status, "reclaimablePods"), 0);
  const auto old_reclaimed = counts_of(member(before.status, "reclaimablePods"), 0);
  const auto field_of = [](std::string_view name) { return "status.reclaimablePods[" + std::string(name) + "]"; };
  for (const auto& [name, count] : reclaimed) {
    const auto it = counts.find(name);
    const auto old = old_reclaimed.find(name);
    if (it == counts.end())
      findings.add(ProblemKind::not_supported, field_of(name) + ".name", Json(name), "must be the name of a podset");
    else if (count > it->second && !(elastic && old != old_reclaimed.end() && old->second == count))
      findings.invalid(field_of(name) + ".count", Json(count), "should be less or equal to " + std::to_string(it->second));
  }
  if (!reserved) return;
  for (const auto& [name, old_count] : old_reclaimed) {
    const auto pods = counts.find(name);
    const auto given = admitted.find(name);
    if (elastic && pods != counts.end() && given != admitted.end() && pods->second < given->second) continue;
    const auto it = reclaimed.find(name);
    if (it == reclaimed.end())
      findings.required(field_of(name), "cannot be removed");
    else if (it->second < old_count)
      findings.invalid(field_of(name) + ".count", Json(it->second), "cannot be less than " + std::to_string(old_count));
  }
}

/// The worker cluster: one of those that were nominated, and unset only by an eviction (BA-18, EJ-105).
void check_cluster_name(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const auto name = text(now.status, "clusterName");
  const auto old_name = text(before.status, "clusterName");
  if (name == old_name) return;
  if (!old_name.empty()) {  // Of another name the definition says that it cannot be.
    if (name.empty() && !condition_is(now.status, "Evicted"))
      findings.invalid("status.clusterName", Json(name), "clusterName is immutable once set");
    return;
  }
  if (!text(member(now.metadata, "annotations"), keys::slice_replacement_for).empty()) return;
  const Json& nominated = member(before.status, "nominatedClusterNames");
  if (std::find(nominated.begin(), nominated.end(), Json(name)) == nominated.end())
    findings.invalid("status.clusterName", Json(name), "when setting clusterName it must be one of the nominatedClusterNames");
}

/// The syntax of what is copied into pods.
void check_pod_metadata(const Json& holder, const char* labels, const std::string& field, bool values_too, Findings& findings) {
  const Json& map = member(holder, labels);
  if (!map.is_object()) return;
  for (const auto& [key, value] : map.get_ref<const Json::object_t&>()) {
    if (!manifests::is_qualified_name(key)) findings.invalid(field + "." + labels, Json(key), "name part must be a qualified name");
    if (values_too && value.is_string() && !manifests::is_label_value(value.get_ref<const std::string&>()))
      findings.invalid(field + "." + labels, value,
                       "a valid label must be an empty string or consist of alphanumeric characters, "
                       "'-', '_' or '.', and must start and end with an alphanumeric character");
  }
}

/// An assignment without what topology rules may change afterwards.
Json without_topology(const Json& admission) {
  Json out = admission;
  if (const auto list = out.find("podSetAssignments"); list != out.end()) {
    for (auto& assignment : *list) {
      assignment.erase("topologyAssignment");
      assignment.erase("delayedTopologyRequest");
    }
  }
  return out;
}

void check_pod_sets(const ObjectView& now, bool elastic, const Surroundings& around, Findings& findings) {
  const bool not_negative = around.gate("WorkloadValidateResourcesAreNonNegative");
  const bool metadata_too = around.gate("WorkloadValidationForPodSetMetadata");
  std::size_t reducible = 0;
  each_item(now.spec, "podSets", "spec", [&](const Json& pod_set, const std::string& field) {
    const Json& template_ = member(pod_set, "template");
    check_requests(template_, field + ".template.spec", not_negative, findings);
    if (metadata_too) {
      check_pod_metadata(member(template_, "metadata"), "labels", field + ".template.metadata", true, findings);
      check_pod_metadata(member(template_, "metadata"), "annotations", field + ".template.metadata", false, findings);
    }
    if (pod_set.contains("minCount") && ++reducible == 2) findings.invalid("spec.podSets", Json(), "at most one podSet can use minCount");
  });
  if (elastic && reducible > 0)
    findings.invalid("spec.podSets", Json(reducible), "partial admission and elastic job cannot be used together");
  each_item(now.status, "admissionChecks", "status", [&](const Json& check, const std::string& field) {
    each_item(check, "podSetUpdates", field, [&](const Json& update, const std::string& inner) {
      check_pod_metadata(update, "labels", inner, true, findings);
      check_pod_metadata(update, "annotations", inner, false, findings);
      check_pod_metadata(update, "nodeSelector", inner, true, findings);
    });
  });
}

void check_workload(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings) {
  const bool gate = around.gate("ElasticJobsViaWorkloadSlices");
  const bool elastic = gate && text(member(now.metadata, "annotations"), keys::elastic_job) == "true";
  check_pod_sets(now, elastic, around, findings);
  check_workload_gates(now, before, around, findings);
  check_workload_topology(now, before, around, findings);
  const Json& boost = member(member(now.metadata, "annotations"), keys::priority_boost);
  if (boost.is_string()) {
    const auto& value = boost.get_ref<const std::string&>();
    std::int32_t parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc() || end != value.data() + value.size() || value.empty())
      findings.invalid("metadata.annotations[" + std::string(keys::priority_boost) + "]", boost,
                       "must be a valid signed integer; use \"0\" explicitly, empty string is not allowed");
  }
  const bool reserved = condition_is(now.status, "QuotaReserved");
  const bool was_reserved = condition_is(before.status, "QuotaReserved");
  const Json& admission = member(now.status, "admission");
  const Json& old_admission = member(before.status, "admission");
  if (reserved && admission.is_null() && !(was_reserved && old_admission.is_null()))
    findings.required("status.admission", "must be set while the QuotaReserved condition is true");
  check_assignments(now, findings);
  if (!admission.is_null() && !old_admission.is_null() && without_topology(admission) != without_topology(old_admission))
    findings.invalid("status.admission", Json(), "field is immutable");
  const Json& pod_sets = member(now.spec, "podSets");
  const Json& old_pod_sets = member(before.spec, "podSets");
  if (reserved && was_reserved && pod_sets != old_pod_sets && !(gate && only_lowers_counts(pod_sets, old_pod_sets)))
    findings.invalid("spec.podSets", Json(), "field is immutable");
  check_reclaimable(now, before, reserved && was_reserved, elastic, findings);
  if (!before.exists()) return;
  check_cluster_name(now, before, findings);
  if (reserved && was_reserved) check_flavor_constraints(now, before, around, findings);
}

}  // namespace

void check_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, const Surroundings& around,
                         Findings& findings) {
  const auto name = kind.type->kind;
  if (name == "Workload") check_workload(now, before, around, findings);
  if (name == "ClusterQueue") check_cluster_queue(now, before, around, findings);
  if (name == "ResourceFlavor") check_flavor(now, findings);
  if (name == "LocalQueue") check_weight(now.spec, findings);
  if (name == "Cohort") {
    const Json& spec = now.spec;
    check_groups(spec, {spec.contains("parentName"), "parent", false}, findings);
    check_weight(spec, findings);
  }
}

}  // namespace hindsight::connectors::webhooks
