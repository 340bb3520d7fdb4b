#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "connectors/json/document.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/merge_patch.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/conditions.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/topology_encoding.hpp"
#include "connectors/objects/wire_names.hpp"
#include "connectors/objects/write_parts.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

using admission::WantedAssignment;
using admission::WantedCheck;
using admission::WantedGate;
using admission::WantedOption;
using admission::WorkloadIntent;

// Each of the functions below gives a part of the status as it shall be; null: the part shall be absent. What says the same as the part
// that is there is kept in the form that it has, so that other spellings of a quantity or a time are no difference.

bool is_workload_condition(std::string_view type) { return condition_type(type) != ConditionType::unspecified; }

Json conditions_of(const WorkloadIntent& intent, const Json& now, std::int64_t generation) {
  std::vector<ConditionText> wanted;
  for (const auto& c : intent.conditions)
    wanted.push_back({wire_name(c.type), wire_name(c.status), c.reason, c.message, c.last_transition});
  auto out = merged_conditions(now, wanted, is_workload_condition, generation);
  return out.empty() ? Json() : out;
}

std::string_view name_of(DelayedTopology delayed) {
  if (delayed == DelayedTopology::none) return {};
  return delayed == DelayedTopology::pending ? "Pending" : "Ready";
}

bool says(const Json& assignment, const WantedAssignment& wanted) {
  const auto& flavors = object_or_empty(assignment, "flavors");
  return text_member(assignment, "name") == wanted.pod_set && int_member(assignment, "count").value_or(0) == wanted.count &&
         flavors.size() == wanted.flavors.size() &&
         std::all_of(wanted.flavors.begin(), wanted.flavors.end(),
                     [&](const auto& choice) { return text_member(flavors, choice.first) == choice.second; }) &&
         same_amounts(object_or_empty(assignment, "resourceUsage"), wanted.usage) &&
         decode_topology(object_or_empty(assignment, "topologyAssignment")) == wanted.topology.value() &&
         text_member(assignment, "delayedTopologyRequest") == name_of(wanted.delayed);
}

Json assignment_json(const WantedAssignment& wanted) {
  Json out{{"name", wanted.pod_set}, {"count", wanted.count}};
  for (const auto& [resource, flavor] : wanted.flavors) out["flavors"][resource] = flavor;
  if (!wanted.usage.empty()) out["resourceUsage"] = quantities(wanted.usage);
  if (!wanted.topology.empty()) out["topologyAssignment"] = encode_topology(wanted.topology);
  if (wanted.delayed != DelayedTopology::none) out["delayedTopologyRequest"] = name_of(wanted.delayed);
  return out;
}

Json admission_of(const WorkloadIntent& intent, const Json& now) {
  if (!intent.has_admission) return nullptr;
  const auto& assignments = list_or_empty(now, "podSetAssignments");
  bool same = text_member(now, "clusterQueue") == intent.cluster_queue && assignments.size() == intent.assignments.size();
  for (std::size_t i = 0; same && i < intent.assignments.size(); ++i) same = says(assignments[i], intent.assignments[i]);
  if (same) return now;
  Json list = Json::array();
  for (const auto& wanted : intent.assignments) list.push_back(assignment_json(wanted));
  return Json{{"clusterQueue", intent.cluster_queue}, {"podSetAssignments", std::move(list)}};
}

void set_or_erase(Json& object, std::string_view key, const std::optional<std::int32_t>& value) {
  if (value) {
    object[std::string(key)] = *value;
  } else {
    object.erase(std::string(key));
  }
}

void put_time(Json& object, Time time) {
  if (!is_time(text_member(object, "lastTransitionTime"), time))
    object["lastTransitionTime"] = format_rfc3339(time.is_set() ? time : Time::from_seconds(0));
}

Json check_json(const WantedCheck& wanted, const Json* old) {
  Json out = old == nullptr ? Json{{"name", wanted.name}} : *old;
  out["state"] = wire_name(wanted.state);
  out["message"] = condition_message(wanted.message);
  put_time(out, wanted.last_transition);
  set_or_erase(out, "requeueAfterSeconds", wanted.requeue_after_seconds);
  set_or_erase(out, "retryCount", wanted.retry_count);
  auto updates = from_text(wanted.pod_set_updates);
  if (updates.is_array() && !updates.empty()) {
    out["podSetUpdates"] = std::move(updates);
  } else {
    out.erase("podSetUpdates");
  }
  return out;
}

