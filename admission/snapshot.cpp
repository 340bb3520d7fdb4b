#include "admission/snapshot.hpp"

#include <algorithm>

namespace hindsight::admission {

// ---- how each piece of state is written and read --------------------------------------------------------------------------

namespace {

template <class A>
void archive(A& a, OwnedRequirement& x);
template <class A>
void archive(A& a, OwnedTerm& x);
template <class A>
void archive(A& a, OwnedTaint& x);
template <class A>
void archive(A& a, OwnedToleration& x);
template <class A>
void archive(A& a, FlavorConfig& x);
template <class A>
void archive(A& a, Quota& x);
template <class A>
void archive(A& a, FlavorQuotas& x);
template <class A>
void archive(A& a, ResourceGroup& x);
template <class A>
void archive(A& a, CheckRule& x);
template <class A>
void archive(A& a, ResourceRequest& x);
template <class A>
void archive(A& a, SizedResource& x);
template <class A>
void archive(A& a, SizedPart& x);
template <class A>
void archive(A& a, PlannedSize& x);
template <class A>
void archive(A& a, PodSetSpec& x);
template <class A>
void archive(A& a, PodSetReservation& x);
template <class A>
void archive(A& a, Admission& x);
template <class A>
void archive(A& a, Condition& x);
template <class A>
void archive(A& a, CheckStatus& x);
template <class A>
void archive(A& a, EvictionStat& x);
template <class A>
void archive(A& a, WorkloadState& x);
template <class A>
void archive(A& a, JobState& x);
template <class A>
void archive(A& a, PodState& x);
template <class A>
void archive(A& a, ScanState::Entry& x);
template <class A>
void archive(A& a, ScanState& x);
template <class A>
void archive(A& a, QueueCounters::Cell& x);
template <class A>
void archive(A& a, QueueCounters& x);
template <class A>
void archive(A& a, ClusterQueue::Image::Entry& x);
template <class A>
void archive(A& a, ClusterQueue::Image::Record& x);
template <class A>
void archive(A& a, ClusterQueue::Image::Ledger& x);
template <class A>
void archive(A& a, ClusterQueue::Image::Penalty& x);
template <class A>
void archive(A& a, ClusterQueue::Image& x);

// Lists of the above are found by argument-dependent lookup in their own namespace, which is this one; the generic forms for
// lists, pairs and optionals come from archive.hpp.
using hindsight::admission::archive;

template <class A, class T>
void list(A& a, std::vector<T>& v) {
  if constexpr (A::reading) {
    const std::size_t n = a.count();
    v.clear();
    for (std::size_t i = 0; i < n && a.ok(); ++i) archive(a, v.emplace_back());
  } else {
    a(static_cast<std::uint64_t>(v.size()));
    for (auto& x : v) archive(a, x);
  }
}

template <class A>
void archive(A& a, OwnedRequirement& x) {
  archive_all(a, x.key, x.op, x.values);
}
template <class A>
void archive(A& a, OwnedTerm& x) {
  list(a, x.requirements);
}
template <class A>
void archive(A& a, OwnedTaint& x) {
  archive_all(a, x.key, x.value, x.effect);
}
template <class A>
void archive(A& a, OwnedToleration& x) {
  archive_all(a, x.key, x.value, x.exists, x.effect, x.seconds);
}
template <class A>
void archive(A& a, FlavorConfig& x) {
  archive_all(a, x.name, x.node_labels);
  list(a, x.taints);
  list(a, x.tolerations);
  archive(a, x.topology);
}
template <class A>
void archive(A& a, Quota& x) {
  archive_all(a, x.nominal, x.borrowing_limit, x.lending_limit);
}
template <class A>
void archive(A& a, FlavorQuotas& x) {
  archive(a, x.flavor);
  list(a, x.quotas);
}
template <class A>
void archive(A& a, ResourceGroup& x) {
  archive(a, x.resources);
  list(a, x.flavors);
}
template <class A>
void archive(A& a, CheckRule& x) {
  archive_all(a, x.name, x.on_flavors);
}
template <class A>
void archive_queue(A& a, QueueConfig& x) {
  archive_all(a, x.name, x.cohort);
  list(a, x.groups);
  archive_all(a, x.strategy, x.has_namespace_selector);
  list(a, x.namespace_selector);
  archive_all(a, x.selector_since, x.when_can_borrow, x.when_can_preempt, x.preference, x.within_cluster_queue, x.reclaim_within_cohort,
              x.borrow_within_cohort, x.max_priority_threshold);
  list(a, x.checks);
  archive_all(a, x.stop_policy, x.stop_policy_set, x.fair_weight_nano, x.admission_mode, x.deleting);
}
template <class A>
void archive_cohort(A& a, CohortConfig& x) {
  archive_all(a, x.name, x.parent);
  list(a, x.groups);
  archive(a, x.fair_weight_nano);
}
template <class A>
void archive(A& a, ResourceRequest& x) {
  archive_all(a, x.resource, x.amount);
}
template <class A>
void archive(A& a, SizedResource& x) {
  archive_all(a, x.resource, x.request, x.limit, x.low, x.high, x.step);
}
template <class A>
void archive(A& a, SizedPart& x) {
  archive_all(a, x.container, x.role);
  list(a, x.amounts);
}
template <class A>
void archive(A& a, PlannedSize& x) {
  archive_all(a, x.pod_set, x.container, x.resource, x.original, x.amount);
}
template <class A>
void archive(A& a, PodSetSpec& x) {
  archive_all(a, x.name, x.count, x.min_count);
  list(a, x.requests);
  // shapes without constraints are one shared object
  bool plain = x.shape == nullptr || (x.shape->node_selector.empty() && !x.shape->has_affinity && x.shape->tolerations.empty());
  archive(a, plain);
  if (plain) {
    static const auto shared = std::make_shared<const PodShape>();
    if constexpr (A::reading) x.shape = shared;
  } else {
    PodShape shape;
    if constexpr (!A::reading) shape = *x.shape;
    archive_all(a, shape.node_selector, shape.has_affinity);
    list(a, shape.affinity_terms);
    list(a, shape.tolerations);
    if constexpr (A::reading) x.shape = std::make_shared<const PodShape>(std::move(shape));
  }
  archive_all(a, x.shape_hash, x.template_hash, x.core_hash, x.group, x.limits_error, x.limit_range_error, x.bare_hash);
  list(a, x.sized);
}
template <class A>
void archive(A& a, PodSetReservation& x) {
  archive_all(a, x.pod_set, x.count, x.flavors, x.usage);
}
template <class A>
void archive(A& a, Admission& x) {
  archive(a, x.cluster_queue);
  list(a, x.pod_sets);
}
template <class A>
void archive(A& a, Condition& x) {
  archive_all(a, x.type, x.status, x.reason, x.message, x.last_transition);
}
template <class A>
void archive(A& a, CheckStatus& x) {
  archive_all(a, x.name, x.state, x.last_transition, x.message, x.requeue_after_seconds, x.retry_count, x.pod_set_updates);
}
template <class A>
void archive(A& a, EvictionStat& x) {
  archive_all(a, x.reason, x.cause, x.count);
}
template <class A>
void archive(A& a, WorkloadState& x) {
  archive_all(a, x.id, x.namespace_, x.name, x.uid, x.owner_uid, x.created, x.resource_version, x.generation, x.deleting,
              x.in_use_finalizer, x.job_made, x.queue_name);
  list(a, x.pod_sets);
  archive_all(a, x.priority, x.priority_class_kind, x.priority_class, x.active, x.max_exec_seconds, x.admission_gated_by, x.priority_boost,
              x.elastic, x.replacement_for, x.slice_name);
  list(a, x.conditions);
  bool has_admission = x.admission.has_value();
  archive(a, has_admission);
  if (has_admission) {
    if constexpr (A::reading) x.admission.emplace();
    archive(a, *x.admission);
  }
  list(a, x.checks);
  archive_all(a, x.has_requeue_state, x.requeue_count, x.requeue_at, x.reclaimable, x.accumulated_exec_seconds);
  list(a, x.evictions);
  archive_all(a, x.unconfirmed, x.last_decision, x.resolve_since, x.revision_pending, x.revised_for, x.removal_pending, x.gate_noted,
              x.gated_since, x.resource_policy, x.resource_bounds, x.plan_refusals, x.plan_refusal, x.sizing_barred, x.sizing_barred_at,
              x.quarantined);
  list(a, x.plan);
}
template <class A>
void archive(A& a, JobState& x) {
  archive_all(a, x.uid, x.name, x.kind, x.group, x.namespace_, x.resource_version, x.generation, x.deleting, x.queue_name, x.priority_class,
              x.pod_priority_class, x.prebuilt_workload, x.max_exec_seconds, x.suspended, x.active, x.pods_ready, x.stopping, x.finished,
              x.succeeded, x.on_hold, x.managed, x.finish_message, x.admission_gated_by, x.workload_name);
  list(a, x.pod_sets);
  archive_all(a, x.reclaimable, x.remaining, x.ready_pods, x.elastic, x.start_error, x.requested_since, x.requested_name, x.requested_for,
              x.removal_pending, x.scheduling_gated_by, x.gate_noted, x.gated_since, x.gate_ignored, x.stop_noted, x.start_due,
              x.start_left, x.resource_policy, x.resource_bounds, x.quarantined, x.pods_gated, x.by_itself);
  list(a, x.plan);
}
template <class A>
void archive(A& a, PodState& x) {
  archive_all(a, x.uid, x.name, x.pod_set, x.index, x.resource_version, x.gated, x.ended, x.released, x.released_at);
}
template <class A>
void archive(A& a, ScanState::Entry& x) {
  archive_all(a, x.pod_set, x.resource, x.flavor_index);
}
template <class A>
void archive(A& a, ScanState& x) {
  list(a, x.entries);
  archive_all(a, x.cycle, x.generation, x.equivalence_hash);
}
template <class A>
void archive(A& a, QueueCounters::Cell& x) {
  archive_all(a, x.flavor, x.resource, x.reserved, x.used);
}
template <class A>
void archive(A& a, QueueCounters& x) {
  archive_all(a, x.pending, x.reserving, x.admitted);
  list(a, x.cells);
}
template <class A>
void archive(A& a, ClusterQueue::Image::Entry& x) {
  archive_all(a, x.uid, x.parked, x.by_record);
  archive(a, x.scan);
}
template <class A>
void archive(A& a, ClusterQueue::Image::Record& x) {
  archive_all(a, x.hash, x.reason);
}
template <class A>
void archive(A& a, ClusterQueue::Image::Ledger& x) {
  archive_all(a, x.namespace_, x.name, x.sampled_at, x.consumed);
}
template <class A>
void archive(A& a, ClusterQueue::Image::Penalty& x) {
  archive_all(a, x.uid, x.amounts);
}
template <class A>
void archive(A& a, ClusterQueue::Image& x) {
  list(a, x.entries);
  archive_all(a, x.sticky_uid, x.sticky_generation, x.generation);
  list(a, x.records);
  archive(a, x.published);
  list(a, x.ledgers);
  list(a, x.penalties);
}

template <class A, class T, class F>
void table(A& a, std::map<Symbol, T, ByText>& m, F&& each) {
  if constexpr (A::reading) {
    const std::size_t n = a.count();
    m.clear();
    for (std::size_t i = 0; i < n && a.ok(); ++i) {
      Symbol key;
      a(key);
      T value{};
      each(value);
      m.emplace(key, std::move(value));
    }
  } else {
    a(static_cast<std::uint64_t>(m.size()));
    for (auto& [key, value] : m) {
      a(key);
      each(value);
    }
  }
}

/// Tables of shared configuration objects.
template <class A, class T, class F>
void shared_table(A& a, std::map<Symbol, std::shared_ptr<const T>, ByText>& m, F&& each) {
  table(a, m, [&](std::shared_ptr<const T>& p) {
    T value{};
    if constexpr (!A::reading) value = *p;
    each(value);
    if constexpr (A::reading) p = std::make_shared<const T>(std::move(value));
  });
}

template <class A>
void archive_catalog(A& a, Catalog& c) {
  a(c.settings_json);
  shared_table(a, c.flavors, [&](FlavorConfig& x) { archive(a, x); });
  shared_table(a, c.queues, [&](QueueConfig& x) { archive_queue(a, x); });
  if constexpr (A::reading)
    for (const auto& [name, config] : Catalog::Table<QueueConfig>(c.queues)) c.put_queue(config);
  shared_table(a, c.cohorts, [&](CohortConfig& x) { archive_cohort(a, x); });
  if constexpr (A::reading)
    for (const auto& [name, config] : Catalog::Table<CohortConfig>(c.cohorts)) c.put_cohort(config);
  shared_table(a, c.namespaces, [&](NamespaceConfig& x) { archive_all(a, x.name, x.labels, x.labels_since); });
  shared_table(a, c.checks, [&](CheckConfig& x) { archive_all(a, x.name, x.controller, x.active); });
  table(a, c.topologies, [&](std::vector<std::string>& x) { archive(a, x); });
  for (auto* classes : {&c.workload_priority_classes, &c.pod_priority_classes})
    table(a, *classes, [&](PriorityClassConfig& x) { archive_all(a, x.value, x.global_default); });
  if constexpr (A::reading) {
    const std::size_t n = a.count();
    for (std::size_t i = 0; i < n && a.ok(); ++i) {
      LocalQueueConfig q;
      archive_all(a, q.namespace_, q.name, q.cluster_queue, q.stop_policy, q.stop_policy_set, q.fair_weight_nano, q.labels);
      c.put_local_queue(q);
    }
  } else {
    a(static_cast<std::uint64_t>(c.local_queues.size()));
    for (auto& [key, q] : c.local_queues)
      archive_all(a, q.namespace_, q.name, q.cluster_queue, q.stop_policy, q.stop_policy_set, q.fair_weight_nano, q.labels);
  }
}

}  // namespace

// ---- the domain ---------------------------------------------------------------------------------------------------------------

void SnapshotCodec::write_domain(ArchiveWriter& a, const Domain& domain) {
  auto& d = const_cast<Domain&>(domain);  // the writer changes nothing; one description serves both directions
  archive_all(a, d.sequence_, d.epoch_, d.decided_base_, d.resolved_base_, d.life_cycle_steps_, d.rules_, d.cycles_, d.stale_decisions_,
              d.now_, d.synced_, d.tree_version_);
  archive_catalog(a, *d.catalog_);
  d.registry_.write(a);
  for (std::uint32_t parent = 0; parent < d.registry_.parents_end(); ++parent) a(d.is_dirty_[parent] || d.catalog_changed_);
  a(static_cast<std::uint64_t>(d.workload_places_.size()));
  for (auto& place : d.workload_places_) archive_all(a, place.member.first, place.member.second, place.holder);
  a(static_cast<std::uint64_t>(d.reactivations_.size()));
  for (auto& [root, t] : d.reactivations_) {
    a(root);
    a(t);
  }
  archive(a, d.seen_cycles_);
  d.seen_.archive_with(a);
  d.repeated_.archive_with(a);
  archive(a, d.job_kinds_);
  a(static_cast<std::uint64_t>(d.lineages_.size()));
  for (auto& [index, lineage] : d.lineages_) {
    a(index);
    archive_all(a, lineage.owner_uid, lineage.owner_kind, lineage.created, lineage.child, lineage.ancestor, lineage.beyond);
  }
  archive(a, d.listed_);
  a(static_cast<std::uint64_t>(d.held_.size()));
  for (auto& [key, held] : d.held_) {
    a(key.kind);
    a(key.name);
    archive_all(a, held.deleting, held.finalizer);
  }
  a(static_cast<std::uint64_t>(d.consumed_.size()));
  for (auto& [key, seen] : d.consumed_) {
    a(key.first);
    a(key.second);
    a(seen.at);
    a(static_cast<std::uint64_t>(seen.usage.parts().size()));
    for (const auto& part : seen.usage.parts()) {
      a(part.resource);
      a(part.amount);
    }
  }
  a(static_cast<std::uint64_t>(d.pods_.size()));
  for (auto& [uid, place] : d.pods_) {
    a(uid);
    archive_all(a, place.owner, place.keeper, place.namespace_);
  }
  archive_all(a, d.configured_, d.passed_over_);
  a(static_cast<std::uint64_t>(d.quarantined_.size()));
  for (auto& [uid, q] : d.quarantined_) {
    a(uid);
    archive_all(a, q.kind, q.api_kind, q.namespace_, q.name, q.resource_version, q.stage, q.reason, q.since);
  }
}

/// Does everything in it that names something else name something that is there? Whoever made the bytes, they lead to no place that is not.
bool SnapshotCodec::holds_together(const Domain& d) {
  const auto known = [&](std::uint32_t parent) { return d.registry_.has_parent(parent); };
  const auto known_workload = [&](WorkloadId id) { return known(d.registry_.parent_of(id)); };
  const auto all_known = [&](const auto& table) {
    return std::ranges::all_of(table, [&](const auto& entry) { return std::ranges::all_of(entry.second, known_workload); });
  };
  const auto named = [](const auto& table) {
    return std::ranges::all_of(table, [](const auto& entry) { return entry.second->name == entry.first; });
  };
  const auto lineage = [&](const auto& entry) { return known(entry.first); };
  const auto place = [&](const auto& entry) {
    const auto somebody = [&](std::uint32_t parent) { return parent == Registry::none || known(parent); };
    return somebody(entry.second.owner) && somebody(entry.second.keeper);
  };
  const Catalog& c = *d.catalog_;
  return all_known(d.members_) && all_known(d.holders_) && named(c.flavors) && named(c.queues) && named(c.cohorts) && named(c.namespaces) &&
         named(c.checks) && std::ranges::all_of(d.lineages_, lineage) && std::ranges::all_of(d.pods_, place);
}

Result<void> SnapshotCodec::read_domain(ArchiveReader& a, Domain& d) {
  archive_all(a, d.sequence_, d.epoch_, d.decided_base_, d.resolved_base_, d.life_cycle_steps_, d.rules_, d.cycles_, d.stale_decisions_,
              d.now_, d.synced_, d.tree_version_);
  archive_catalog(a, d.edit());
  if (!d.catalog_->settings_json.empty()) {
    auto settings = d.read_settings_(d.catalog_->settings_json);
    if (settings) d.catalog_->settings = std::move(*settings);
  }
  d.registry_.read(a);
  d.is_dirty_.assign(d.registry_.parents_end(), false);
  d.due_of_.assign(d.registry_.parents_end(), Time::never());
  for (std::uint32_t parent = 0; parent < d.registry_.parents_end() && a.ok(); ++parent) {
    bool dirty = false;
    a(dirty);
    if (dirty) d.restored_dirty_.push_back(parent);
  }
  const auto workloads = static_cast<WorkloadId>(a.count());
  for (WorkloadId id = 0; id < workloads && a.ok(); ++id) {
    Domain::WorkloadPlace place;
    archive_all(a, place.member.first, place.member.second, place.holder);
    d.place_workload(id, std::move(place.member), std::move(place.holder));
  }
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    Symbol root;
    Time t;
    a(root);
    a(t);
    d.reactivations_[root] = t;
  }
  archive(a, d.seen_cycles_);
  d.seen_.archive_with(a);
  d.repeated_.archive_with(a);
  archive(a, d.job_kinds_);
  d.job_kinds_.resize(d.registry_.parents_end(), Domain::JobKind::none);
  d.job_places_.resize(d.registry_.parents_end());
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    std::uint32_t index = 0;
    a(index);
    auto& lineage = d.lineages_[index];
    archive_all(a, lineage.owner_uid, lineage.owner_kind, lineage.created, lineage.child, lineage.ancestor, lineage.beyond);
    if (!lineage.owner_uid.empty()) d.owned_[lineage.owner_uid].insert(index);
    if (!lineage.ancestor.empty()) d.descendants_[lineage.ancestor].insert(index);
  }
  archive(a, d.listed_);
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    Domain::HeldKey key;
    a(key.kind);
    a(key.name);
    archive_all(a, d.held_[key].deleting, d.held_[key].finalizer);
  }
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    Catalog::LocalQueueKey key;
    a(key.first);
    a(key.second);
    auto& seen = d.consumed_[key];
    a(seen.at);
    for (std::size_t parts = a.count(); parts != 0 && a.ok(); --parts) {
      Symbol resource;
      NanoAmount amount = 0;
      a(resource);
      a(amount);
      seen.usage.add(resource, amount);
    }
  }
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    std::string uid;
    a(uid);
    auto& place = d.pods_[uid];
    archive_all(a, place.owner, place.keeper, place.namespace_);
    d.pods_of_owners_[place.owner].insert(uid);
  }
  archive_all(a, d.restored_configured_, d.passed_over_);
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    std::string uid;
    a(uid);
    auto& q = d.quarantined_[uid];
    archive_all(a, q.kind, q.api_kind, q.namespace_, q.name, q.resource_version, q.stage, q.reason, q.since);
    d.index_queue(uid, q, true);
  }
  if (!a.ok()) return fail(ErrorKind::corrupt, "snapshot: the domain's part ends early, or makes no sense");
  if (!holds_together(d)) return fail(ErrorKind::corrupt, "snapshot: the domain's part names what it does not have");
  return {};
}

