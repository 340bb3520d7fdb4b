#include "admission/state/snapshot.hpp"

#include <algorithm>
#include <utility>

#include "admission/state/archive.hpp"
#include "admission/state/state_fields.hpp"

namespace hindsight::admission {

// ---- what is written in another way than its list of members says -------------------------------------------------------------

/// Of shapes most have no constraints, which one byte says.
template <class A>
void archive(A& a, Interned<PodShape>& shape) {
  bool plain = shape == PodShape{};
  archive(a, plain);
  if (plain)
    shape = {};
  else
    archive<A, PodShape>(a, shape);
}

template <class A>
void archive(A& a, Registry& registry) {
  if constexpr (A::reading)
    registry.read(a);
  else
    registry.write(a);
}

// ---- the domain ---------------------------------------------------------------------------------------------------------------

void SnapshotCodec::write_domain(ArchiveWriter& a, const Domain& domain) {
  auto& d = const_cast<Domain&>(domain);  // the writer changes nothing; one description serves both directions
  archive(a, d);
  for (std::uint32_t parent = 0; parent < d.registry_.parents_end(); ++parent) a(d.is_dirty_[parent] || d.catalog_changed_);
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
  archive(a, d);
  const std::uint32_t parents = d.registry_.parents_end();
  for (std::uint32_t parent = 0; parent < parents && a.ok(); ++parent) {
    bool dirty = false;
    a(dirty);
    if (dirty) d.restored_dirty_.push_back(parent);
  }
  if (!a.ok()) return fail(ErrorKind::corrupt, "snapshot: the domain's part ends early, or makes no sense");

  d.restored_configured_ = d.configured_;
  d.edit();
  if (!d.catalog_->settings_json.empty()) {
    auto settings = d.read_settings_(d.catalog_->settings_json);
    if (settings) d.catalog_->settings = std::move(*settings);
  }
  d.is_dirty_.assign(parents, false);
  d.due_of_.assign(parents, Time::never());
  d.job_kinds_.resize(parents, JobKind::none);
  d.job_places_.resize(parents);
  for (WorkloadId id = 0; auto& place : std::exchange(d.workload_places_, {}))
    d.place_workload(id++, std::move(place.member), std::move(place.holder));
  for (const auto& [index, lineage] : d.lineages_) {
    if (!lineage.owner_uid.empty()) d.owned_[lineage.owner_uid].insert(index);
    if (!lineage.ancestor.empty()) d.descendants_[lineage.ancestor].insert(index);
  }
  for (const auto& [name, node] : d.nodes_)
    if (node != nullptr) d.enlist(*node);
  for (const auto& [name, usage] : d.node_usage_)
    if (const auto node = d.nodes_.find(name); node == d.nodes_.end() || node->second != nullptr) (void)d.refresh_use(name);
  for (const auto& [uid, place] : d.pods_) d.pods_of_owners_[place.owner].insert(uid);
  for (const auto& [uid, q] : d.quarantined_) d.index_queue(uid, q, true);
  if (!holds_together(d)) return fail(ErrorKind::corrupt, "snapshot: the domain's part names what it does not have");
  return {};
}

void SnapshotCodec::announce(Domain& d, Outbox& out) {
  (void)d.edit().refresh_roots();
  (void)d.edit().refresh_shared_hosts();
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
    if (p && !p->empty()) write_parent(a, i, p->image());
  }
  a(static_cast<std::uint64_t>(entities.queues_.size()));
  for (const auto& [id, q] : entities.queues_) write_queue(a, q->name(), q->image());
  return a.take();
}

void SnapshotCodec::write_parent(ArchiveWriter& a, std::uint32_t index, WorkloadParent::Image image) {
  a(index);
  archive(a, image);
}

void SnapshotCodec::write_queue(ArchiveWriter& a, Symbol name, ClusterQueue::Image image) {
  a(name);
  archive(a, image);
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
    WorkloadParent::Image image;
    a(index);
    archive(a, image);
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
  entities.domain_.take_what_was_said(false);
  settle(entities.domain_);
  entities.forget_touched();
  return {};
}

}  // namespace hindsight::admission