Json checks_of(const WorkloadIntent& intent, const Json& now) {
  if (!intent.checks_decided) return now.empty() ? Json() : now;
  if (intent.checks.empty()) return nullptr;
  Json out = Json::array();
  for (const auto& wanted : intent.checks) {
    const auto old = std::find_if(now.begin(), now.end(), [&](const Json& c) { return text_member(c, "name") == wanted.name; });
    out.push_back(check_json(wanted, old == now.end() ? nullptr : &*old));
  }
  return out;
}

Json requeue_state_of(const WorkloadIntent& intent, const Json& now) {
  if (!intent.has_requeue_state) return nullptr;
  Json out = now;
  if (int_member(out, "count").value_or(0) != intent.requeue_count || !out.contains("count")) out["count"] = intent.requeue_count;
  if (!intent.requeue_at.is_set()) {
    out.erase("requeueAt");
  } else if (!is_time(text_member(out, "requeueAt"), intent.requeue_at)) {
    out["requeueAt"] = format_rfc3339(intent.requeue_at);
  }
  return out;
}

const Json* named(const Json& list, std::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const Json& entry) { return text_member(entry, "name") == name; });
  return it == list.end() ? nullptr : &*it;
}

/// While quota is reserved the API takes no fewer pods back than it was told before, but of a pod set that was made smaller than its
/// admission (base-api §4.3). A job that grows again can have fewer: what was said stays, and the domain counts by what it knows.
Json reclaimable_of(const WorkloadIntent& intent, const Json& status, const Json& pod_sets) {
  const Json& now = list_or_empty(status, "reclaimablePods");
  Json out = Json::array();
  for (const auto& [pod_set, count] : intent.reclaimable) out.push_back({{"name", pod_set}, {"count", count}});
  if (intent.has_admission) {
    const Json& given = list_or_empty(object_or_empty(status, "admission"), "podSetAssignments");
    for (const auto& before : now) {
      const auto name = text_member(before, "name");
      const auto* assigned = named(given, name);
      const auto* pod_set = named(pod_sets, name);
      if (assigned == nullptr || pod_set == nullptr) continue;
      if (int_member(*pod_set, "count").value_or(1) < int_member(*assigned, "count").value_or(0)) continue;
      const auto it = std::find_if(out.begin(), out.end(), [&](const Json& entry) { return text_member(entry, "name") == name; });
      if (it == out.end())
        out.push_back(before);
      else if (int_member(*it, "count").value_or(0) < int_member(before, "count").value_or(0))
        *it = before;
    }
  }
  if (out.empty()) return nullptr;
  // The list is a map by name: order says nothing.
  const bool same = now.size() == out.size() && std::all_of(out.begin(), out.end(), [&](const Json& entry) {
                      return std::find(now.begin(), now.end(), entry) != now.end();
                    });
  return same ? now : out;
}

Json scheduling_stats_of(const WorkloadIntent& intent, const Json& now) {
  Json out = now;
  Json evictions = Json::array();
  for (const auto& e : intent.evictions) evictions.push_back({{"reason", e.reason}, {"underlyingCause", e.cause}, {"count", e.count}});
  if (evictions.empty()) {
    out.erase("evictions");
  } else {
    out["evictions"] = std::move(evictions);
  }
  return out.empty() ? Json() : out;
}

Json resource_requests_of(const WorkloadIntent& intent, const Json& now) {
  if (intent.resource_requests.empty()) return nullptr;
  bool same = now.size() == intent.resource_requests.size();
  Json out = Json::array();
  for (std::size_t i = 0; i < intent.resource_requests.size(); ++i) {
    const auto& [pod_set, amounts] = intent.resource_requests[i];
    same = same && text_member(now[i], "name") == pod_set && same_amounts(object_or_empty(now[i], "resources"), amounts);
    Json entry{{"name", pod_set}};
    if (!amounts.empty()) entry["resources"] = quantities(amounts);
    out.push_back(std::move(entry));
  }
  return same ? now : out;
}