void SnapshotCodec::announce(Domain& d, Outbox& out) {
  (void)d.edit().refresh_roots();
  std::set<Symbol, ByText> roots;
  for (const auto& [name, config] : d.catalog_->queues) {
    d.catalog_->refresh_activity(*config);
    out.send(domain_address, queue_address(name), msg::OpenQueue{name});
    out.send(domain_address, queue_address(name), msg::Notice{});
    if (const Symbol root = d.catalog_->root_of(name); !root.empty()) roots.insert(root);
  }
  const std::uint64_t version = d.tree_version_;
  d.rebuild_trees(roots, out);
  d.tree_version_ = version + 1;
  d.refresh_all({.resolve = false, .force = false}, out);
  for (const auto& [index, lineage] : d.lineages_)
    if (lineage.child) out.send(domain_address, {EntityKind::workload_parent, index}, msg::Descends{true, false, lineage.beyond});
  for (const auto& [ancestor, below] : d.descendants_)
    if (const auto parent = d.registry_.find_parent(ancestor); parent != Registry::none)
      out.send(domain_address, {EntityKind::workload_parent, parent}, msg::WatchRuns{true});
  for (const auto& entry : d.lineages_) d.count_child(entry.first, out);
}

void SnapshotCodec::settle(Domain& d) {
  for (const std::uint32_t p : d.dirty_) d.is_dirty_[p] = false;
  d.dirty_.clear();
  for (const std::uint32_t p : d.restored_dirty_) d.mark_dirty(p);
  d.restored_dirty_.clear();
  d.catalog_changed_ = false;
  d.configured_ = d.restored_configured_;
  d.asked_kinds_ = 0;
}

