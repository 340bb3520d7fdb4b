// Which jobs descend from a job that is queued itself (base-api §7.1 step 3, BA-171). The domain knows who owns whom; the topmost managed
// ancestor says whether its Workload is admitted, and the domain passes that on.

#include "admission/domain/domain.hpp"

namespace hindsight::admission {
namespace {

constexpr int owners_max = 10;

void take_out(std::map<std::string, std::set<std::uint32_t>>& index, const std::string& key, std::uint32_t value) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  it->second.erase(value);
  if (it->second.empty()) index.erase(it);
}

}  // namespace

void Domain::link_job(std::uint32_t index, const JobObserved& o, Outbox& out) {
  const JobKind kind = o.queue_name.empty() ? JobKind::unqueued : JobKind::queued;
  const auto lineage = lineages_.find(index);
  const std::string_view known = lineage == lineages_.end() ? std::string_view() : std::string_view(lineage->second.owner_uid);
  const bool same_owner = known == o.owner_uid && (known.empty() || lineage->second.owner_kind.text() == o.owner_kind);
  if (job_kinds_[index] == kind && same_owner) return;
  if (job_kinds_[index] == JobKind::none) {
    job_places_[index] = {Symbol(o.kind), Symbol(o.meta.namespace_)};
    disown_pods(index, out);
  }
  if (!same_owner) {
    uncount_child(index, out);
    Lineage& l = lineages_[index];
    take_out(owned_, l.owner_uid, index);
    l.owner_uid = o.owner_uid;
    l.owner_kind = Symbol(o.owner_kind);
    l.created = o.meta.created;
    if (!l.owner_uid.empty()) owned_[l.owner_uid].insert(index);
  }
  job_kinds_[index] = kind;
  relink(index, out);
  relink_below(std::string(o.meta.uid), out);
}

void Domain::unlink_job(std::uint32_t index, Outbox& out) {
  job_kinds_[index] = JobKind::none;
  job_places_[index] = {};
  if (const auto it = lineages_.find(index); it != lineages_.end()) {
    uncount_child(index, out);
    take_out(owned_, it->second.owner_uid, index);
    leave_ancestor(index, it->second.ancestor, out);
    lineages_.erase(it);
  }
  relink_below(registry_.key(index), out);
}

void Domain::leave_ancestor(std::uint32_t index, const std::string& ancestor, Outbox& out) {
  if (ancestor.empty()) return;
  take_out(descendants_, ancestor, index);
  if (descendants_.contains(ancestor)) return;
  running_ancestors_.erase(ancestor);
  if (const auto parent = registry_.find_parent(ancestor); parent != Registry::none)
    out.send(domain_address, {EntityKind::workload_parent, parent}, msg::WatchRuns{false});
}

/// Anybody can write a reference with the uid of somebody else's job. The API server does not look; its garbage collector does, later, and
/// by the same rules.
bool Domain::is_owner(std::uint32_t above, std::uint32_t child) const {
  const JobPlace& owner = job_places_[above];
  const Symbol& kind = lineages_.at(child).owner_kind;
  return owner.namespace_ == job_places_[child].namespace_ && (kind.empty() || kind == owner.kind);
}

/// Walks up the controller owners. One that was never seen ends the way: it is of a kind that is not ours. One that has gone leaves
/// its jobs children, which the garbage collector is about to take away.
void Domain::relink(std::uint32_t index, Outbox& out) {
  const auto found = lineages_.find(index);
  if (found == lineages_.end()) return;
  Lineage& lineage = found->second;
  std::string top;
  bool unknown = false;
  std::string owner = lineage.owner_uid;
  std::uint32_t at = index;
  for (int steps = 0; steps < owners_max && !owner.empty(); ++steps) {
    const auto above = registry_.find_parent(owner);
    unknown = above == Registry::none || job_kinds_[above] == JobKind::none;
    if (unknown || above == index || !is_owner(above, at)) break;
    if (job_kinds_[above] == JobKind::queued || catalog_->settings.manage_jobs_without_queue_name) top = owner;
    const auto next = lineages_.find(above);
    owner = next == lineages_.end() ? std::string() : next->second.owner_uid;
    at = above;
  }
  const bool child = !top.empty() || (lineage.child && unknown);
  if (child == lineage.child && top == lineage.ancestor) return count_child(index, out);
  leave_ancestor(index, lineage.ancestor, out);
  lineage.child = child;
  lineage.ancestor = top;
  if (!top.empty()) {
    auto& below = descendants_[top];
    if (below.empty()) out.send(domain_address, {EntityKind::workload_parent, registry_.find_parent(top)}, msg::WatchRuns{true});
    below.insert(index);
  }
  count_child(index, out);
  descends(index, out);
  hand_over_pods(index, out);
}

