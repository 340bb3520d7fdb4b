#include "connectors/webhooks/rules/definition_rules.hpp"

#include <algorithm>
#include <optional>

#include "connectors/webhooks/rules/definition_part_rules.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::condition_is;
using manifests::each_item;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr const char* immutable = "field is immutable";

bool same(const Json& now, const Json& before, std::string_view name) { return member(now, name) == member(before, name); }

/// The entry of that name; null where there is none.
const Json& named(const Json& list, std::string_view name) {
  static const Json nothing;
  if (!list.is_array()) return nothing;
  const auto it = std::find_if(list.begin(), list.end(), [&](const Json& one) { return text(one, "name") == name; });
  return it == list.end() ? nothing : *it;
}

/// Both have the same names in the same order.
bool same_names(const Json& now, const Json& before) {
  return now.size() == before.size() && std::equal(now.begin(), now.end(), before.begin(),
                                                   [](const Json& a, const Json& b) { return text(a, "name") == text(b, "name"); });
}

/// One change of a Workload, and what rules ask about it again and again.
struct Change {
  const ObjectView& now;
  const ObjectView& before;
  bool reserved = condition_is(now.status, "QuotaReserved");
  bool was_reserved = condition_is(before.status, "QuotaReserved");

  [[nodiscard]] const Json& pod_set(std::string_view name) const { return named(member(now.spec, "podSets"), name); }
  /// Nothing: there is no such PodSet.
  [[nodiscard]] std::optional<std::int64_t> pods_of(std::string_view name) const {
    const Json& found = pod_set(name);
    if (found.is_null()) return std::nullopt;
    return number(found, "count").value_or(1);
  }
  [[nodiscard]] const Json& assignments() const { return member(member(now.status, "admission"), "podSetAssignments"); }
};

// ---- without the old object -----------------------------------------------------------------------------------------------

void check_spec(const Part& spec, Findings& findings) {
  if (spec.unchanged()) return;
  const Json& pod_sets = member(spec.now, "podSets");
  if (pod_sets.is_array() &&
      std::count_if(pod_sets.begin(), pod_sets.end(), [](const Json& one) { return !member(one, "minCount").is_null(); }) > 1)
    findings.invalid("spec.podSets", Json(), "at most one podSet can use minCount");
  if (!member(spec.now, "priorityClassRef").is_null() && member(spec.now, "priority").is_null())
    findings.invalid("spec", Json(), "priority should not be nil when priorityClassRef is set");
}

void check_clusters(const Part& status, Findings& findings) {
  if (status.unchanged()) return;
  const Json& nominated = member(status.now, "nominatedClusterNames");
  if (!member(status.now, "clusterName").is_null() && nominated.is_array() && !nominated.empty())
    findings.invalid("status", Json(), "clusterName and nominatedClusterNames are mutually exclusive");
}

void check_status_against_spec(const Change& change, Findings& findings) {
  const Json& assignments = change.assignments();
  if (change.reserved && !assignments.is_null()) {
    const bool as_many = member(change.now.spec, "podSets").size() == assignments.size();
    const bool known =
        std::all_of(assignments.begin(), assignments.end(), [&](const Json& one) { return !change.pod_set(text(one, "name")).is_null(); });
    if (!as_many || !known)
      findings.invalid("", Json(),
                       as_many ? "podSetAssignments must be named after the podSets of the spec"
                               : "podSetAssignments must have the same number of podSets as the spec");
  }
  each_item(change.now.status, "admissionChecks", "status", [&](const Json& check, const std::string&) {
    each_item(check, "podSetUpdates", "", [&](const Json& update, const std::string&) {
      if (change.pod_set(text(update, "name")).is_null())
        findings.invalid("status.admissionChecks", Json(), "podSetUpdates must be named after the podSets of the spec");
    });
  });
  each_item(change.now.status, "reclaimablePods", "status", [&](const Json& pods, const std::string&) {
    if (change.pod_set(text(pods, "name")).is_null())
      findings.invalid("status.reclaimablePods", Json(), "reclaimablePods must be named after the podSets of the spec");
  });
}

// ---- while quota is reserved ----------------------------------------------------------------------------------------------

/// Counts may be lowered: EJ-103.
bool only_counts_fall(const Json& now, const Json& before) {
  if (!now.is_array() || !before.is_array() || !same_names(now, before)) return false;
  return std::equal(now.begin(), now.end(), before.begin(), [](const Json& n, const Json& o) {
    return number(n, "count").value_or(1) <= number(o, "count").value_or(1) && same(n, o, "template") && same(n, o, "minCount") &&
           same(n, o, "topologyRequest");
  });
}

void check_priority_class_stays(const Json& now, const Json& before, Findings& findings) {
  const auto refuse = [&](const char* what) { findings.invalid("", Json(), std::string(what) + " while workload quota reserved"); };
  if (now.is_null() != before.is_null()) return refuse("priorityClassRef is immutable");
  if (now.is_null()) return;
  if (!same(now, before, "group")) refuse("priorityClassRef.group is immutable");
  if (!same(now, before, "kind")) refuse("priorityClassRef.kind is immutable");
  if (text(now, "group") == "scheduling.k8s.io" && !same(now, before, "name"))
    refuse("priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass");
}

