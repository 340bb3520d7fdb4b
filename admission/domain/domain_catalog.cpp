// How the domain folds the configuration objects and which entities each change concerns (base-admission §2.3, §3.7).

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/options/option_plan.hpp"

namespace hindsight::admission {

/// The catalog for changing: a copy if somebody else still reads the present one. Queues of tenants and labels of namespaces change as
/// often as their owners like, and the parents of all tenants are many: such a change marks those that it concerns.
Catalog& Domain::edit(Concerns whom) {
  catalog_hash_ = 0;
  shared_catalog_.reset();
  if (catalog_.use_count() > 1) catalog_ = std::make_shared<Catalog>(*catalog_);
  shared_catalog_ = catalog_;
  edited_ = true;
  if (whom == Concerns::anybody) {
    catalog_changed_ = true;
    configured_ = sequence_;
  }
  return *catalog_;
}

// ---- queues, cohorts, trees -----------------------------------------------------------------------------------------------------

/// Structure, quota or activity of these queues changed: their trees, before and after, are built anew.
void Domain::queues_changed(const std::set<Symbol, ByText>& queues, Outbox& out) {
  std::vector<Catalog::Root> changes;
  Catalog& catalog = edit();
  for (const Symbol& q : queues) changes.push_back(catalog.refresh_root(q));
  roots_changed(changes, {}, out);
}

/// The trees that these queues left or joined are built anew, and those of `ends` too (Catalog::cohort_root), and of whom a change of the
/// configuration has made one tree, or several.
void Domain::roots_changed(std::vector<Catalog::Root> changes, const std::set<Symbol, ByText>& ends, Outbox& out) {
  std::set<Symbol, ByText> roots;
  for (const Symbol& end : ends) roots.insert(catalog_->tree_of(end));
  for (const auto& moved : catalog_->refresh_shared_hosts()) {
    changes.push_back(moved);
    request_reactivation(moved.queue);  // what its former tree was asked for is for the new one to do
  }
  for (const Symbol& end : ends) roots.insert(catalog_->tree_of(end));
  for (const auto& change : changes) {
    roots.insert(change.before);
    roots.insert(change.after);
    if (change.changed) catalog_->refresh_activity(*catalog_->queue(change.queue));
  }
  roots.erase(Symbol());  // below a circle of cohorts there is no tree
  rebuild_trees(roots, out);
}

void Domain::rebuild_trees(const std::set<Symbol, ByText>& roots, Outbox& out) {
  ++tree_version_;
  for (const Symbol& root : roots) {
    const auto& members = catalog_->members(root);
    out.send(domain_address, tree_address(root), msg::BuildTree{root, static_cast<std::uint32_t>(members.size()), tree_version_});
    for (const Symbol& q : members) out.send(domain_address, queue_address(q), msg::JoinTree{tree_address(root), tree_version_});
    mark_tree(root);
  }
}

void Domain::apply(const ClusterQueueObserved& o, Outbox& out) {
  note_held(ObjectKind::cluster_queue, o.meta);
  QueueConfig seen = to_config(o);
  const Symbol name = seen.name;
  const auto* old = catalog_->queue(name);
  if (old != nullptr && content_hash(*old) == content_hash(seen)) return;
  if (old != nullptr) {
    const bool same = old->has_namespace_selector == seen.has_namespace_selector && old->namespace_selector == seen.namespace_selector;
    seen.selector_since = same ? old->selector_since : sequence_;
  }
  if (seen.concurrent.enabled) seen.concurrent.specs = shared_option_specs(seen, nullptr);
  const auto config = std::make_shared<const QueueConfig>(std::move(seen));
  const bool created = old == nullptr;
  const bool stop_changed = !created && (old->stop_policy != config->stop_policy || old->stop_policy_set != config->stop_policy_set ||
                                         old->deleting != config->deleting);
  const auto rules = [](const QueueConfig& q) {
    StateHash h;
    for (const auto& k : q.checks) {
      h.add(k.name);
      for (const Symbol& f : k.on_flavors) h.add(f);
      h.add(std::uint64_t{1});
    }
    return h.value();
  };
  const bool checks_changed = !created && rules(*old) != rules(*config);
  const bool families_changed = !created && (old->concurrent.enabled || config->concurrent.enabled);
  something_new();
  if (old != nullptr) users_changed(*old);
  Catalog& catalog = edit();
  catalog.put_queue(config);
  catalog.refresh_activity(*config);
  if (created) out.send(domain_address, queue_address(name), msg::OpenQueue{name});
  queues_changed({name}, out);
  if (created) {
    if (const auto holders = holders_.find(name); holders != holders_.end())
      for (const std::uint32_t parent : parents_of(holders->second))
        out.send(domain_address, {EntityKind::workload_parent, parent}, msg::Refresh{true, false, true});
    refresh_queue_members(name, {.resolve = true, .force = true}, out);
    for (const auto& key : catalog_->local_queues_of(name))
      if (const auto it = consumed_.find(key); it != consumed_.end())
        out.send(domain_address, queue_address(name), msg::ConsumedSeen{key, it->second.usage, it->second.at});
  } else if (stop_changed || checks_changed || families_changed) {
    refresh_queue_members(name, {.resolve = true, .force = false}, out);
  }
  out.send(domain_address, queue_address(name), msg::Notice{});  // also where no tree is built, below a circle of cohorts
  request_reactivation(name);                                    // created, or any field of the spec
}

void Domain::apply(const CohortObserved& o, Outbox& out) {
  auto config = std::make_shared<const CohortConfig>(to_config(o));
  const Symbol name = config->name;
  const auto it = catalog_->cohorts.find(name);
  if (it != catalog_->cohorts.end() && content_hash(*it->second) == content_hash(*config)) return;
  something_new();
  Catalog& catalog = edit();
  // the trees that it lends to, before and after, may have no queue below it
  std::set<Symbol, ByText> roots{catalog.topmost(name)};
  catalog.put_cohort(config);
  const Symbol root = catalog.topmost(name);
  roots.insert(root);
  roots_changed(catalog.refresh_roots_below(name), std::move(roots), out);
  if (!root.empty() && !catalog.members(catalog.tree_of(root)).empty()) request_root(catalog.tree_of(root));
}

/// Activity of the queues that `concerned` names is computed anew; those that became active wake their trees, with `reactivate_all` the
/// others too.
void Domain::refresh_activity_of(const std::function<bool(const QueueConfig&)>& concerned, bool reactivate_all, Outbox& out) {
  std::set<Symbol, ByText> changed;
  std::vector<Symbol> wake;
  Catalog& catalog = edit();
  for (const auto& [name, config] : catalog.queues) {
    if (!concerned(*config)) continue;
    const bool before = catalog.queue_active(name);
    catalog.refresh_activity(*config);
    const bool after = catalog.queue_active(name);
    if (before != after) changed.insert(name);
    if (reactivate_all || (!before && after)) wake.push_back(name);
    out.send(domain_address, queue_address(name), msg::CountersDue{});
  }
  if (!changed.empty()) queues_changed(changed, out);
  for (const Symbol& q : wake) request_reactivation(q);
}

void Domain::apply(const ResourceFlavorObserved& o, Outbox& out) {
  note_held(ObjectKind::resource_flavor, o.meta);
  auto config = std::make_shared<const FlavorConfig>(to_config(o));
  const Symbol name = config->name;
  const auto* old = catalog_->flavor(name);
  if (old != nullptr && content_hash(*old) == content_hash(*config)) return;
  something_new();
  const bool existed = old != nullptr;
  places_have_changed();
  edit().flavors[name] = std::move(config);
  refresh_activity_of(
      [&](const QueueConfig& q) {
        for (const auto& g : q.groups)
          for (const auto& f : g.flavors)
            if (f.flavor == name) return true;
        return false;
      },
      existed, out);
  roots_changed({}, {}, out);
  for (const auto& [queue, root] : catalog_->roots) mark_tree(root);
}

void Domain::apply(const AdmissionCheckObserved& o, Outbox& out) {
  note_held(ObjectKind::admission_check, o.meta);
  const Symbol name(o.meta.name);
  const auto it = catalog_->checks.find(name);
  if (it != catalog_->checks.end() && it->second->controller == o.controller_name && it->second->active == o.active) return;
  something_new();
  edit().checks[name] = std::make_shared<const CheckConfig>(CheckConfig{name, std::string(o.controller_name), o.active});
  refresh_activity_of(
      [&](const QueueConfig& q) {
        return std::any_of(q.checks.begin(), q.checks.end(), [&](const CheckRule& r) { return r.name == name; });
      },
      false, out);
}

void Domain::apply(const TopologyObserved& o, Outbox& out) {
  note_held(ObjectKind::topology, o.meta);  // TAS-9
  const Symbol name(o.meta.name);
  std::vector<std::string> levels;
  for (const Text l : o.levels) levels.emplace_back(l);
  const auto it = catalog_->topologies.find(name);
  if (it != catalog_->topologies.end() && it->second == levels) return;
  something_new();
  places_have_changed();
  edit().topologies[name] = std::move(levels);
  refresh_activity_of(
      [&](const QueueConfig& q) {
        for (const auto& g : q.groups)
          for (const auto& f : g.flavors)
            if (const auto* config = catalog_->flavor(f.flavor); config != nullptr && config->topology == name) return true;
        return false;
      },
      true, out);
}

// ---- local queues, classes, namespaces --------------------------------------------------------------------------------------------

void Domain::refresh_members(const Symbol& namespace_, const Symbol& local_queue, msg::Refresh how, Outbox& out) {
  const auto it = members_.find({namespace_, local_queue});
  if (it == members_.end()) return;
  for (const std::uint32_t parent : parents_of(it->second)) out.send(domain_address, {EntityKind::workload_parent, parent}, how);
}

void Domain::refresh_queue_members(const Symbol& cluster_queue, msg::Refresh how, Outbox& out) {
  for (const auto& key : catalog_->local_queues_of(cluster_queue)) {
    const bool runs = catalog_->local_queue(key.first, key.second)->stop_policy == StopPolicy::none;
    refresh_members(key.first, key.second, {how.resolve, how.force && runs}, out);
  }
}

void Domain::refresh_all(msg::Refresh how, Outbox& out) {
  for (std::uint32_t parent = 0; parent < registry_.parents_end(); ++parent)
    if (registry_.has_parent(parent)) out.send(domain_address, {EntityKind::workload_parent, parent}, how);
}

void Domain::apply(const LocalQueueObserved& o, Outbox& out) {
  see_consumed(o, out);
  const LocalQueueConfig config = to_config(o);
  const auto* old = catalog_->local_queue(config.namespace_, config.name);
  const bool created = old == nullptr;
  const bool same_rules = !created && old->cluster_queue == config.cluster_queue && old->stop_policy == config.stop_policy &&
                          old->stop_policy_set == config.stop_policy_set && old->fair_weight_nano == config.fair_weight_nano;
  if (same_rules && old->labels == config.labels) return;
  something_new();
  const bool resumed = !created && old->stop_policy != StopPolicy::none && config.stop_policy == StopPolicy::none;
  edit(Concerns::marked).put_local_queue(config);
  if (same_rules) return;  // labels are for who reads metrics: nothing is decided by them
  refresh_members(config.namespace_, config.name,
                  {.resolve = true, .force = (created || resumed) && config.stop_policy == StopPolicy::none}, out);
  out.send(domain_address, queue_address(config.cluster_queue), msg::Notice{});  // its LocalQueue's status follows
}

/// The status of a LocalQueue is where admission fair sharing keeps what was consumed (BA-168). What this log has counted itself is newer.
void Domain::see_consumed(const LocalQueueObserved& o, Outbox& out) {
  if (!o.consumed_at.is_set()) return;
  const Catalog::LocalQueueKey key{Symbol(o.meta.namespace_), Symbol(o.meta.name)};
  Consumed& seen = consumed_[key];
  seen.at = o.consumed_at;
  seen.usage.clear();
  for (const auto& [resource, quantity] : o.consumed)
    if (const auto amount = parse_nano_amount(quantity)) seen.usage.add(Symbol(resource), *amount);  // the connector refuses anything else
  if (catalog_->local_queue(key.first, key.second) == nullptr)
    out.send(domain_address, queue_address(Symbol(o.cluster_queue)), msg::ConsumedSeen{key, seen.usage, seen.at});
}

void Domain::apply(const WorkloadPriorityClassObserved& o, Outbox& out) {
  const Symbol name(o.meta.name);
  const auto it = catalog_->workload_priority_classes.find(name);
  if (it != catalog_->workload_priority_classes.end() && it->second.value == o.value) return;
  something_new();
  edit().workload_priority_classes[name] = {o.value, false};
  for (std::uint32_t parent = 0; parent < registry_.parents_end(); ++parent)
    mark_dirty(parent);  // BA-150; a job without its class waits for it
  (void)out;
}

void Domain::apply(const PriorityClassObserved& o, Outbox& out) {
  (void)out;
  something_new();
  edit().pod_priority_classes[Symbol(o.meta.name)] = {o.value, o.global_default};
}

void Domain::apply(const NamespaceObserved& o, Outbox& out) {
  (void)out;
  NamespaceConfig labelled = to_config(o);
  const Symbol name = labelled.name;
  const auto it = catalog_->namespaces.find(name);
  if (it != catalog_->namespaces.end()) {
    if (it->second->labels == labelled.labels) return;
    labelled.labels_since = sequence_;
  }
  something_new();
  std::vector<Symbol> before;
  for (const auto& [queue, qc] : catalog_->queues)
    if (catalog_->namespace_matches(*qc, name)) before.push_back(queue);
  edit(Concerns::marked).namespaces[name] = std::make_shared<const NamespaceConfig>(std::move(labelled));
  configured_ = sequence_;
  mark_namespace(name);
  for (const auto& [queue, qc] : catalog_->queues)
    if (catalog_->namespace_matches(*qc, name) && std::find(before.begin(), before.end(), queue) == before.end())
      request_reactivation(queue);
}

void Domain::apply(const ConfigurationObserved& o, Outbox& out) {
  if (catalog_->settings_json == o.json) return;
  auto settings = read_settings_(o.json);
  if (!settings) return;  // the connector refuses a bad file before it is written; an unreadable one changes nothing
  something_new();
  Catalog& catalog = edit();
  const bool other_places = catalog.settings.topologies != settings->topologies ||
                            catalog.settings.compact_topologies != settings->compact_topologies ||
                            catalog.settings.count_hosts != settings->count_hosts;
  const bool other_families = catalog.settings.concurrent_admission != settings->concurrent_admission;
  const bool other_turns =
      catalog.settings.strict_families != settings->strict_families || catalog.settings.upgrades_block != settings->upgrades_block;
  catalog.settings = std::move(*settings);
  catalog.settings_json = o.json;
  if (other_families) refresh_activity_of([](const QueueConfig&) { return true; }, false, out);
  places_have_changed();
  roots_changed({}, {}, out);
  relink_all(out);
  for (const auto& [name, config] : catalog_->queues) {
    out.send(domain_address, queue_address(name), msg::Notice{});
    if (other_places || other_turns) request_reactivation(name);
  }
  refresh_all({.resolve = false, .force = false}, out);
}

// ---- jobs and workloads -------------------------------------------------------------------------------------------------------------

void Domain::apply(const JobObserved& o, Outbox& out) {
  const std::uint32_t parent = parent_of(o.meta.uid);
  out.send(domain_address, {EntityKind::workload_parent, parent}, msg::JobSeen{&o});
  link_job(parent, o, out);
}

/// Options belong to the entity of their Parent, which may be a job's; empty: it names no Workload that is known as its owner.
std::string Domain::family_key(const WorkloadObserved& o) const {
  if (o.owner_kind != "Workload" || o.owner_uid.empty()) return {};
  const auto owner = registry_.find_workload(o.owner_uid);
  if (!owner || workload_places_[owner.id].member.first.text() != o.meta.namespace_) return {};
  return registry_.key(owner.parent);
}

void Domain::apply(const WorkloadObserved& o, Outbox& out) {
  auto w = registry_.find_workload(o.meta.uid);
  Text key = o.owner_uid.empty() ? o.meta.uid : o.owner_uid;
  if (const auto owner = registry_.find_parent(key);
      owner != Registry::none && job_kinds_[owner] != JobKind::none && job_places_[owner].namespace_.text() != o.meta.namespace_)
    key = o.meta.uid;  // no job owns anything in another namespace
  const std::string family = family_key(o);
  if (!family.empty()) key = family;
  Symbol holder;
  if (!w) {
    w = registry_.add_workload(o.meta.uid, key);
  } else if (registry_.key(w.parent) != key) {  // a job took it over, or lost it
    out.send(domain_address, {EntityKind::workload_parent, w.parent}, msg::WorkloadGone{w.id});
    place_workload(w.id, {}, {});
    w = registry_.move_workload(o.meta.uid, key);
  } else {
    holder = workload_places_[w.id].holder;
  }
  know(w.parent);
  if (o.has_admission) backlog_.settled(o.meta.uid);
  const std::uint64_t version = o.meta.resource_version;
  if (version == 0 || w.id >= workload_places_.size() || version >= workload_places_[w.id].version) {
    if (o.has_admission) holder = Symbol(o.admission_cluster_queue);
    place_workload(w.id, {Symbol(o.meta.namespace_), Symbol(o.queue_name)}, std::move(holder));
    if (version != 0) workload_places_[w.id].version = version;
  }
  out.send(domain_address, {EntityKind::workload_parent, w.parent}, msg::WorkloadSeen{&o, w.id});
  // Options that were told before it wait where its uid leads (CA-132).
  if (const auto early = registry_.find_parent(o.meta.uid);
      early != Registry::none && early != w.parent && job_kinds_[early] == JobKind::none)
    out.send(domain_address, {EntityKind::workload_parent, early}, msg::ParentSeen{std::string(o.meta.uid)});
}

void Domain::apply(const PodObserved& o, Outbox& out) {
  if (const auto known = pods_.find(std::string(o.meta.uid));
      known != pods_.end() && known->second.owner != Registry::none && registry_.key(known->second.owner) != o.owner_uid)
    forget_pod(known, out);  // references to owners can be changed
  if (o.owner_uid.empty()) return;
  const std::uint32_t owner = parent_of(o.owner_uid);  // it may be told before its job
  if (job_kinds_[owner] != JobKind::none && job_places_[owner].namespace_.text() != o.meta.namespace_) return;
  PodPlace& place = pods_[std::string(o.meta.uid)];
  place = {owner, pod_keeper(owner), Symbol(o.meta.namespace_)};
  pods_of_owners_[owner].emplace(o.meta.uid);
  out.send(domain_address, {EntityKind::workload_parent, place.keeper}, msg::PodSeen{&o});
}

/// Nothing leads to it any more, and its number is given out again.
void Domain::forget_workload(WorkloadId id) {
  const std::string uid(registry_.uid(id));
  place_workload(id, {}, {});
  registry_.remove_workload(uid);
  claims_.forget(uid);
  backlog_.settled(uid);
  if (repeated_.forget(uid)) mark_trees();
}

void Domain::apply(const ObjectDeleted& o, Outbox& out) {
  const Symbol name(o.name);
  switch (o.kind) {
    case ObjectKind::workload:
      if (const auto w = registry_.find_workload(o.uid)) {
        // One that leaves for another domain takes nothing of this one's with it: its job leaves, too.
        const bool deleted = o.departed_to.empty() && rules_ >= rules_with_quota_of_deleted;
        out.send(domain_address, {EntityKind::workload_parent, w.parent}, msg::WorkloadGone{w.id, deleted});
        backlog_.settled(o.uid);
        if (!deleted) forget_workload(w.id);
      }
      break;
    case ObjectKind::job:
      if (const auto parent = registry_.find_parent(o.uid); parent != Registry::none) {
        unlink_job(parent, out);
        out.send(domain_address, {EntityKind::workload_parent, parent}, msg::JobGone{std::string(o.uid)});
      }
      break;
    case ObjectKind::pod:
      if (const auto it = pods_.find(std::string(o.uid)); it != pods_.end()) forget_pod(it, out);
      break;
    case ObjectKind::cluster_queue:
      forget_held(o.kind, o.name);
      if (const auto* config = catalog_->queue(name); config != nullptr) {
        something_new();
        users_changed(*config);
        const Symbol root = catalog_->root_of(name);
        Catalog& catalog = edit();
        catalog.erase_queue(name);
        catalog.activity.erase(name);
        out.send(domain_address, queue_address(name), msg::CloseQueue{});
        sampling_due(name, Time::never());
        roots_changed({}, {root}, out);
        refresh_queue_members(name, {.resolve = true, .force = false}, out);
      }
      break;
    case ObjectKind::cohort:
      if (catalog_->cohorts.contains(name)) {
        something_new();
        Catalog& catalog = edit();
        std::set<Symbol, ByText> roots{catalog.topmost(name)};
        catalog.erase_cohort(name);
        roots_changed(catalog.refresh_roots_below(name), std::move(roots), out);
      }
      break;
    case ObjectKind::local_queue:
      something_new();
      consumed_.erase({Symbol(o.namespace_), name});
      if (const auto* lq = catalog_->local_queue(Symbol(o.namespace_), name))
        out.send(domain_address, queue_address(lq->cluster_queue), msg::ConsumedSeen{{Symbol(o.namespace_), name}, {}, Time::never()});
      edit(Concerns::marked).erase_local_queue(Symbol(o.namespace_), name);
      refresh_members(Symbol(o.namespace_), name, {.resolve = true, .force = false}, out);
      break;
    case ObjectKind::resource_flavor:
      forget_held(o.kind, o.name);
      something_new();
      places_have_changed();
      if (const auto* flavor = catalog_->flavor(name); flavor != nullptr && !flavor->topology.empty()) {
        const Symbol topology = flavor->topology;
        edit().flavors.erase(name);
        lost_a_user(ObjectKind::topology, topology);
      } else {
        edit().flavors.erase(name);
      }
      refresh_activity_of(
          [&](const QueueConfig& q) {
            for (const auto& g : q.groups)
              for (const auto& f : g.flavors)
                if (f.flavor == name) return true;
            return false;
          },
          false, out);
      roots_changed({}, {}, out);
      break;
    case ObjectKind::admission_check:
      forget_held(o.kind, o.name);
      something_new();
      edit().checks.erase(name);
      refresh_activity_of(
          [&](const QueueConfig& q) {
            return std::any_of(q.checks.begin(), q.checks.end(), [&](const CheckRule& r) { return r.name == name; });
          },
          false, out);
      break;
    case ObjectKind::topology:
      forget_held(o.kind, o.name);
      something_new();
      places_have_changed();
      edit().topologies.erase(name);
      refresh_activity_of([](const QueueConfig&) { return true; }, false, out);
      break;
    case ObjectKind::node:
      if (const auto it = nodes_.find(name); it != nodes_.end()) {
        const auto gone = it->second;
        if (!o.uid.empty() && !gone->uid.empty() && gone->uid != o.uid) break;  // another one of that name has come since
        if (o.departed_to.empty()) seen_.note_gone(ObjectKind::node, o.name, std::string_view(gone->uid), gone->version);
        nodes_.erase(it);
        delist(*gone);
        tell_of(*gone, out);
        nodes_changed(*gone);
      }
      break;
    case ObjectKind::workload_priority_class:
      edit().workload_priority_classes.erase(name);
      break;
    case ObjectKind::priority_class:
      edit().pod_priority_classes.erase(name);
      break;
    case ObjectKind::namespace_:
      edit(Concerns::marked).namespaces.erase(name);
      configured_ = sequence_;
      mark_namespace(name);
      break;
    default:
      break;
  }
}

void Domain::apply(const TimerFired&, Outbox& out) {
  while (!sampling_.empty() && sampling_.begin()->first <= now_) {
    const Symbol queue = Symbol::from_id(sampling_.begin()->second);
    sampling_due(queue, Time::never());
    out.send(domain_address, queue_address(queue), msg::SampleUsage{});
  }
}

void Domain::apply(const MirrorSynced& o, Outbox& out) {
  (void)out;
  synced_ = !o.pending;
  if (o.pending) return;
  listed_ = true;
  for (const auto& [key, held] : held_)
    if (held.deleting) held_changes_.insert(key);
}

void Domain::apply(const WriteRefused& o, Outbox& out) {
  if (o.kind == ObjectKind::job) {
    if (const auto parent = registry_.find_parent(o.uid); parent != Registry::none)
      out.send(domain_address, {EntityKind::workload_parent, parent}, msg::WriteRefusedSeen{&o, 0});
  } else if (o.kind == ObjectKind::pod) {
    if (const auto it = pods_.find(std::string(o.uid)); it != pods_.end() && registry_.has_parent(it->second.keeper))
      out.send(domain_address, {EntityKind::workload_parent, it->second.keeper}, msg::WriteRefusedSeen{&o, 0});
  } else if (const auto w = registry_.find_workload(o.uid)) {
    out.send(domain_address, {EntityKind::workload_parent, w.parent}, msg::WriteRefusedSeen{&o, w.id});
    backlog_.settled(o.uid);
    something_new();
  }
}

}  // namespace hindsight::admission