Json unhealthy_nodes_of(const WorkloadIntent& intent) {
  if (intent.unhealthy_nodes.empty()) return nullptr;
  Json out = Json::array();
  for (const auto& node : intent.unhealthy_nodes) out.push_back({{"name", node}});
  return out;
}

std::string_view name_of(OptionPhase phase) {
  switch (phase) {
    case OptionPhase::pending:
      return "Pending";
    case OptionPhase::admitted:
      return "Admitted";
    case OptionPhase::deactivated:
      return "Deactivated";
    case OptionPhase::finished:
      return "Finished";
  }
  return {};
}

Json option_json(const WantedOption& wanted, const Json* old) {
  Json out = old == nullptr ? Json{{"name", wanted.name}} : *old;
  put(out, "resourceFlavors", wanted.flavors.empty() ? Json() : Json(wanted.flavors));
  out["state"] = name_of(wanted.phase);
  put(out, "message", wanted.message.empty() ? Json() : Json(condition_message(wanted.message)));
  put_time(out, wanted.last_transition);
  return out;
}

/// The list is a map by name: that the same entries stand in another order is no difference.
Json options_of(const WorkloadIntent& intent, const Json& now) {
  if (intent.options.empty()) return nullptr;
  Json out = Json::array();
  for (const auto& wanted : intent.options) out.push_back(option_json(wanted, named(now, wanted.name)));
  const bool same = now.size() == out.size() && std::all_of(out.begin(), out.end(), [&](const Json& entry) {
                      const auto* there = named(now, text_member(entry, "name"));
                      return there != nullptr && *there == entry;
                    });
  return same ? now : out;
}

Json gate_json(const WantedGate& wanted, const Json* old) {
  Json out = old == nullptr ? Json{{"name", wanted.name}} : *old;
  out["position"] = wanted.open ? "Open" : "Closed";
  put_time(out, wanted.last_transition);
  return out;
}

/// Gates of others stay as they are.
Json gates_of(const WorkloadIntent& intent, const Json& now) {
  Json out = now;
  for (const auto& wanted : intent.gates) {
    const auto it = std::find_if(out.begin(), out.end(), [&](const Json& gate) { return text_member(gate, "name") == wanted.name; });
    if (it == out.end())
      out.push_back(gate_json(wanted, nullptr));
    else
      *it = gate_json(wanted, &*it);
  }
  return out;
}

Json wanted_status(const WorkloadIntent& intent, const Json& status, const Json& pod_sets, std::int64_t generation) {
  Json out = status;
  put(out, "conditions", conditions_of(intent, list_or_empty(status, "conditions"), generation));
  put(out, "admission", admission_of(intent, object_or_empty(status, "admission")));
  put(out, "admissionChecks", checks_of(intent, list_or_empty(status, "admissionChecks")));
  put(out, "requeueState", requeue_state_of(intent, object_or_empty(status, "requeueState")));
  put(out, "reclaimablePods", reclaimable_of(intent, status, pod_sets));
  put(out, "schedulingStats", scheduling_stats_of(intent, object_or_empty(status, "schedulingStats")));
  put(out, "unhealthyNodes", unhealthy_nodes_of(intent));
  put(out, "resourceRequests", resource_requests_of(intent, list_or_empty(status, "resourceRequests")));
  put(out, "options", options_of(intent, list_or_empty(status, "options")));
  if (!intent.gates.empty()) out["preemptionGates"] = gates_of(intent, list_or_empty(status, "preemptionGates"));
  const auto accumulated = int_member(status, "accumulatedPastExecutionTimeSeconds");
  if (intent.accumulated_exec_seconds.value_or(0) != accumulated.value_or(0)) {
    put(out, "accumulatedPastExecutionTimeSeconds", intent.accumulated_exec_seconds ? Json(*intent.accumulated_exec_seconds) : Json());
  }
  return out;
}

/// Annotation resource-plan, where it does not say what is in force.
std::optional<Json> changed_plan(const WorkloadIntent& intent, const Json& workload) {
  const std::string key(keys::resource_plan);
  const auto* now = member(object_or_empty(object_or_empty(workload, "metadata"), "annotations"), key);
  if (intent.plan.empty()) return now == nullptr ? std::nullopt : std::optional<Json>(Json{{key, nullptr}});
  Json sizes = Json::object();
  for (const auto& p : intent.plan) sizes[p.pod_set][p.container][p.resource] = format_amount(p.amount, p.resource);
  const auto text = to_text(sizes);
  if (now != nullptr && *now == text) return std::nullopt;
  return Json{{key, text}};
}