void check_spec_stays(const Change& change, Findings& findings) {
  const Json &spec = change.now.spec, &old_spec = change.before.spec;
  if (change.was_reserved) {
    if (!only_counts_fall(member(spec, "podSets"), member(old_spec, "podSets"))) findings.invalid("spec.podSets", Json(), immutable);
    if (change.reserved && !same(spec, old_spec, "queueName"))
      findings.invalid("spec.queueName", member(spec, "queueName"), "queueName is immutable while workload quota reserved");
    check_priority_class_stays(member(spec, "priorityClassRef"), member(old_spec, "priorityClassRef"), findings);
  }
  constexpr const char* seconds = "maximumExecutionTimeSeconds";
  if (!same(spec, old_spec, seconds) && condition_is(change.now.status, "Admitted") && condition_is(change.before.status, "Admitted"))
    findings.invalid("spec.maximumExecutionTimeSeconds", member(spec, seconds),
                     "maximumExecutionTimeSeconds is immutable while workload quota reserved");
}

// ---- changes of the status ------------------------------------------------------------------------------------------------

void check_admission_stays(const Json& now, const Json& before, Findings& findings) {
  if (now.is_null() || before.is_null()) return;
  const Json &assignments = member(now, "podSetAssignments"), &old = member(before, "podSetAssignments");
  const bool as_before = same(now, before, "clusterQueue") && assignments.is_null() == old.is_null() && same_names(assignments, old) &&
                         std::equal(assignments.begin(), assignments.end(), old.begin(), [](const Json& n, const Json& o) {
                           return same(n, o, "flavors") && same(n, o, "resourceUsage") && same(n, o, "count");
                         });
  if (!as_before) findings.invalid("status.admission", Json(), immutable);
}

/// The PodSet was scaled down below what was admitted.
bool was_scaled_down(const Change& change, std::string_view name) {
  const auto given = number(named(change.assignments(), name), "count");
  const auto pods = change.pods_of(name);
  return given && pods && *pods < *given;
}

void check_reclaimable(const Change& change, Findings& findings) {
  constexpr const char* field = "status.reclaimablePods";
  const Json& list = member(change.now.status, "reclaimablePods");
  const Json& old_list = member(change.before.status, "reclaimablePods");
  each_item(change.now.status, "reclaimablePods", "status", [&](const Json& one, const std::string&) {
    const auto pods = change.pods_of(text(one, "name"));
    const Json& before = named(old_list, text(one, "name"));
    if (pods && number(one, "count").value_or(0) > *pods && (before.is_null() || !same(one, before, "count")))
      findings.invalid(field, Json(), "should be less or equal to " + std::to_string(*pods));
  });
  if (!change.reserved || !change.was_reserved) return;
  each_item(change.before.status, "reclaimablePods", "status", [&](const Json& before, const std::string&) {
    const auto name = text(before, "name");
    const Json& one = named(list, name);
    if (was_scaled_down(change, name)) return;
    if (one.is_null())
      findings.required(field, "cannot be removed");
    else if (const auto least = number(before, "count").value_or(0); number(one, "count").value_or(0) < least)
      findings.invalid(field, Json(), "cannot be less than " + std::to_string(least));
  });
}

void check_status_change(const Change& change, Findings& findings) {
  const Json &status = change.now.status, &old_status = change.before.status;
  if (change.reserved && member(status, "admission").is_null() && !(change.was_reserved && member(old_status, "admission").is_null()))
    findings.required("status.admission", "must be set while the QuotaReserved condition is true");
  check_admission_stays(member(status, "admission"), member(old_status, "admission"), findings);
  check_reclaimable(change, findings);
  const Json &cluster = member(status, "clusterName"), &old_cluster = member(old_status, "clusterName");
  if (!cluster.is_null() && !old_cluster.is_null() && cluster != old_cluster)
    findings.invalid("status.clusterName", cluster, "clusterName is immutable once set");
  each_named_part({status, old_status}, "admissionChecks", "status", [&](const Part& check, const std::string& at) {
    if (text(check.now, "state") == "Ready" && text(check.before, "state") == "Ready" && !same(check.now, check.before, "podSetUpdates"))
      findings.invalid(at + ".podSetUpdates", Json(), immutable);
  });
}

void check_workload(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const Part whole{now.whole, before.whole};
  const Change change{now, before};
  if (!whole.unchanged()) {
    check_spec({now.spec, before.spec}, findings);
    check_clusters({now.status, before.status}, findings);
    check_status_against_spec(change, findings);
    check_workload_parts(whole, findings);
  }
  if (!before.exists()) return;
  check_spec_stays(change, findings);
  check_status_change(change, findings);
}

}  // namespace

void check_definition_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings) {
  if (kind.type->kind == "Workload") check_workload(now, before, findings);
}

}  // namespace hindsight::connectors::webhooks
