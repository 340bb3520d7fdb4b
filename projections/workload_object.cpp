#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/objects.hpp"
#include "projections/phase.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {
namespace {

using events::api_name;

constexpr const char* concurrent_admission_gate = "kueue.x-k8s.io/concurrent-admission";

void put(Json& out, const char* key, std::string value) {
  if (!value.empty()) out[key] = std::move(value);
}
void put(Json& out, const char* key, Symbol value) { put(out, key, text(value)); }

Json requirement(const admission::OwnedRequirement& r) {
  Json out{{"key", text(r.key)}, {"operator", api_name(r.op)}};
  if (!r.values.empty()) out["values"] = r.values;
  return out;
}

Json selector_term(const admission::OwnedTerm& term) {
  Json out = Json::object();
  for (const auto& r : term.requirements) out["matchExpressions"].push_back(requirement(r));
  for (const auto& r : term.fields) out["matchFields"].push_back(requirement(r));
  return out;
}

Json pod_spec(const admission::PodSetSpec& p) {
  Json requests = Json::object();
  for (const auto& r : p.requests) requests[text(r.resource)] = amount_text(r.amount, r.resource);
  Json spec{{"containers", Json::array({{{"resources", {{"requests", std::move(requests)}}}}})}};
  for (const auto& [key, value] : p.shape->node_selector) spec["nodeSelector"][text(key)] = value;
  if (p.shape->has_affinity) {
    Json terms = Json::array();
    for (const auto& term : p.shape->affinity_terms) terms.push_back(selector_term(term));
    spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = std::move(terms);
  }
  for (const auto& preferred : p.shape->preferred)
    spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"].push_back(
        {{"weight", preferred.weight}, {"preference", selector_term(preferred.term)}});
  for (const auto& t : p.shape->tolerations) {
    Json toleration = Json::object();
    put(toleration, "key", t.key);
    toleration["operator"] = t.exists ? "Exists" : "Equal";
    if (!t.exists) toleration["value"] = t.value;
    put(toleration, "effect", std::string(api_name(t.effect)));
    if (t.seconds) toleration["tolerationSeconds"] = *t.seconds;
    spec["tolerations"].push_back(std::move(toleration));
  }
  return spec;
}

/// spec.podSets[].topologyRequest (2724 §2.3); null: it has none.
Json topology_request(const admission::PodSetSpec& p) {
  Json out;
  if (p.topology) {
    if (p.topology->required) out["required"] = *p.topology->required;
    if (p.topology->preferred) out["preferred"] = *p.topology->preferred;
    if (p.topology->unconstrained) out["unconstrained"] = true;
    const auto& layers = p.topology->slices;
    if (layers.size() == 1) {
      out["podSetSliceRequiredTopology"] = layers.front().level;
      if (layers.front().size) out["podSetSliceSize"] = *layers.front().size;
    }
    for (std::size_t i = 0; layers.size() > 1 && i < layers.size(); ++i) {
      Json layer{{"topology", layers[i].level}};
      if (layers[i].size) layer["size"] = *layers[i].size;
      out["podsetSliceRequiredTopologyConstraints"].push_back(std::move(layer));
    }
  }
  if (p.ranked) out["podIndexLabel"] = "batch.kubernetes.io/job-completion-index";
  if (p.groups) {
    out["subGroupIndexLabel"] = "jobset.sigs.k8s.io/job-index";
    out["subGroupCount"] = *p.groups;
  }
  if (!p.group.empty()) out["podSetGroupName"] = text(p.group);
  return out;
}

/// The version of a job's kind is not on record; empty where the group has more than one.
std::string api_version_of(const std::string& group) {
  if (group.empty()) return "v1";
  return group == "batch" || group == "apps" ? group + "/v1" : std::string();
}

