#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/objects.hpp"

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
    spec["tolerations"].push_back(std::move(toleration));
  }
  return spec;
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
    const std::string group = text(job->group);
    Json owner{{"apiVersion", group.empty() ? "v1" : group + "/v1"},
               {"kind", text(job->kind)},
               {"name", job->name},
               {"uid", job->uid},
               {"controller", true}};
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

/// Domain by domain, as v1beta1 has it.
Json topology_json(const admission::TopologyAssignment& a) {
  Json levels = Json::array(), domains = Json::array();
  for (const Symbol& level : a.levels) levels.push_back(text(level));
  for (std::size_t i = 0; i < a.size(); ++i) {
    Json values = Json::array();
    for (const Symbol& value : a.domain(i)) values.push_back(text(value));
    domains.push_back({{"values", std::move(values)}, {"count", a.counts[i]}});
  }
  return {{"levels", std::move(levels)}, {"domains", std::move(domains)}};
}

Json admission_of(const admission::Admission& a) {
  Json assignments = Json::array();
  for (const auto& p : a.pod_sets) {
    Json flavors = Json::object();
    for (const auto& [resource, flavor] : p.flavors) flavors[text(resource)] = text(flavor);
    assignments.push_back(
        {{"name", text(p.pod_set)}, {"flavors", std::move(flavors)}, {"resourceUsage", amounts_json(p.usage)}, {"count", p.count}});
    if (!p.topology.empty()) assignments.back()["topologyAssignment"] = topology_json(p.topology);
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

Json workload_object(const StateView&, const WorkloadAt& at) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "Workload"},
          {"metadata", metadata(at)},
          {"spec", spec_of(*at.workload)},
          {"status", status_of(*at.workload)}};
}

Json list_of(Json items) { return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}; }

}  // namespace hindsight::projections