/// Label and annotation that say of a Workload that it is a Parent, where they are not as wanted (8691 §2.6): parts of metadata.
Json changed_markers(bool wanted, const Json& workload) {
  Json out = Json::object();
  for (const auto& [map, key] : {std::pair("labels", keys::parent_label), std::pair("annotations", keys::parent_annotation)}) {
    const auto* now = member(object_or_empty(object_or_empty(workload, "metadata"), map), key);
    if (wanted ? now != nullptr && *now == "true" : now == nullptr) continue;
    out[map][std::string(key)] = wanted ? Json("true") : Json();
  }
  return out;
}

/// What changes beside the status, as one write; nothing: all is as wanted.
std::optional<Write> main_write(const WorkloadIntent& intent, const Json& workload) {
  Json body = Json::object();
  if (intent.parent_markers)
    if (auto markers = changed_markers(*intent.parent_markers, workload); !markers.empty()) body["metadata"] = std::move(markers);
  if (const auto annotation = changed_plan(intent, workload)) body["metadata"]["annotations"].update(*annotation);
  const auto* now = member(object_or_empty(workload, "spec"), "active");
  const bool is_active = now == nullptr || *now != false;
  const bool switches = intent.set_active && *intent.set_active != is_active;
  if (switches) body["spec"]["active"] = *intent.set_active;
  if (body.empty()) return std::nullopt;
  // Whether it may run does not depend on what others wrote meanwhile, and waits for nothing.
  return merge_patch_of(types::workload, workload, "", std::move(body), !switches);
}

}  // namespace

bool has_parent_markers(const Json& workload) { return changed_markers(true, workload).empty(); }

bool shows_markers(const WorkloadIntent& intent, const Json& workload) {
  return !intent.parent_markers || changed_markers(*intent.parent_markers, workload).empty();
}

std::optional<Write> plan_quarantine(const admission::QuarantineIntent& intent, const Json& workload) {
  static constexpr std::string_view type = "QuotaReserved";
  if (!is_meant(workload, intent.uid) || is_deleting(workload)) return std::nullopt;
  const auto& status = object_or_empty(workload, "status");
  if (member(status, "admission") != nullptr) return std::nullopt;
  for (const auto& c : list_or_empty(status, "conditions"))
    if (text_member(c, "type") == "Finished" && text_member(c, "status") == "True") return std::nullopt;
  const auto& now = list_or_empty(status, "conditions");
  const auto wanted = merged_conditions(
      now, {{type, "False", "Misconfigured", intent.message, intent.since}}, [](std::string_view t) { return t == type; },
      generation_of(workload));
  if (wanted == now) return std::nullopt;
  return merge_patch_of(types::workload, workload, "status", {{"status", {{"conditions", wanted}}}});
}

std::vector<Write> plan_workload(const WorkloadIntent& intent, const Json& workload) {
  std::vector<Write> out;
  if (!is_meant(workload, intent.uid)) return out;

  if (!intent.remove) {
    const auto& status = object_or_empty(workload, "status");
    auto patch = merge_difference(
        status, wanted_status(intent, status, list_or_empty(object_or_empty(workload, "spec"), "podSets"), generation_of(workload)));
    if (!patch.empty()) out.push_back(merge_patch_of(types::workload, workload, "status", {{"status", std::move(patch)}}));
    // What a Parent shows of its Options can wait; that it is one cannot, for they are made after that (CA-1).
    if (auto write = main_write(intent, workload)) out.insert(shows_markers(intent, workload) ? out.end() : out.begin(), std::move(*write));
  }
  if (intent.remove || intent.release_finalizer) {
    if (auto rest = finalizers_without_ours(workload)) {
      out.push_back(merge_patch_of(types::workload, workload, "", {{"metadata", {{"finalizers", std::move(*rest)}}}}));
    }
  }
  if (intent.remove && !is_deleting(workload)) out.push_back(deletion_of(types::workload, workload));
  return out;
}

}  // namespace hindsight::connectors