Json metadata(const WorkloadAt& at) {
  const WorkloadState& w = *at.workload;
  Json out{{"name", w.name}, {"namespace", text(w.namespace_)}, {"uid", w.uid}};
  if (w.resource_version != 0) out["resourceVersion"] = std::to_string(w.resource_version);
  if (w.generation != 0) out["generation"] = w.generation;
  if (w.created.is_set()) out["creationTimestamp"] = format_rfc3339(w.created);
  if (w.in_use_finalizer) out["finalizers"] = {"kueue.x-k8s.io/resource-in-use"};
  if (!w.admission_gated_by.empty()) out["annotations"]["kueue.x-k8s.io/admission-gated-by"] = w.admission_gated_by;
  if (w.priority_boost != 0) out["annotations"]["kueue.x-k8s.io/priority-boost"] = std::to_string(w.priority_boost);
  if (w.elastic) out["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
  if (!w.replacement_for.empty()) out["annotations"]["kueue.x-k8s.io/workload-slice-replacement-for"] = w.replacement_for;
  if (!w.slice_name.empty()) out["annotations"]["kueue.x-k8s.io/workload-slice-name"] = w.slice_name;
  if (!w.resource_bounds.empty()) out["annotations"]["hindsight.dev/resource-bounds"] = w.resource_bounds;
  if (w.family || (w.family_facts && w.family_facts->parent_marked)) {
    out["annotations"]["kueue.x-k8s.io/parent-option"] = "true";
    out["labels"]["kueue.x-k8s.io/concurrent-admission-parent"] = "true";
  }
  if (w.is_made_as_option()) {
    Json owner{{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}};
    if (const WorkloadState* parent = parent_of(at)) owner["name"] = parent->name;
    owner["uid"] = std::string(w.option_of());
    owner["controller"] = true;
    out["ownerReferences"] = Json::array({std::move(owner)});
  } else if (const auto& job = at.parent->job()) {
    Json owner = Json::object();
    put(owner, "apiVersion", api_version_of(text(job->group)));
    owner["kind"] = text(job->kind);
    owner["name"] = job->name;
    owner["uid"] = job->uid;
    owner["controller"] = true;
    out["ownerReferences"] = Json::array({std::move(owner)});
  } else if (!w.owner_uid.empty()) {
    out["ownerReferences"] = Json::array({{{"uid", w.owner_uid}, {"controller", true}}});
  }
  return out;
}

Json spec_of(const WorkloadState& w) {
  Json pod_sets = Json::array();
  for (const auto& p : w.pod_sets) {
    Json one{{"name", text(p.name)}, {"count", p.count}};
    if (p.min_count >= 0) one["minCount"] = p.min_count;
    if (Json request = topology_request(p); !request.is_null()) one["topologyRequest"] = std::move(request);
    one["template"] = {{"spec", pod_spec(p)}};
    pod_sets.push_back(std::move(one));
  }
  Json out{{"podSets", std::move(pod_sets)}};
  put(out, "queueName", w.queue_name);
  if (w.priority) out["priority"] = *w.priority;
  if (w.priority_class_kind != PriorityClassKind::none) {
    const bool own = w.priority_class_kind == PriorityClassKind::workload_priority_class;
    out["priorityClassRef"] = {{"group", own ? "kueue.x-k8s.io" : "scheduling.k8s.io"},
                               {"kind", api_name(w.priority_class_kind)},
                               {"name", text(w.priority_class)}};
  }
  out["active"] = w.active;
  if (w.family_facts && w.family_facts->constrained) {
    out["admissionConstraints"]["allowedResourceFlavors"] = Json::array();
    for (const Symbol& flavor : w.family_facts->allowed) out["admissionConstraints"]["allowedResourceFlavors"].push_back(text(flavor));
  }
  if (w.is_made_as_option()) out["preemptionGates"] = Json::array({{{"name", concurrent_admission_gate}}});
  if (w.max_exec_seconds > 0) out["maximumExecutionTimeSeconds"] = w.max_exec_seconds;
  return out;
}

/// One value where all have it, else a list.
template <class Value>
Json universal_or(const std::vector<Value>& values, const Json& list) {
  const bool same = std::all_of(values.begin(), values.end(), [&](const Value& v) { return v == values.front(); });
  return same ? Json{{"universal", values.front()}} : Json{{"individual", list}};
}

/// In one slice, with names as they are (2724 §2.4).
Json topology_json(const admission::TopologyAssignment& a) {
  Json levels = Json::array(), values = Json::array();
  for (std::size_t level = 0; level < a.levels.size(); ++level) {
    levels.push_back(text(a.levels[level]));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < a.size(); ++i) names.push_back(text(a.domain(i)[level]));
    values.push_back(universal_or(names, Json{{"roots", names}}));
  }
  const std::vector<std::int32_t> counts(a.counts.begin(), a.counts.begin() + static_cast<std::ptrdiff_t>(a.size()));
  Json slice{{"domainCount", a.size()}, {"valuesPerLevel", std::move(values)}, {"podCounts", universal_or(counts, Json(counts))}};
  return {{"levels", std::move(levels)}, {"slices", Json::array({std::move(slice)})}};
}

