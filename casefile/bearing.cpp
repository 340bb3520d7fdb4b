#include "casefile/bearing.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::casefile {
namespace {

/// Names in the order of their names, as texts.
template <class Set>
bool has(const Set& set, std::string_view name) {
  return set.find(name) != set.end();
}

/// Is it an event by which somebody got quota or lost it?
bool moves_quota(const Event& event, const std::set<std::string, std::less<>>& uids) {
  return std::visit(
      [&]<class E>(const E& e) {
        if constexpr (std::is_same_v<E, QuotaReserved> || std::is_same_v<E, WorkloadPreempted> || std::is_same_v<E, WorkloadEvicted> ||
                      std::is_same_v<E, ReservationCleared> || std::is_same_v<E, WorkloadFinished>)
          return has(uids, e.workload.uid);
        return false;
      },
      event);
}

}  // namespace

std::string_view name_of(Role role) {
  switch (role) {
    case Role::own:
      return "own";
    case Role::decision:
      return "decision";
    case Role::configuration:
      return "configuration";
    case Role::other:
      return "other";
  }
  return "";
}

// ---- what is connected with it ------------------------------------------------------------------------------------------------------

void Connected::add_queues(const admission::StateView& state, const std::vector<Symbol>& queues) {
  const auto& catalog = *state.domain().catalog();
  for (const Symbol& queue : queues) {
    cluster_queues.insert(projections::text(queue));
    for (const Symbol& cohort : projections::cohorts_above(state, queue)) cohorts.insert(projections::text(cohort));
    const auto* config = catalog.queue(queue);
    if (config == nullptr) continue;
    for (const auto& group : config->groups)
      for (const auto& flavor : group.flavors) flavors.insert(projections::text(flavor.flavor));
  }
}

void Connected::add_workload(std::string_view uid) {
  if (!uid.empty() && workloads.size() < workloads_max) workloads.emplace(uid);
}

void Connected::add_facts(const std::vector<projections::TrailFact>& facts) {
  // The newest first: they count most for what is said at the end.
  for (auto fact = facts.rbegin(); fact != facts.rend(); ++fact) {
    if (fact->kind == projections::TrailFact::Kind::preempts) add_workload(fact->workload_uid);
    if (fact->kind == projections::TrailFact::Kind::preempted) {
      add_workload(fact->by_uid);
      if (!fact->other_queue.empty() && cluster_queues.size() < 16) cluster_queues.insert(fact->other_queue);
    }
  }
}

void Connected::add_holders(const projections::Why& why) {
  for (const auto& users : why.users)
    for (const auto* list : {&users.own, &users.others})
      for (const auto& holder : *list) add_workload(holder.uid);
  for (const auto& remedy : why.remedies)
    for (const auto& holder : remedy.ending) add_workload(holder.uid);
  for (const auto& option : why.options) add_holders(option);
}

// ---- choosing -----------------------------------------------------------------------------------------------------------------------

void Chooser::Ends::add(Position offset, std::size_t most) {
  ++seen;
  if (begin.size() < most / 2)
    begin.push_back(offset);
  else if (end.size() < most - most / 2)
    end.push_back(offset);
  else
    end[(seen - begin.size() - 1) % end.size()] = offset;
}

