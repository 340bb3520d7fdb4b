#include "routing/router.hpp"

#include <algorithm>

namespace hindsight::routing {
namespace {

constexpr int owners_max = 10;  // as far as admission looks for a managed ancestor (admission/domain/managed_jobs.cpp)

ObjectKey by_name(ObjectKind kind, std::string_view namespace_, std::string_view name) {
  return {kind, std::string(namespace_), std::string(name), {}};
}

/// What the Workload counts against; finished ones keep their admission, and hold nothing.
std::string_view quota_of(const WorkloadObserved& o) {
  const bool finished = std::ranges::any_of(
      o.conditions, [](const auto& c) { return c.type == ConditionType::finished && c.status == ConditionStatus::true_; });
  return o.has_admission && !finished ? o.admission_cluster_queue : Text();
}

template <class Table, class Key>
Symbol find_home(const Table& table, const Key& key) {
  const auto it = table.find(key);
  if (it == table.end()) return {};
  if constexpr (std::is_same_v<typename Table::mapped_type, Symbol>)
    return it->second;
  else
    return it->second.home;
}

}  // namespace

// ---- observations -----------------------------------------------------------------------------------------------------------------

Route Router::observe(const Observation& observation) {
  Route route;
  std::visit(
      [&]<class T>(const T& o) {
        if constexpr (std::is_same_v<T, WriteRefused>) {
          route.domain = home_of_uid(o.uid);
        } else if constexpr (std::is_same_v<T, ResourceFlavorObserved>) {
          route.everywhere = true;
          trees_.put(o);
          if (trees_.take_changes()) rehome_all(route.moves);
        } else if constexpr (requires { this->see(o, route.moves); }) {
          route.domain = see(o, route.moves);
          if constexpr (std::is_same_v<T, ObjectDeleted>) route.everywhere = is_everywhere(o.kind);
        } else {
          route.everywhere = true;
        }
      },
      observation);
  return route;
}

void Router::settle() {
  settled_ = true;
  Moves none;
  (void)trees_.take_changes();
  rehome_all(none);
}

Symbol Router::see(const ClusterQueueObserved& o, Moves& moves) {
  trees_.put(o);
  Symbol& home = queues_[std::string(o.meta.name)];
  if (trees_.take_changes()) rehome_all(moves);
  return home;
}

Symbol Router::see(const CohortObserved& o, Moves& moves) {
  trees_.put(o);
  Symbol& home = cohorts_[std::string(o.meta.name)];
  if (trees_.take_changes()) rehome_all(moves);
  return home;
}

Symbol Router::see(const LocalQueueObserved& o, Moves& moves) {
  const auto [it, fresh] = local_queues_.try_emplace({std::string(o.meta.namespace_), std::string(o.meta.name)});
  LocalQueue& queue = it->second;
  if (fresh || queue.cluster_queue != o.cluster_queue) {
    queue.cluster_queue = o.cluster_queue;
    if (settled_)
      rehome(queue.home, domain_of(trees_.of_queue(o.cluster_queue)), by_name(ObjectKind::local_queue, o.meta.namespace_, o.meta.name),
             moves);
    rehome_families_of(it->first, moves);
  }
  return queue.home;
}

Symbol Router::see(const JobObserved& o, Moves& moves) {
  const std::string key(o.meta.uid);
  Family& family = families_[key];
  const bool fresh = !family.job;
  if (fresh) family.job.emplace();
  JobFacts& job = *family.job;
  job.namespace_ = o.meta.namespace_;
  if (fresh) disown(key, moves);
  job.name = o.meta.name;
  job.queue_name = o.queue_name;
  set_owner(key, job, o.owner_uid);
  family_of_[key] = key;
  rehome_family(key, moves);
  return family.home;
}

Symbol Router::see(const WorkloadObserved& o, Moves& moves) {
  const std::string uid(o.meta.uid);
  const bool owned = !o.owner_uid.empty() && is_near(o.owner_uid, o.meta.namespace_);
  std::string key(owned ? o.owner_uid : o.meta.uid);
  if (o.owner_kind == "Workload") key = family_of_parent(o.owner_uid, o.meta.namespace_).value_or(std::move(key));  // an Option
  WorkloadFacts facts;
  if (const auto known = family_of_.find(uid); known != family_of_.end() && known->second != key) {  // a job took it over, or lost it
    const std::string before = known->second;
    auto node = families_.find(before)->second.workloads.extract(uid);
    if (node) facts.home = node.mapped().home;
    rehome_family(before, moves);
    drop_if_empty(before);
  }
  family_of_[uid] = key;
  Family& family = families_[key];
  WorkloadFacts& mine = family.workloads.try_emplace(uid, facts).first->second;
  mine.namespace_ = o.meta.namespace_;
  mine.name = o.meta.name;
  mine.queue_name = o.queue_name;
  mine.holds = quota_of(o);
  take_early_options(uid, key);
  rehome_family(key, moves);
  return family.home;
}

/// The family of a Workload that controls others, its Options (8691); nothing: it was not seen yet, or is not where they are.
std::optional<std::string> Router::family_of_parent(std::string_view uid, std::string_view namespace_) const {
  const auto known = family_of_.find(uid);
  if (known == family_of_.end()) return std::nullopt;
  const auto& workloads = families_.find(known->second)->second.workloads;
  const auto parent = workloads.find(uid);
  if (parent == workloads.end() || parent->second.namespace_ != namespace_) return std::nullopt;
  return known->second;
}

/// Options that were seen before their Parent wait where its uid leads, and join it.
void Router::take_early_options(const std::string& parent, const std::string& key) {
  const auto early = families_.find(parent);
  if (key == parent || early == families_.end() || early->second.job) return;
  Family& family = families_.at(key);
  while (!early->second.workloads.empty()) {
    auto node = early->second.workloads.extract(early->second.workloads.begin());
    family_of_[node.key()] = key;
    family.workloads.insert(std::move(node));
  }
  drop_if_empty(parent);
}

Symbol Router::see(const PodObserved& o, Moves& moves) {
  const std::string key(o.owner_uid);
  if (const auto known = family_of_.find(o.meta.uid); known != family_of_.end() && known->second != key)
    (void)forget_member(o.meta.uid, moves);  // references to owners can be changed
  if (o.owner_uid.empty() || !is_near(key, o.meta.namespace_)) return {};
  family_of_[std::string(o.meta.uid)] = key;
  Family& family = families_[key];
  PodFacts& pod = family.pods[std::string(o.meta.uid)];
  pod.namespace_ = o.meta.namespace_;
  pod.name = o.meta.name;
  rehome_family(key, moves);
  return family.home;
}

/// Nobody owns anything in another namespace. Of a job that was not seen yet it is not known where it is.
bool Router::is_near(std::string_view key, std::string_view namespace_) const {
  const auto it = families_.find(key);
  return it == families_.end() || !it->second.job || it->second.job->namespace_ == namespace_;
}

/// A job was seen for the first time: what names it as its owner from another namespace is none of its own.
void Router::disown(const std::string& key, Moves& moves) {
  Family& family = families_.at(key);
  const std::string& space = family.job->namespace_;
  std::vector<std::pair<std::string, WorkloadFacts>> leaving;
  for (auto it = family.workloads.begin(); it != family.workloads.end();) {
    const auto at = it++;
    if (at->second.namespace_ == space) continue;
    leaving.emplace_back(at->first, at->second);
    family.workloads.erase(at);
  }
  for (auto it = family.pods.begin(); it != family.pods.end();) {
    const auto at = it++;
    if (at->second.namespace_ == space) continue;
    family_of_.erase(at->first);
    family.pods.erase(at);
  }
  for (auto& [uid, facts] : leaving) {
    family_of_[uid] = uid;
    families_[uid].workloads.try_emplace(uid, std::move(facts));
    rehome_family(uid, moves);
  }
}

/// The domain where it was is told.
Symbol Router::see(const ObjectDeleted& o, Moves& moves) {
  Symbol was;
  switch (o.kind) {
    case ObjectKind::cluster_queue:
    case ObjectKind::cohort: {
      auto& table = o.kind == ObjectKind::cohort ? cohorts_ : queues_;
      was = find_home(table, o.name);
      if (const auto it = table.find(o.name); it != table.end()) table.erase(it);
      break;
    }
    case ObjectKind::local_queue: {
      const LocalQueueKey key{std::string(o.namespace_), std::string(o.name)};
      was = find_home(local_queues_, key);
      if (local_queues_.erase(key) != 0) rehome_families_of(key, moves);
      break;
    }
    case ObjectKind::job:
    case ObjectKind::workload:
    case ObjectKind::pod:
      return forget_member(o.uid, moves);
    default:
      break;
  }
  trees_.erase(o.kind, o.name);
  if (trees_.take_changes()) rehome_all(moves);
  return was;
}

/// A job of which nothing else was seen belongs where its outline says.
Symbol Router::see(const ObjectQuarantined& o, Moves& moves) {
  if (o.kind == ObjectKind::job && !o.outline.empty() && !family_of_.contains(o.uid)) return see(o.outline.front(), moves);
  return place_of_quarantine({o.kind, std::string(o.namespace_), std::string(o.name), std::string(o.uid)});
}

Symbol Router::forget_member(std::string_view uid, Moves& moves) {
  const auto known = family_of_.find(uid);
  if (known == family_of_.end()) return {};
  const std::string key = known->second;
  family_of_.erase(known);
  const auto it = families_.find(key);
  Family& family = it->second;
  const Symbol was = family.home;
  if (family.job && key == uid) {
    set_owner(key, *family.job, {});
    family.job.reset();
  } else if (const auto w = family.workloads.find(uid); w != family.workloads.end()) {
    family.workloads.erase(w);
  } else if (const auto pod = family.pods.find(uid); pod != family.pods.end()) {
    family.pods.erase(pod);
  }
  rehome_family(key, moves);
  drop_if_empty(key);
  return was;
}

void Router::set_owner(const std::string& key, JobFacts& job, std::string_view owner) {
  if (job.owner_uid == owner) return;
  if (const auto it = owned_.find(job.owner_uid); it != owned_.end()) {
    it->second.erase(key);
    if (it->second.empty()) owned_.erase(it);
  }
  job.owner_uid = owner;
  if (!owner.empty()) owned_[job.owner_uid].insert(key);
}

void Router::drop_if_empty(const std::string& key) {
  const auto it = families_.find(key);
  if (it == families_.end() || !it->second.empty()) return;
  follow_queue(it->first, it->second, {});
  families_.erase(it);
}

void Router::follow_queue(const std::string& key, Family& family, const std::optional<LocalQueueKey>& queue) {
  if (family.by_queue == nullptr ? !queue : queue == family.by_queue->first) return;
  if (family.by_queue != nullptr) {
    family.by_queue->second.erase(key);
    if (family.by_queue->second.empty()) by_queue_.erase(by_queue_.find(family.by_queue->first));
  }
  family.by_queue = queue ? &*by_queue_.try_emplace(*queue).first : nullptr;
  if (queue) family.by_queue->second.insert(key);
}

// ---- homes --------------------------------------------------------------------------------------------------------------------------

Symbol Router::domain_of(std::string_view tree) const {
  return tree.empty() ? homeless() : Symbol(std::string(cluster_).append("/").append(tree));
}

Router::Place Router::place_by_queue(std::string_view namespace_, std::string_view queue_name) const {
  LocalQueueKey key{std::string(namespace_), std::string(queue_name)};
  const auto it = local_queues_.find(key);
  const Symbol home = it == local_queues_.end() ? homeless() : domain_of(trees_.of_queue(it->second.cluster_queue));
  return {home, std::move(key)};
}

Router::Place Router::place_for(const Family& family) const {
  for (const auto& [uid, w] : family.workloads)
    if (const auto tree = trees_.of_queue(w.holds); !tree.empty()) return {domain_of(tree), {}};
  if (family.job && !family.job->queue_name.empty()) return place_by_queue(family.job->namespace_, family.job->queue_name);
  for (const auto& [uid, w] : family.workloads)
    if (!w.queue_name.empty()) return place_by_queue(w.namespace_, w.queue_name);
  return {homeless(), {}};
}

/// Jobs below one that is queued do what that one may (BA-171): they belong to the topmost such owner.
Router::Place Router::place_for(std::string_view key) const {
  const auto self = families_.find(key);
  const Family* top = &self->second;
  const Family* at = top;
  for (int steps = 0; steps < owners_max && at->job && !at->job->owner_uid.empty(); ++steps) {
    const auto above = families_.find(at->job->owner_uid);
    if (above == families_.end() || !above->second.job || above->second.job->namespace_ != at->job->namespace_) break;
    at = &above->second;
    if (!at->job->queue_name.empty() || top->job->queue_name.empty()) top = at;
  }
  return place_for(*top);
}

void Router::rehome(Symbol& home, Symbol now, const ObjectKey& object, Moves& moves) {
  if (home == now) return;
  if (!home.empty()) moves.push_back({object, home, now});
  home = now;
}

void Router::rehome(const std::string& key, Family& family, const Place& place, Moves& moves) {
  follow_queue(key, family, place.by_queue);
  const Symbol home = family.home = place.home;
  const auto one = [&](ObjectKind kind, std::string_view uid, auto& member) {
    if (member.home != home) rehome(member.home, home, {kind, member.namespace_, member.name, std::string(uid)}, moves);
  };
  if (family.job) one(ObjectKind::job, key, *family.job);
  for (auto& [uid, w] : family.workloads) one(ObjectKind::workload, uid, w);
  for (auto& [uid, pod] : family.pods) one(ObjectKind::pod, uid, pod);
}

/// The family, and those of jobs that it owns, which may follow it.
void Router::rehome_family(std::string_view key, Moves& moves) {
  if (!settled_) return;
  std::vector<std::string> found{std::string(key)};
  std::set<std::string> met{found.front()};  // owners can stand in a circle
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string at = found[i];
    const auto it = families_.find(at);
    if (it == families_.end()) continue;
    rehome(it->first, it->second, place_for(at), moves);
    const auto below = owned_.find(at);
    if (below == owned_.end()) continue;
    for (const auto& child : below->second)
      if (met.insert(child).second) found.push_back(child);
  }
}