Json admission_of(const admission::Admission& a) {
  Json assignments = Json::array();
  for (const auto& p : a.pod_sets) {
    Json flavors = Json::object();
    for (const auto& [resource, flavor] : p.flavors) flavors[text(resource)] = text(flavor);
    assignments.push_back(
        {{"name", text(p.pod_set)}, {"flavors", std::move(flavors)}, {"resourceUsage", amounts_json(p.usage)}, {"count", p.count}});
    if (!p.topology.empty()) assignments.back()["topologyAssignment"] = topology_json(p.topology);
    put(assignments.back(), "delayedTopologyRequest", std::string(api_name(p.delayed)));
  }
  return {{"clusterQueue", text(a.cluster_queue)}, {"podSetAssignments", std::move(assignments)}};
}

Json checks_of(const WorkloadState& w) {
  Json out = Json::array();
  for (const auto& c : w.checks) {
    Json one{{"name", text(c.name)}, {"state", api_name(c.state)}};
    if (c.last_transition.is_set()) one["lastTransitionTime"] = format_rfc3339(c.last_transition);
    one["message"] = c.message;
    if (c.requeue_after_seconds >= 0) one["requeueAfterSeconds"] = c.requeue_after_seconds;
    if (c.retry_count >= 0) one["retryCount"] = c.retry_count;
    if (Json updates = Json::parse(c.pod_set_updates, nullptr, false); updates.is_array() && !updates.empty())
      one["podSetUpdates"] = std::move(updates);
    out.push_back(std::move(one));
  }
  return out;
}

Json status_of(const WorkloadState& w) {
  Json out = Json::object();
  if (!w.conditions.empty()) out["conditions"] = conditions_json(w);
  if (w.admission) out["admission"] = admission_of(*w.admission);
  if (!w.checks.empty()) out["admissionChecks"] = checks_of(w);
  if (w.has_requeue_state) {
    out["requeueState"] = {{"count", w.requeue_count}};
    if (w.requeue_at.is_set()) out["requeueState"]["requeueAt"] = format_rfc3339(w.requeue_at);
  }
  for (const auto& [pod_set, n] : w.reclaimable) out["reclaimablePods"].push_back({{"name", text(pod_set)}, {"count", n}});
  for (const Symbol& node : w.unhealthy_nodes) out["unhealthyNodes"].push_back({{"name", text(node)}});
  if (w.accumulated_exec_seconds) out["accumulatedPastExecutionTimeSeconds"] = *w.accumulated_exec_seconds;
  for (const auto& e : w.evictions) {
    out["schedulingStats"]["evictions"].push_back({{"reason", text(e.reason)}, {"underlyingCause", text(e.cause)}, {"count", e.count}});
  }
  if (w.family)
    for (const auto& o : w.family->options) {
      Json one{{"name", o.name}, {"resourceFlavors", Json::array()}, {"state", api_name(o.phase)}, {"message", o.message.value()}};
      for (const Symbol& flavor : o.flavors) one["resourceFlavors"].push_back(text(flavor));
      one["lastTransitionTime"] = format_rfc3339(o.last_transition);
      out["options"].push_back(std::move(one));
    }
  if (w.option && w.option->gate_since.is_set())
    out["preemptionGates"] = Json::array({{{"name", concurrent_admission_gate},
                                           {"position", w.option->gate_open ? "Open" : "Closed"},
                                           {"lastTransitionTime", format_rfc3339(w.option->gate_since)}}});
  return out;
}

// ---- status.hindsight ---------------------------------------------------------------------------------------------------------------

void put(Json& out, const char* key, Time time) {
  if (time.is_set()) out[key] = format_rfc3339(time);
}
/// What is so is told, what is not so is left out.
void put_if(Json& out, const char* key, bool is_so) {
  if (is_so) out[key] = true;
}

Json job_json(const admission::JobState& j) {
  Json out{{"group", text(j.group)}, {"kind", text(j.kind)}, {"name", j.name}, {"uid", j.uid}, {"suspended", j.suspended}};
  put_if(out, "active", j.active);
  put_if(out, "podsReady", j.pods_ready);
  put_if(out, "stopping", j.stopping);
  put_if(out, "startMayBeUnderWay", j.start_left != 0);
  put_if(out, "onHold", j.on_hold);
  put_if(out, "finished", j.finished);
  if (j.finished) out["succeeded"] = j.succeeded;
  if (!j.finish_message.empty()) out["finishMessage"] = j.finish_message;
  if (!j.start_error.empty()) out["startError"] = j.start_error;
  if (j.ready_pods >= 0) out["readyPods"] = j.ready_pods;
  return out;
}

