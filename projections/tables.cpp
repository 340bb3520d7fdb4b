#include "projections/tables.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/domain/queue_status.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;
using events::api_name;

/// "True", "False", empty: the status of a condition as a printer column shows it.
std::string status_of(const WorkloadState& w, ConditionType type) {
  const auto* c = w.find(type);
  return c == nullptr ? std::string() : std::string(api_name(c->status));
}

std::string flavors_text(const WorkloadState& w) {
  std::vector<std::string> parts;
  if (!w.admission) return {};
  for (const auto& p : w.admission->pod_sets) {
    std::string part = std::string(p.pod_set.text()) + " x" + std::to_string(p.count);
    for (const auto& [resource, flavor] : p.flavors) part += " " + std::string(resource.text()) + "=" + std::string(flavor.text());
    parts.push_back(std::move(part));
  }
  return joined(parts);
}

std::string job_text(const WorkloadParent& parent) {
  const auto& job = parent.job();
  return job ? std::string(job->kind.text()) + "/" + job->name : std::string();
}

Cell status_cell(const WorkloadState& w) {
  const Phase phase = phase_of(w);
  const std::string reason = reason_of(w);
  return {std::string(name_of(phase)) + (reason.empty() ? "" : "/" + reason), tone_of(phase)};
}

std::string pairs_text(const std::vector<std::pair<Symbol, std::string>>& pairs) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : pairs) parts.push_back(std::string(key.text()) + "=" + value);
  return joined(parts, ",");
}

/// "default/cpu 3/4"
std::string used_text(const SubtreeQuota& line) {
  return text(line.flavor) + "/" + text(line.resource) + " " + amount_text(line.used, line.resource) + "/" +
         amount_text(line.nominal, line.resource);
}

template <class Map>
void rows_by_name(const Map& map, const Filter& filter, const auto& row) {
  for (const auto& [name, config] : map)
    if (filter.wants_name(name.text())) row(name, config);
}

}  // namespace

bool Filter::wants_name(std::string_view name) const { return names.empty() || std::find(names.begin(), names.end(), name) != names.end(); }

std::vector<WorkloadAt> select_workloads(const StateView& state, const Filter& filter) {
  const Catalog& catalog = *state.domain().catalog();
  auto out = all_workloads(state);
  std::erase_if(out, [&](const WorkloadAt& at) {
    const WorkloadState& w = *at.workload;
    if (!filter.wants_namespace(w.namespace_.text()) || !filter.wants_name(w.name)) return true;
    if (!filter.local_queue.empty() && w.queue_name.text() != filter.local_queue) return true;
    if (!filter.cluster_queue.empty()) {
      const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
      const Symbol queue = w.admission ? w.admission->cluster_queue : lq == nullptr ? Symbol() : lq->cluster_queue;
      if (queue.text() != filter.cluster_queue) return true;
    }
    return !filter.phases.empty() && !filter.phases.contains(phase_of(w));
  });
  return out;
}

std::vector<const admission::LocalQueueConfig*> select_local_queues(const StateView& state, const Filter& filter) {
  std::vector<const admission::LocalQueueConfig*> out;
  for (const auto& [key, q] : state.domain().catalog()->local_queues) {
    if (!filter.wants_namespace(q.namespace_.text()) || !filter.wants_name(q.name.text())) continue;
    if (!filter.cluster_queue.empty() && q.cluster_queue.text() != filter.cluster_queue) continue;
    out.push_back(&q);
  }
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) {
    return std::pair(a->namespace_.text(), a->name.text()) < std::pair(b->namespace_.text(), b->name.text());
  });
  return out;
}

Table workloads_table(const StateView& state, const Filter& filter) {
  Table t;
  const bool namespaces = !filter.namespace_;
  if (namespaces) t.columns.push_back({"NAMESPACE"});
  for (const char* heading : {"NAME", "QUEUE", "RESERVED IN", "ADMITTED", "FINISHED", "AGE"}) t.columns.push_back({heading});
  t.columns.push_back({"PRIORITY", false, true});
  t.columns.push_back({"STATUS"});
  t.columns.push_back({"FLAVORS", true});
  t.columns.push_back({"JOB", true});
  const Time now = state.now();
  const auto selected = select_workloads(state, filter);
  // Options stand beside their Parent, which tells what becomes of the job. Their names say so; -o wide says whose they are.
  const bool options = std::any_of(selected.begin(), selected.end(), [](const WorkloadAt& at) { return at.workload->is_made_as_option(); });
  if (options) t.columns.push_back({"OPTION OF", true});
  for (const auto& at : selected) {
    const WorkloadState& w = *at.workload;
    auto& row = t.rows.emplace_back();
    if (namespaces) row.emplace_back(std::string(w.namespace_.text()));
    row.emplace_back(w.name.text());
    row.emplace_back(std::string(w.queue_name.text()));
    row.emplace_back(w.admission ? std::string(w.admission->cluster_queue.text()) : std::string());
    row.emplace_back(status_of(w, ConditionType::admitted));
    row.emplace_back(status_of(w, ConditionType::finished));
    row.emplace_back(age(w.created, now));
    row.emplace_back(std::to_string(w.effective_priority(state.domain().catalog()->settings)));
    row.push_back(status_cell(w));
    row.emplace_back(flavors_text(w));
    row.emplace_back(job_text(*at.parent));
    if (!options) continue;
    const WorkloadState* parent = parent_of(at);
    row.emplace_back(parent != nullptr ? parent->name.text() : w.is_made_as_option() ? "<none>" : "");
  }
  return t;
}

