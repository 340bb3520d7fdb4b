#include "connectors/simulated/rules/webhook_rules.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "connectors/manifests/syntax.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::connectors::simulated {
namespace {

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

void check_cluster_queue(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const Json& spec = now.spec;
  check_groups(spec, {spec.contains("cohortName"), "cohort", true}, findings);
  check_weight(spec, findings);
  check_label_selector(member(spec, "namespaceSelector"), "spec.namespaceSelector", findings);
  const Json& checks = member(spec, "admissionChecksStrategy");
  if (before.exists() && checks == member(before.spec, "admissionChecksStrategy")) return;
  std::set<std::string_view> flavors;
  for (const auto& group : member(spec, "resourceGroups"))
    for (const auto& flavor : member(group, "flavors")) flavors.insert(text(flavor, "name"));
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

void check_requests(const Json& template_, const std::string& field, Findings& findings) {
  const auto check_list = [&](const Json& resources, const std::string& path) {
    for (const char* name : {"requests", "limits"}) {
      const Json& list = member(resources, name);
      if (!list.is_object()) continue;
      for (const auto& [resource, value] : list.get_ref<const Json::object_t&>()) {
        const std::string inner = path + "." + name + "[" + resource + "]";
        if (resource == "pods") findings.invalid(inner, Json(resource), "the key is reserved for internal kueue use");
        if (amount_of(value) < 0) findings.invalid(inner, value, "must be greater than or equal to 0");
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
                const auto amount = parse_quantity(value.is_string() ? value.get<std::string>() : value.dump(), resource);
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

constexpr std::string_view elastic = "kueue.x-k8s.io/elastic-job";  // the annotation, and the scheduling gate

void check_reclaimable(const ObjectView& now, const ObjectView& before, bool reserved, Findings& findings) {
  const bool slice = text(member(now.metadata, "annotations"), elastic) == "true";
  const auto old_of = [&](std::string_view name) {
    for (const auto& old : member(before.status, "reclaimablePods"))
      if (text(old, "name") == name) return number(old, "count").value_or(0);
    return std::int64_t{-1};
  };
  std::map<std::string_view, std::int64_t> counts, reclaimed;
  for (const auto& pod_set : member(now.spec, "podSets")) counts[text(pod_set, "name")] = number(pod_set, "count").value_or(1);
  each_item(now.status, "reclaimablePods", "status", [&](const Json& entry, const std::string& field) {
    const auto name = text(entry, "name");
    const auto count = number(entry, "count").value_or(0);
    reclaimed[name] = count;
    const auto it = counts.find(name);
    if (it == counts.end())
      findings.add(ProblemKind::not_supported, field + ".name", member(entry, "name"), "must be the name of a podset");
    else if (count > it->second && !(slice && count == old_of(name)))  // EJ-63
      findings.invalid(field + ".count", member(entry, "count"), "should be less or equal to " + std::to_string(it->second));
  });
  if (!reserved) return;
  const auto shrunk = [&](std::string_view name) {
    for (const auto& assignment : member(member(now.status, "admission"), "podSetAssignments"))
      if (text(assignment, "name") == name && counts.contains(name)) return counts[name] < number(assignment, "count").value_or(0);
    return false;
  };
  for (const auto& old : member(before.status, "reclaimablePods")) {
    const auto it = reclaimed.find(text(old, "name"));
    if (slice && shrunk(text(old, "name"))) continue;
    const std::string field = "status.reclaimablePods[" + std::string(text(old, "name")) + "]";
    if (it == reclaimed.end())
      findings.required(field, "cannot be removed");
    else if (it->second < number(old, "count").value_or(0))
      findings.invalid(field + ".count", Json(it->second), "cannot be less than " + member(old, "count").dump());
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

void check_workload(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const Json& spec = now.spec;
  std::size_t reducible = 0;
  each_item(spec, "podSets", "spec", [&](const Json& pod_set, const std::string& field) {
    check_requests(member(pod_set, "template"), field + ".template.spec", findings);
    if (pod_set.contains("minCount") && ++reducible == 2) findings.invalid("spec.podSets", Json(), "at most one podSet can use minCount");
  });
  const Json& boost = member(member(now.metadata, "annotations"), "kueue.x-k8s.io/priority-boost");
  if (boost.is_string()) {
    const auto& value = boost.get_ref<const std::string&>();
    std::int32_t parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc() || end != value.data() + value.size() || value.empty())
      findings.invalid("metadata.annotations[kueue.x-k8s.io/priority-boost]", boost,
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
  const Json& pod_sets = member(spec, "podSets");
  const Json& old_pod_sets = member(before.spec, "podSets");
  if (reserved && was_reserved && pod_sets != old_pod_sets && !only_lowers_counts(pod_sets, old_pod_sets))
    findings.invalid("spec.podSets", Json(), "field is immutable");
  check_reclaimable(now, before, reserved && was_reserved, findings);
}

}  // namespace

void apply_webhook_defaults(const Kind& kind, Json& object, const ObjectStore& store) {
  const auto name = kind.type->kind;
  if (name == "ClusterQueue" || name == "ResourceFlavor" || name == "AdmissionCheck") {
    constexpr const char* in_use = "kueue.x-k8s.io/resource-in-use";
    Json& finalizers = object["metadata"]["finalizers"];
    if (!finalizers.is_array()) finalizers = Json::array();
    if (std::find(finalizers.begin(), finalizers.end(), in_use) == finalizers.end()) finalizers.push_back(in_use);
  }
  if (name != "Job" && name != "JobSet") return;
  Json& metadata = object["metadata"];
  const auto owner_manages = member(metadata, "ownerReferences").size() > 0;
  const auto label = [&](const char* key) { return text(member(metadata, "labels"), key); };
  if (label("kueue.x-k8s.io/queue-name").empty() && !owner_manages && store.find("LocalQueue", text(metadata, "namespace"), "default"))
    metadata["labels"]["kueue.x-k8s.io/queue-name"] = "default";
  if (label("kueue.x-k8s.io/queue-name").empty()) return;
  if (label("kueue.x-k8s.io/priority-class").empty() && store.find("WorkloadPriorityClass", "", "default"))
    metadata["labels"]["kueue.x-k8s.io/priority-class"] = "default";
  if (!object.contains("spec") || !object["spec"].is_object()) return;
  object["spec"]["suspend"] = true;
  if (name == "Job" && text(member(metadata, "annotations"), elastic) == "true") {  // EJ-65
    Json& gates = object["spec"]["template"]["spec"]["schedulingGates"];
    if (!gates.is_array()) gates = Json::array();
    if (std::none_of(gates.begin(), gates.end(), [](const Json& gate) { return text(gate, "name") == elastic; }))
      gates.push_back({{"name", elastic}});
  }
}

void check_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings) {
  const auto name = kind.type->kind;
  if (name == "Workload") check_workload(now, before, findings);
  if (name == "ClusterQueue") check_cluster_queue(now, before, findings);
  if (name == "ResourceFlavor") check_flavor(now, findings);
  if (name == "LocalQueue") check_weight(now.spec, findings);
  if (name == "Cohort") {
    const Json& spec = now.spec;
    check_groups(spec, {spec.contains("parentName"), "parent", false}, findings);
    check_weight(spec, findings);
  }
}

}  // namespace hindsight::connectors::simulated