void Router::rehome_families(Moves& moves) {
  if (!settled_) return;
  for (auto& [key, family] : families_) rehome(key, family, place_for(key), moves);
}

/// A tenant's LocalQueue concerns what names it, and no other of a cluster's jobs. Jobs below such a one follow from the same name.
void Router::rehome_families_of(const LocalQueueKey& queue, Moves& moves) {
  const auto it = by_queue_.find(queue);
  if (!settled_ || it == by_queue_.end()) return;
  const std::vector<std::string_view> keys(it->second.begin(), it->second.end());  // each may leave
  for (const auto key : keys) {
    const auto family = families_.find(key);
    rehome(family->first, family->second, place_for(key), moves);
  }
}

void Router::rehome_all(Moves& moves) {
  if (!settled_) return;
  for (auto& [name, home] : cohorts_) rehome(home, domain_of(trees_.of_cohort(name)), by_name(ObjectKind::cohort, {}, name), moves);
  for (auto& [name, home] : queues_) rehome(home, domain_of(trees_.of_queue(name)), by_name(ObjectKind::cluster_queue, {}, name), moves);
  for (auto& [key, queue] : local_queues_)
    rehome(queue.home, domain_of(trees_.of_queue(queue.cluster_queue)), by_name(ObjectKind::local_queue, key.first, key.second), moves);
  rehome_families(moves);
}

// ---- reading ------------------------------------------------------------------------------------------------------------------------

Symbol Router::home_of_uid(std::string_view uid) const {
  const auto it = family_of_.find(uid);
  return it == family_of_.end() ? Symbol() : find_home(families_, it->second);
}

Symbol Router::place_of_quarantine(const ObjectKey& object) const {
  const Symbol known = home(object);
  return known.empty() ? homeless() : known;
}

Symbol Router::home(const ObjectKey& object) const {
  switch (object.kind) {
    case ObjectKind::cluster_queue:
      return find_home(queues_, object.name);
    case ObjectKind::cohort:
      return find_home(cohorts_, object.name);
    case ObjectKind::local_queue:
      return find_home(local_queues_, LocalQueueKey{object.namespace_, object.name});
    case ObjectKind::job:
    case ObjectKind::workload:
    case ObjectKind::pod:
      return home_of_uid(object.uid);
    default:
      return {};
  }
}

}  // namespace hindsight::routing