// ---- all entities ---------------------------------------------------------------------------------------------------------------

std::vector<std::byte> SnapshotCodec::write(const Entities& entities) {
  ArchiveWriter a;
  std::uint32_t version = snapshot_version;
  a(version);
  write_domain(a, entities.domain_);
  std::uint64_t live = 0;
  for (const auto& p : entities.parents_) live += p && !p->empty() ? 1 : 0;
  a(live);
  for (std::uint32_t i = 0; i < entities.parents_.size(); ++i) {
    const auto& p = entities.parents_[i];
    if (!p || p->empty()) continue;
    a(i);
    auto image = p->image();
    bool has_job = image.job.has_value();
    a(has_job);
    if (has_job) archive(a, *image.job);
    list(a, image.workloads);
    list(a, image.pods);
    image.repeats.archive_with(a);
  }
  a(static_cast<std::uint64_t>(entities.queues_.size()));
  for (const auto& [id, q] : entities.queues_) {
    Symbol name = q->name();
    a(name);
    auto image = q->image();
    archive(a, image);
  }
  return a.take();
}

Result<void> SnapshotCodec::read(std::span<const std::byte> bytes, Entities& entities) {
  ArchiveReader a(bytes);
  std::uint32_t version = 0;
  a(version);
  if (version != snapshot_version)
    return fail(ErrorKind::unsupported, "snapshot: version " + std::to_string(version) + " is not the one that this build reads (" +
                                            std::to_string(snapshot_version) + ")");
  if (auto ok = read_domain(a, entities.domain_); !ok) return ok;
  std::vector<std::pair<std::uint32_t, RepeatedSteps>> repeats;
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    std::uint32_t index = 0;
    bool has_job = false;
    WorkloadParent::Image image;
    a(index);
    a(has_job);
    if (has_job) {
      image.job.emplace();
      archive(a, *image.job);
    }
    list(a, image.workloads);
    list(a, image.pods);
    image.repeats.archive_with(a);
    const Registry& registry = entities.domain_.registry_;
    const bool known = a.ok() && registry.has_parent(index) && (index >= entities.parents_.size() || !entities.parents_[index]);
    const bool its_own = known && std::ranges::all_of(image.workloads, [&](const WorkloadState& w) {
                           const auto entry = registry.find_workload(w.uid);
                           return entry && entry.parent == index && entry.id == w.id;
                         });
    if (!its_own) return fail(ErrorKind::corrupt, "snapshot: a Workload parent that the domain does not know, or with other Workloads");
    repeats.emplace_back(index, image.repeats);
    for (const auto& w : image.workloads)
      if (w.id < entities.domain_.workload_places_.size()) entities.domain_.workload_places_[w.id].version = w.resource_version;
    if (image.job) entities.domain_.job_places_[index] = {image.job->kind, image.job->namespace_};
    if (index >= entities.parents_.size()) {
      entities.parents_.resize(index + 1);
      entities.parent_touched_.resize(index + 1, false);
    }
    entities.parents_[index] = std::make_unique<WorkloadParent>(Address{EntityKind::workload_parent, index});
    entities.parents_[index]->restore(std::move(image));
  }
  std::vector<std::pair<Symbol, ClusterQueue::Image>> queues;
  for (std::size_t n = a.count(); n != 0 && a.ok(); --n) {
    auto& [name, image] = queues.emplace_back();
    a(name);
    archive(a, image);
  }
  if (!a.at_end()) return fail(ErrorKind::corrupt, "snapshot: the bytes end early or go on too long");
  Outbox out;
  announce(entities.domain_, out);
  entities.deliver_all(out, true);
  const Context context = entities.domain_.context();
  for (const auto& [name, image] : queues)
    if (const auto it = entities.queues_.find(name.id()); it != entities.queues_.end()) it->second->restore(image, context, out);
  entities.deliver_all(out, true);
  for (auto& [index, steps] : repeats) entities.parents_[index]->restore(std::move(steps));
  settle(entities.domain_);
  entities.forget_touched();
  return {};
}

}  // namespace hindsight::admission
