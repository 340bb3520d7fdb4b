#include "replay/picture.hpp"

#include <algorithm>
#include <string_view>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/decision_fields.hpp"

namespace hindsight::replay {
namespace {

using namespace admission;
using events::api_name;
using FieldTexts = Picture::FieldTexts;

std::string text(const Symbol& s) { return std::string(s.text()); }
std::string amount(Amount a, const Symbol& resource) { return a == unlimited ? "unlimited" : format_amount(a, resource.text()); }

void put(FieldTexts& out, std::string field, std::string value) {
  if (!value.empty()) out.emplace(std::move(field), std::move(value));
}
void put(FieldTexts& out, std::string field, const char* value) { put(out, std::move(field), std::string(value)); }
void put(FieldTexts& out, std::string field, const CompactText& value) { put(out, std::move(field), value.text()); }
void put(FieldTexts& out, std::string field, const Symbol& value) { put(out, std::move(field), text(value)); }
void put_number(FieldTexts& out, std::string field, std::int64_t value) { out.emplace(std::move(field), std::to_string(value)); }
/// Only what is true is said.
void put_flag(FieldTexts& out, std::string field, bool value) {
  if (value) out.emplace(std::move(field), "true");
}

std::string joined(const std::vector<Symbol>& names) {
  std::string out;
  for (const Symbol& n : names) out += (out.empty() ? "" : ", ") + text(n);
  return out;
}

std::string labels(const std::vector<std::pair<Symbol, std::string>>& pairs) {
  std::string out;
  for (const auto& [k, v] : pairs) out += (out.empty() ? "" : ", ") + text(k) + "=" + v;
  return out;
}

std::string requirements(const std::vector<OwnedRequirement>& list) {
  std::string out;
  for (const auto& r : list) {
    out += (out.empty() ? "" : ", ") + text(r.key) + " " + std::string(api_name(r.op));
    for (std::size_t i = 0; i < r.values.size(); ++i) out += (i == 0 ? " " : "|") + r.values[i];
  }
  return out;
}

// ---- configuration --------------------------------------------------------------------------------------------------------------

void put_quota(FieldTexts& out, const std::vector<ResourceGroup>& groups) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string group = "spec.resourceGroups[" + std::to_string(g) + "]";
    put(out, group + ".coveredResources", joined(groups[g].resources));
    std::vector<Symbol> order;
    for (const auto& f : groups[g].flavors) order.push_back(f.flavor);
    put(out, group + ".flavors", joined(order));
    for (const auto& f : groups[g].flavors) {
      for (std::size_t i = 0; i < groups[g].resources.size() && i < f.quotas.size(); ++i) {
        const Symbol resource = groups[g].resources[i];
        const std::string cell = "spec.quota[" + text(f.flavor) + "/" + text(resource) + "]";
        put(out, cell + ".nominalQuota", amount(f.quotas[i].nominal, resource));
        if (f.quotas[i].borrowing_limit) put(out, cell + ".borrowingLimit", amount(*f.quotas[i].borrowing_limit, resource));
        if (f.quotas[i].lending_limit) put(out, cell + ".lendingLimit", amount(*f.quotas[i].lending_limit, resource));
      }
    }
  }
}