/// The object of the configuration that it is about; empty: it is about something else.
std::string Chooser::configured(const Observation& o) const {
  const auto named = [](std::string_view kind, std::string_view name) { return std::string(kind) + " " + std::string(name); };
  if (const auto* q = std::get_if<ClusterQueueObserved>(&o))
    return has(connected_.cluster_queues, q->meta.name) ? named("q", q->meta.name) : "";
  if (const auto* q = std::get_if<CohortObserved>(&o)) return has(connected_.cohorts, q->meta.name) ? named("c", q->meta.name) : "";
  if (const auto* f = std::get_if<ResourceFlavorObserved>(&o)) return has(connected_.flavors, f->meta.name) ? named("f", f->meta.name) : "";
  if (const auto* p = std::get_if<WorkloadPriorityClassObserved>(&o))
    return has(connected_.priority_classes, p->meta.name) ? named("w", p->meta.name) : "";
  if (const auto* p = std::get_if<PriorityClassObserved>(&o))
    return has(connected_.priority_classes, p->meta.name) ? named("p", p->meta.name) : "";
  if (const auto* n = std::get_if<NamespaceObserved>(&o)) return n->meta.name == connected_.namespace_ ? named("n", n->meta.name) : "";
  if (const auto* l = std::get_if<LocalQueueObserved>(&o)) {
    const std::string name = projections::full_name(l->meta.namespace_, l->meta.name);
    return has(connected_.local_queues, name) ? named("l", name) : "";
  }
  if (std::holds_alternative<ConfigurationObserved>(o)) return "settings";
  if (const auto* d = std::get_if<ObjectDeleted>(&o)) {
    if (d->kind == ObjectKind::cluster_queue && has(connected_.cluster_queues, d->name)) return named("q", d->name);
    if (d->kind == ObjectKind::cohort && has(connected_.cohorts, d->name)) return named("c", d->name);
    if (d->kind == ObjectKind::resource_flavor && has(connected_.flavors, d->name)) return named("f", d->name);
    const std::string name = projections::full_name(d->namespace_, d->name);
    if (d->kind == ObjectKind::local_queue && has(connected_.local_queues, name)) return named("l", name);
  }
  return "";
}

/// The first object of each, when it went, and how it got quota and lost it.
bool Chooser::about_other(const RecordView& record) {
  if (connected_.workloads.empty()) return false;
  if (const auto* d = std::get_if<Decisions>(&record.body))
    return std::any_of(d->events.begin(), d->events.end(), [&](const Event& e) { return moves_quota(e, connected_.workloads); });
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return false;
  if (const auto* w = std::get_if<WorkloadObserved>(o))
    return has(connected_.workloads, w->meta.uid) && seen_others_.emplace(w->meta.uid).second;
  const auto* gone = std::get_if<ObjectDeleted>(o);
  return gone != nullptr && has(connected_.workloads, gone->uid);
}

void Chooser::see(Position offset, const RecordView& record, bool concerns) {
  if (concerns) {
    if (std::holds_alternative<Decisions>(record.body))
      decisions_.add(offset, Bearing::own_max / 2);
    else
      own_.add(offset, Bearing::own_max / 2);
    return;
  }
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (std::string object = configured(*o); !object.empty()) {
      if (offset > first_) return configuration_.add(offset, Bearing::configuration_max);
      const auto known = std::find_if(before_.begin(), before_.end(), [&](const auto& b) { return b.first == object; });
      if (known != before_.end())
        known->second = offset;
      else if (before_.size() < Bearing::configuration_max)
        before_.emplace_back(std::move(object), offset);
      return;
    }
  }
  if (about_other(record)) others_.add(offset, Bearing::others_max);
}

Bearing Chooser::finish() {
  Bearing out;
  const auto put = [&](const Ends& ends, Role role) {
    for (const auto* list : {&ends.begin, &ends.end})
      for (const Position offset : *list) out.records.push_back({offset, role});
  };
  put(own_, Role::own);
  put(decisions_, Role::decision);
  put(configuration_, Role::configuration);
  for (const auto& [object, offset] : before_) out.records.push_back({offset, Role::configuration});
  put(others_, Role::other);
  std::sort(out.records.begin(), out.records.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  out.needed_from = first_;
  for (const auto& [object, offset] : before_)
    if (object.starts_with("l ")) out.needed_from = std::min(out.needed_from, offset);
  out.own_left_out = own_.left_out() + decisions_.left_out();
  out.configuration_left_out = configuration_.left_out();
  out.others_left_out = others_.left_out();
  return out;
}

}  // namespace hindsight::casefile