Json family_json(const admission::FamilyState& f) {
  Json out = Json::object();
  put(out, "since", f.cycle_start);
  put(out, "firstAdmitted", f.first_admitted);
  put_if(out, "holdsItself", f.holds_itself);
  if (!f.shown.empty()) out["shownUid"] = f.shown;
  if (!f.migrating_to.empty()) out["migratingToUid"] = f.migrating_to;
  put(out, "migratedAt", f.migrated_at);
  if (f.undone != 0) out["undoneMoves"] = f.undone;
  put(out, "pausedUntil", f.paused_until);
  return out;
}

Json lanes_json(const std::vector<OptionLane>& lanes) {
  Json out = Json::array();
  for (const auto& lane : lanes) {
    Json one{{"name", lane.name}, {"flavors", Json::array()}};
    if (lane.rank) one["rank"] = *lane.rank;
    for (const Symbol& flavor : lane.flavors) one["flavors"].push_back(text(flavor));
    put_if(one, "running", lane.running);
    put_if(one, "migrationTarget", lane.target);
    put_if(one, "mayPreempt", lane.may_preempt);
    put(one, "mayPreemptUntil", lane.right_until);
    put(one, "notBefore", lane.not_before);
    put(one, "until", lane.until);
    put(one, "since", lane.since);
    out.push_back(std::move(one));
  }
  return out;
}

Json queue_place_json(const QueuePlace& p) {
  Json out{{"clusterQueue", text(p.queue)},
           {"position", p.position},
           {"positionInLocalQueue", p.local_position},
           {"waiting", p.waiting},
           {"parked", p.parked}};
  put_if(out, "servedFirst", p.sticky);
  if (!p.equal_to.empty()) out["parkedWith"] = p.equal_to;
  if (!p.record_reason.empty()) out["parkedFor"] = p.record_reason;
  return out;
}

Json extension_of(const StateView& state, const WorkloadAt& at, Detail detail) {
  const WorkloadState& w = *at.workload;
  Json out{{"phase", name_of(phase_of(w))}};
  put(out, "reason", reason_of(w));
  put(out, "clusterQueue", w.admission ? w.admission->cluster_queue : queue_of(state, w));
  out["effectivePriority"] = w.effective_priority(state.domain().catalog()->settings);
  put_if(out, "deleting", w.deleting);
  if (!w.quarantined.empty()) out["setAside"] = w.quarantined;
  put(out, "gatedSince", w.gated_since);
  if (w.second_passes != 0 || w.second_pass_at.is_set()) {
    out["secondPass"] = {{"inVain", w.second_passes}};
    put(out["secondPass"], "next", w.second_pass_at);
  }
  for (const auto& p : w.plan)
    out["resourcePlan"].push_back({{"podSet", text(p.pod_set)},
                                   {"container", p.container},
                                   {"resource", text(p.resource)},
                                   {"own", format_amount(p.original, p.resource.text())},
                                   {"inForce", format_amount(p.amount, p.resource.text())}});
  if (const auto& job = at.parent->job()) out["job"] = job_json(*job);
  if (const WorkloadState* parent = parent_of(at)) out["optionOf"] = parent->name;
  if (w.family) out["family"] = family_json(*w.family);
  if (detail == Detail::own) return out;
  if (w.family) out["options"] = lanes_json(lanes_of(state, at));
  if (const auto place = place_of(state, at)) out["place"] = queue_place_json(*place);
  return out;
}

}  // namespace

Json conditions_json(const WorkloadState& w) {
  Json out = Json::array();
  for (const auto& c : w.conditions) {
    Json one{{"type", api_name(c.type)}, {"status", api_name(c.status)}, {"reason", text(c.reason)}, {"message", c.message}};
    if (c.last_transition.is_set()) one["lastTransitionTime"] = format_rfc3339(c.last_transition);
    out.push_back(std::move(one));
  }
  return out;
}

Json amounts_json(const std::vector<std::pair<Symbol, Amount>>& amounts) {
  Json out = Json::object();
  for (const auto& [resource, amount] : amounts) out[text(resource)] = amount_text(amount, resource);
  return out;
}

Json workload_object(const StateView& state, const WorkloadAt& at, Detail detail) {
  Json status = status_of(*at.workload);
  status["hindsight"] = extension_of(state, at, detail);
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "Workload"},
          {"metadata", metadata(at)},
          {"spec", spec_of(*at.workload)},
          {"status", std::move(status)}};
}

Json list_of(Json items) { return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}; }

}  // namespace hindsight::projections
