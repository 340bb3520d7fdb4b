// Which jobs descend from a job that is queued itself (base-api §7.1 step 3, BA-171). The domain knows who owns whom; the topmost managed
// ancestor says whether its Workload is admitted, and the domain passes that on.

#include "admission/domain.hpp"

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
  if (job_kinds_[index] == kind && known == o.owner_uid) return;
  if (known != o.owner_uid) {
    Lineage& l = lineages_[index];
    take_out(owned_, l.owner_uid, index);
    l.owner_uid = o.owner_uid;
    if (!l.owner_uid.empty()) owned_[l.owner_uid].insert(index);
  }
  job_kinds_[index] = kind;
  relink(index, out);
  relink_below(std::string(o.meta.uid), out);
}

void Domain::unlink_job(std::uint32_t index, Outbox& out) {
  job_kinds_[index] = JobKind::none;
  if (const auto it = lineages_.find(index); it != lineages_.end()) {
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

/// Walks up the controller owners. One that was never seen ends the way: it is of a kind that is not ours. One that has gone leaves
/// its jobs children, which the garbage collector is about to take away.
void Domain::relink(std::uint32_t index, Outbox& out) {
  const auto found = lineages_.find(index);
  if (found == lineages_.end()) return;
  Lineage& lineage = found->second;
  std::string top;
  bool unknown = false;
  std::string owner = lineage.owner_uid;
  for (int steps = 0; steps < owners_max && !owner.empty(); ++steps) {
    const auto above = registry_.find_parent(owner);
    unknown = above == Registry::none || job_kinds_[above] == JobKind::none;
    if (unknown || above == index) break;
    if (job_kinds_[above] == JobKind::queued || catalog_->settings.manage_jobs_without_queue_name) top = owner;
    const auto next = lineages_.find(above);
    owner = next == lineages_.end() ? std::string() : next->second.owner_uid;
  }
  const bool child = !top.empty() || (lineage.child && unknown);
  if (child == lineage.child && top == lineage.ancestor) return;
  leave_ancestor(index, lineage.ancestor, out);
  lineage.child = child;
  lineage.ancestor = top;
  if (!top.empty()) {
    auto& below = descendants_[top];
    if (below.empty()) out.send(domain_address, {EntityKind::workload_parent, registry_.find_parent(top)}, msg::WatchRuns{true});
    below.insert(index);
  }
  out.send(domain_address, {EntityKind::workload_parent, index}, msg::Descends{child, running_ancestors_.contains(top)});
  hand_over_pods(index, out);
}

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

bool Domain::nested_too_deep(std::uint32_t parent) const {
  for (int steps = 0; steps <= owners_max; ++steps) {
    const auto lineage = lineages_.find(parent);
    if (lineage == lineages_.end() || lineage->second.owner_uid.empty()) return false;
    const auto above = registry_.find_parent(lineage->second.owner_uid);
    if (above == Registry::none || above == parent || job_kinds_[above] == JobKind::none) return false;
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
  for (const std::uint32_t index : it->second) out.send(domain_address, {EntityKind::workload_parent, index}, msg::Descends{true, runs});
}

}  // namespace hindsight::admission