std::string usage_text(const StateView& state, const Symbol& cluster_queue) {
  std::vector<std::string> parts;
  for (const auto& line : subtree_of_queue(state, cluster_queue)) {
    std::string part = used_text(line);
    if (line.borrowed > 0) part += " +" + amount_text(line.borrowed, line.resource) + " borrowed";
    parts.push_back(std::move(part));
  }
  return joined(parts);
}

Table cluster_queues_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"},
               {"COHORT"},
               {"STRATEGY", true},
               {"PENDING WORKLOADS", false, true},
               {"RESERVING WORKLOADS", true, true},
               {"ADMITTED WORKLOADS", true, true},
               {"ACTIVE", true},
               {"USAGE", true}};
  rows_by_name(state.domain().catalog()->queues, filter, [&](const Symbol& name, const auto& config) {
    const auto status = admission::cluster_queue_status(state, name);
    t.rows.push_back({std::string(name.text()), std::string(config->cohort.text()), std::string(api_name(config->strategy)),
                      std::to_string(status.pending), std::to_string(status.reserving), std::to_string(status.admitted),
                      status.active ? Cell("True", Tone::good) : Cell("False/" + status.active_reason, Tone::bad),
                      usage_text(state, name)});
  });
  return t;
}

Table local_queues_table(const StateView& state, const Filter& filter) {
  Table t;
  const bool namespaces = !filter.namespace_;
  if (namespaces) t.columns.push_back({"NAMESPACE"});
  for (const Table::Column& c : {Table::Column{"NAME"},
                                 {"CLUSTERQUEUE"},
                                 {"PENDING WORKLOADS", false, true},
                                 {"RESERVING WORKLOADS", true, true},
                                 {"ADMITTED WORKLOADS", false, true},
                                 {"ACTIVE", true}})
    t.columns.push_back(c);
  for (const auto* q : select_local_queues(state, filter)) {
    const auto status = admission::local_queue_status(state, *q);
    auto& row = t.rows.emplace_back();
    if (namespaces) row.emplace_back(status.namespace_);
    row.emplace_back(status.name);
    row.emplace_back(std::string(q->cluster_queue.text()));
    for (const auto n : {status.pending, status.reserving, status.admitted}) row.emplace_back(std::to_string(n));
    row.push_back(status.active ? Cell("True", Tone::good) : Cell("False/" + status.active_reason, Tone::bad));
  }
  return t;
}

Table cohorts_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"}, {"PARENT"}, {"CLUSTERQUEUES", false, true}, {"COHORTS", true, true}, {"EXISTS", true}, {"USAGE", true}};
  const Catalog& catalog = *state.domain().catalog();
  for (const Symbol& name : all_cohorts(state)) {
    if (!filter.wants_name(name.text())) continue;
    const auto it = catalog.cohorts.find(name);
    std::vector<std::string> usage;
    for (const auto& line : subtree_of_cohort(state, name)) usage.push_back(used_text(line));
    t.rows.push_back({std::string(name.text()), it == catalog.cohorts.end() ? std::string() : std::string(it->second->parent.text()),
                      std::to_string(queues_in(state, name).size()), std::to_string(cohorts_in(state, name).size()),
                      it == catalog.cohorts.end() ? "False" : "True", joined(usage)});
  }
  return t;
}

Table resource_flavors_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"}, {"NODE LABELS"}, {"TAINTS", true}, {"TOPOLOGY", true}};
  rows_by_name(state.domain().catalog()->flavors, filter, [&](const Symbol& name, const auto& config) {
    std::vector<std::string> taints;
    for (const auto& taint : config->taints) taints.push_back(taint.key + "=" + taint.value + ":" + std::string(api_name(taint.effect)));
    t.rows.push_back(
        {std::string(name.text()), pairs_text(config->node_labels), joined(taints, ","), std::string(config->topology.text())});
  });
  return t;
}

Table admission_checks_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"}, {"CONTROLLER"}, {"ACTIVE"}};
  rows_by_name(state.domain().catalog()->checks, filter, [&](const Symbol& name, const auto& config) {
    t.rows.push_back({std::string(name.text()), config->controller, config->active ? Cell("True", Tone::good) : Cell("False", Tone::bad)});
  });
  return t;
}

Table priority_classes_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"}, {"VALUE", false, true}};
  rows_by_name(state.domain().catalog()->workload_priority_classes, filter, [&](const Symbol& name, const auto& config) {
    t.rows.push_back({std::string(name.text()), std::to_string(config.value)});
  });
  return t;
}

}  // namespace hindsight::projections