void Domain::descends(std::uint32_t index, Outbox& out) {
  const Lineage& l = lineages_.at(index);
  out.send(domain_address, {EntityKind::workload_parent, index}, msg::Descends{l.child, running_ancestors_.contains(l.ancestor), l.beyond});
}

// ---- room -----------------------------------------------------------------------------------------------------------------------

/// A child counts against the job that owns it, whoever stands above that one.
void Domain::count_child(std::uint32_t index, Outbox& out) {
  Lineage& l = lineages_.at(index);
  std::uint32_t owner = Registry::none;
  if (l.child && !l.ancestor.empty()) owner = registry_.find_parent(l.owner_uid);
  if (owner != Registry::none && (job_kinds_[owner] == JobKind::none || !is_owner(owner, index))) owner = Registry::none;
  if (l.counted_in == (owner == Registry::none ? std::string_view() : std::string_view(l.owner_uid))) return;
  uncount_child(index, out);
  if (owner == Registry::none) return;
  l.counted_in = l.owner_uid;
  ++children_[l.counted_in].members;
  weigh(owner, out);
  weigh(index, out);
}

void Domain::uncount_child(std::uint32_t index, Outbox& out) {
  const auto found = lineages_.find(index);
  if (found == lineages_.end() || found->second.counted_in.empty()) return;
  Lineage& l = found->second;
  const std::string owner = std::exchange(l.counted_in, {});
  if (std::exchange(l.beyond, false)) descends(index, out);
  if (const auto siblings = children_.find(owner); siblings != children_.end()) {
    JobChildren::Changes changes;
    siblings->second.sizes.remove({l.created, registry_.key(index)}, changes);
    tell_room(changes, out);
    if (--siblings->second.members == 0) {
      children_.erase(siblings);
      if (const auto parent = registry_.find_parent(owner); parent != Registry::none) weigh(parent, out);
    }
  }
  weigh(index, out);
}

/// Asks for the size where it matters.
void Domain::weigh(std::uint32_t index, Outbox& out) {
  const auto lineage = lineages_.find(index);
  const bool wanted = (lineage != lineages_.end() && !lineage->second.counted_in.empty()) || children_.contains(registry_.key(index));
  out.send(domain_address, {EntityKind::workload_parent, index}, msg::Weigh{wanted});
}

/// What cannot be read has no room in anything: nobody knows how large it is.
void Domain::sized(std::uint32_t index, const msg::Sized& told, Outbox& out) {
  JobChildren::Changes changes;
  if (const auto own = children_.find(registry_.key(index)); own != children_.end()) own->second.sizes.set_room(told.granted, changes);
  if (const auto l = lineages_.find(index); l != lineages_.end() && !l->second.counted_in.empty()) {
    ChildSize size{told.set_aside ? JobSize::boundless() : JobSize::of(told.asked), {}};
    if (told.gated && !told.set_aside) size.gated = told.asked;
    children_.at(l->second.counted_in).sizes.put({l->second.created, registry_.key(index)}, index, std::move(size), changes);
  }
  tell_room(changes, out);
}

void Domain::tell_room(const JobChildren::Changes& changes, Outbox& out) {
  for (const auto& [child, beyond] : changes) {
    const auto l = lineages_.find(child);
    if (l == lineages_.end()) continue;
    l->second.beyond = beyond;
    descends(child, out);
  }
}

// ---- pods and Workloads -----------------------------------------------------------------------------------------------------------

std::uint32_t Domain::pod_keeper(std::uint32_t owner) const {
  const auto lineage = lineages_.find(owner);
  if (lineage == lineages_.end() || lineage->second.ancestor.empty()) return owner;
  const auto above = registry_.find_parent(lineage->second.ancestor);
  return above == Registry::none ? owner : above;
}