void put_weight(FieldTexts& out, std::int64_t nano) {
  if (nano != 1'000'000'000) put(out, "spec.fairSharing.weight", std::to_string(static_cast<double>(nano) / 1e9));
}

void put_stop(FieldTexts& out, StopPolicy policy) {
  if (policy != StopPolicy::none) put(out, "spec.stopPolicy", std::string(api_name(policy)));
}

void put_counters(FieldTexts& out, const QueueCounters& counters) {
  put_number(out, "status.pendingWorkloads", counters.pending);
  put_number(out, "status.reservingWorkloads", counters.reserving);
  put_number(out, "status.admittedWorkloads", counters.admitted);
  for (const auto& cell : counters.cells) {
    const std::string name = "[" + text(cell.flavor) + "/" + text(cell.resource) + "]";
    if (cell.reserved != 0) put(out, "status.flavorsReservation" + name, amount(cell.reserved, cell.resource));
    if (cell.used != 0) put(out, "status.flavorsUsage" + name, amount(cell.used, cell.resource));
  }
}

FieldTexts fields_of(const QueueConfig& q, const StateView& state) {
  FieldTexts out;
  put(out, "spec.cohortName", q.cohort);
  put_quota(out, q.groups);
  put(out, "spec.queueingStrategy", std::string(api_name(q.strategy)));
  put(out, "spec.namespaceSelector",
      !q.has_namespace_selector      ? "none"
      : q.namespace_selector.empty() ? "all"
                                     : requirements(q.namespace_selector));
  put(out, "spec.flavorFungibility.whenCanBorrow", std::string(api_name(q.when_can_borrow)));
  put(out, "spec.flavorFungibility.whenCanPreempt", std::string(api_name(q.when_can_preempt)));
  if (q.preference != FungibilityPreference::unset) put(out, "spec.flavorFungibility.preference", std::string(api_name(q.preference)));
  put(out, "spec.preemption.withinClusterQueue", std::string(api_name(q.within_cluster_queue)));
  put(out, "spec.preemption.reclaimWithinCohort", std::string(api_name(q.reclaim_within_cohort)));
  put(out, "spec.preemption.borrowWithinCohort.policy", std::string(api_name(q.borrow_within_cohort)));
  if (q.max_priority_threshold) put_number(out, "spec.preemption.borrowWithinCohort.maxPriorityThreshold", *q.max_priority_threshold);
  for (const auto& c : q.checks)
    out.emplace("spec.admissionChecks[" + text(c.name) + "]", c.on_flavors.empty() ? "all flavors" : joined(c.on_flavors));
  put_stop(out, q.stop_policy);
  put_weight(out, q.fair_weight_nano);
  put_flag(out, "metadata.deleting", q.deleting);
  const Catalog& catalog = *state.domain().catalog();
  if (const auto a = catalog.activity.find(q.name); a != catalog.activity.end()) {
    put(out, "status.conditions[Active]", (a->second.active ? "True " : "False ") + a->second.reason + ": " + a->second.message);
  }
  if (const auto* queue = state.queue(q.name)) put_counters(out, queue->counters());
  return out;
}

FieldTexts fields_of(const LocalQueueConfig& q, const StateView& state) {
  FieldTexts out;
  put(out, "spec.clusterQueue", q.cluster_queue);
  put_stop(out, q.stop_policy);
  put_weight(out, q.fair_weight_nano);
  if (const auto* queue = state.queue(q.cluster_queue)) put_counters(out, queue->local_counters(q.namespace_, q.name));
  return out;
}

FieldTexts fields_of(const CohortConfig& c) {
  FieldTexts out;
  put(out, "spec.parentName", c.parent);
  put_quota(out, c.groups);
  put_weight(out, c.fair_weight_nano);
  return out;
}

FieldTexts fields_of(const FlavorConfig& f) {
  FieldTexts out;
  put(out, "spec.nodeLabels", labels(f.node_labels));
  for (const auto& t : f.taints)
    out.emplace("spec.nodeTaints[" + t.key + ":" + std::string(api_name(t.effect)) + "]", t.value.empty() ? "set" : t.value);
  for (const auto& t : f.tolerations) {
    out.emplace("spec.tolerations[" + t.key + ":" + std::string(api_name(t.effect)) + "]", t.exists ? "exists" : "=" + t.value);
  }
  put(out, "spec.topologyName", f.topology);
  return out;
}

void add_configuration(const StateView& state, Picture& out) {
  const Catalog& catalog = *state.domain().catalog();
  for (const auto& [name, q] : catalog.queues) out.objects[{"ClusterQueue", "", text(name)}] = fields_of(*q, state);
  for (const auto& [name, c] : catalog.cohorts) out.objects[{"Cohort", "", text(name)}] = fields_of(*c);
  for (const auto& [name, f] : catalog.flavors) out.objects[{"ResourceFlavor", "", text(name)}] = fields_of(*f);
  for (const auto& [key, q] : catalog.local_queues) out.objects[{"LocalQueue", text(q.namespace_), text(q.name)}] = fields_of(q, state);
  for (const auto& [name, n] : catalog.namespaces) put(out.objects[{"Namespace", "", text(name)}], "metadata.labels", labels(n->labels));
  for (const auto& [name, c] : catalog.checks) {
    auto& fields = out.objects[{"AdmissionCheck", "", text(name)}];
    put(fields, "spec.controllerName", c->controller);
    put(fields, "status.conditions[Active]", c->active ? "True" : "False");
  }
  for (const auto& [name, levels] : catalog.topologies) {
    std::string list;
    for (const auto& l : levels) list += (list.empty() ? "" : ", ") + l;
    put(out.objects[{"Topology", "", text(name)}], "spec.levels", list);
  }
  for (const auto& [name, c] : catalog.workload_priority_classes)
    put_number(out.objects[{"WorkloadPriorityClass", "", text(name)}], "value", c.value);
  for (const auto& [name, c] : catalog.pod_priority_classes) {
    auto& fields = out.objects[{"PriorityClass", "", text(name)}];
    put_number(fields, "value", c.value);
    put_flag(fields, "globalDefault", c.global_default);
  }
  if (!catalog.settings_json.empty()) out.objects[{"Configuration", "", "controller"}]["json"] = catalog.settings_json;
}

// ---- jobs and workloads -----------------------------------------------------------------------------------------------------------

void put_plan(FieldTexts& out, const std::string& field, const admission::SizingPlan& plan) {
  for (const auto& p : plan)
    put(out, field + "[" + text(p.pod_set) + "/" + p.container + "/" + text(p.resource) + "]",
        format_amount(p.original, p.resource.text()) + " -> " + format_amount(p.amount, p.resource.text()));
}

void put_pod_sets(FieldTexts& out, const std::vector<PodSetSpec>& pod_sets) {
  for (const auto& p : pod_sets) {
    std::string value = std::to_string(p.count) + (p.min_count >= 0 ? " (at least " + std::to_string(p.min_count) + ")" : "");
    for (const auto& r : p.requests) value += ", " + text(r.resource) + " " + amount(r.amount, r.resource);
    out.emplace("spec.podSets[" + text(p.name) + "]", value);
  }
}

std::string assignment(const PodSetReservation& p) {
  std::string out = std::to_string(p.count);
  for (const auto& [resource, flavor] : p.flavors) {
    out += ", " + text(resource);
    for (const auto& [used, total] : p.usage)
      if (used == resource) out += " " + amount(total, resource);
    out += " of " + text(flavor);
  }
  return out;
}

FieldTexts fields_of(const WorkloadState& w) {
  FieldTexts out;
  put(out, "metadata.uid", w.uid);
  put_flag(out, "metadata.deleting", w.deleting);
  put(out, "spec.queueName", w.queue_name);
  put_number(out, "spec.priority", w.priority.value_or(0));
  put(out, "spec.priorityClass", w.priority_class);
  put(out, "spec.active", w.active ? "true" : "false");
  if (w.max_exec_seconds > 0) put_number(out, "spec.maximumExecutionTimeSeconds", w.max_exec_seconds);
  put(out, "metadata.admissionGatedBy", w.admission_gated_by);
  put_pod_sets(out, w.pod_sets);
  for (const auto& c : w.conditions) {
    out.emplace("status.conditions[" + std::string(api_name(c.type)) + "]",
                std::string(api_name(c.status)) + " " + text(c.reason) + (c.message.empty() ? "" : ": " + c.message));
  }
  if (w.admission) {
    put(out, "status.admission.clusterQueue", w.admission->cluster_queue);
    for (const auto& p : w.admission->pod_sets) out.emplace("status.admission.podSets[" + text(p.pod_set) + "]", assignment(p));
  }
  for (const auto& c : w.checks) {
    out.emplace("status.admissionChecks[" + text(c.name) + "]",
                std::string(api_name(c.state)) + (c.message.empty() ? "" : ": " + c.message));
  }
  if (w.has_requeue_state) {
    put(out, "status.requeueState",
        std::to_string(w.requeue_count) + (w.requeue_at.is_set() ? " until " + format_rfc3339(w.requeue_at) : ""));
  }
  for (const auto& [pod_set, n] : w.reclaimable) put_number(out, "status.reclaimablePods[" + text(pod_set) + "]", n);
  for (const auto& e : w.evictions) {
    put_number(out, "status.evictions[" + text(e.reason) + (e.cause.empty() ? "" : "/" + text(e.cause)) + "]", e.count);
  }
  put_plan(out, "resourcePlan", w.plan);
  if (w.accumulated_exec_seconds) put_number(out, "status.accumulatedPastExecutionTimeSeconds", *w.accumulated_exec_seconds);
  return out;
}

FieldTexts fields_of(const JobState& j) {
  FieldTexts out;
  put(out, "metadata.uid", j.uid);
  put_flag(out, "metadata.deleting", j.deleting);
  put(out, "queue", j.queue_name);
  put(out, "priorityClass", j.priority_class);
  put(out, "suspended", j.suspended ? "true" : "false");
  put_flag(out, "active", j.active);
  put_flag(out, "podsReady", j.pods_ready);
  put_flag(out, "stopping", j.stopping);
  put_flag(out, "onHold", j.on_hold);
  put_flag(out, "unmanaged", !j.managed);
  put(out, "admissionGatedBy", j.admission_gated_by);
  put(out, "schedulingGatedBy", j.scheduling_gated_by);
  if (j.finished)
    put(out, "finished", (j.succeeded ? "succeeded" : "failed") + (j.finish_message.empty() ? std::string() : ": " + j.finish_message));
  put(out, "startError", j.start_error);
  put_pod_sets(out, j.pod_sets);
  put_plan(out, "resourcesInForce", j.plan);
  for (const auto& [pod_set, n] : j.reclaimable) put_number(out, "reclaimablePods[" + text(pod_set) + "]", n);
  return out;
}

}  // namespace

Picture picture_of(const StateView& state) {
  return picture_of(state, [](const WorkloadParent&) { return true; });
}

Picture picture_of(const StateView& state, const std::function<bool(const WorkloadParent&)>& wants) {
  Picture out;
  add_configuration(state, out);
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || !wants(*parent)) continue;
    if (const auto& job = parent->job()) out.objects[{text(job->kind), text(job->namespace_), job->name.text()}] = fields_of(*job);
    for (const auto& w : parent->workloads()) out.objects[{"Workload", text(w.namespace_), w.name.text()}] = fields_of(w);
  }
  return out;
}

}  // namespace hindsight::replay