/// Pods of a cluster that another job made are released by the slices of that job: only it has any (EJ-78). They may have been seen before
/// it was known whose the cluster is.
void Domain::hand_over_pods(std::uint32_t owner, Outbox& out) {
  const auto found = pods_of_owners_.find(owner);
  if (found == pods_of_owners_.end()) return;
  const std::uint32_t keeper = pod_keeper(owner);
  std::map<std::uint32_t, std::vector<std::string>> leaving;  // by whom they have been looked after
  for (const auto& uid : found->second) {
    std::uint32_t& now = pods_[uid].keeper;
    if (now == keeper) continue;
    leaving[now].push_back(uid);
    now = keeper;
  }
  for (auto& [from, uids] : leaving)
    out.send(domain_address, {EntityKind::workload_parent, from}, msg::HandOverPods{keeper, std::move(uids)});
}

/// Now that it is known in which namespace the job is: pods of others that name it as their owner are none of its pods.
void Domain::disown_pods(std::uint32_t owner, Outbox& out) {
  const auto found = pods_of_owners_.find(owner);
  if (found == pods_of_owners_.end()) return;
  std::erase_if(found->second, [&](const std::string& uid) {
    const auto pod = pods_.find(uid);
    if (pod->second.namespace_.empty() || pod->second.namespace_ == job_places_[owner].namespace_) return false;
    out.send(domain_address, {EntityKind::workload_parent, pod->second.keeper}, msg::PodGone{uid});
    pods_.erase(pod);
    return true;
  });
  if (found->second.empty()) pods_of_owners_.erase(found);
}

void Domain::forget_pod(Pods::iterator pod, Outbox& out) {
  const PodPlace place = pod->second;
  if (registry_.has_parent(place.keeper)) out.send(domain_address, {EntityKind::workload_parent, place.keeper}, msg::PodGone{pod->first});
  if (const auto others = pods_of_owners_.find(place.owner); others != pods_of_owners_.end()) {
    others->second.erase(pod->first);
    if (others->second.empty()) pods_of_owners_.erase(others);
  }
  pods_.erase(pod);
}

/// A Workload of another namespace than that of the job that it names as its owner is one that no job owns. An Option that was told before
/// its Parent goes where that is.
void Domain::adopt(std::unique_ptr<WorkloadState> workload, Outbox& out) {
  std::string key(workload->uid);
  if (const auto parent = registry_.find_workload(workload->option_of()); !workload->option_of().empty() && parent)
    key = registry_.key(parent.parent);
  const WorkloadPlace place = workload_places_[workload->id];
  place_workload(workload->id, {}, {});
  const auto w = registry_.move_workload(workload->uid, key);
  know(w.parent);
  workload->id = w.id;
  place_workload(w.id, place.member, place.holder);
  workload_places_[w.id].version = place.version;
  out.send(domain_address, {EntityKind::workload_parent, w.parent}, msg::WorkloadAdopted{std::move(workload)});
}

bool Domain::nested_too_deep(std::uint32_t parent) const {
  for (int steps = 0; steps <= owners_max; ++steps) {
    const auto lineage = lineages_.find(parent);
    if (lineage == lineages_.end() || lineage->second.owner_uid.empty()) return false;
    const auto above = registry_.find_parent(lineage->second.owner_uid);
    if (above == Registry::none || above == parent || job_kinds_[above] == JobKind::none || !is_owner(above, parent)) return false;
    parent = above;
  }
  return true;
}

void Domain::relink_below(const std::string& uid, Outbox& out) {
  std::vector<std::string> found{uid};
  for (std::size_t i = 0; i < found.size() && i <= lineages_.size(); ++i) {  // a circle of owners comes to an end
    const auto it = owned_.find(found[i]);
    if (it == owned_.end()) continue;
    for (const std::uint32_t index : std::set<std::uint32_t>(it->second)) {
      relink(index, out);
      found.push_back(registry_.key(index));
    }
  }
}

void Domain::relink_all(Outbox& out) {
  for (const auto& [index, lineage] : lineages_) relink(index, out);
}

void Domain::tell_descendants(std::uint32_t ancestor, bool runs, Outbox& out) {
  const std::string& uid = registry_.key(ancestor);
  const auto it = descendants_.find(uid);
  if (it == descendants_.end()) return;
  if (runs)
    running_ancestors_.insert(uid);
  else
    running_ancestors_.erase(uid);
  for (const std::uint32_t index : it->second) descends(index, out);
}

}  // namespace hindsight::admission
