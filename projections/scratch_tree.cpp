#include "projections/scratch_tree.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/scheduling/flavor_assigner.hpp"
#include "admission/scheduling/nomination.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/scheduling/preemption.hpp"
#include "admission/scheduling/second_pass.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;

void edit_groups(std::vector<ResourceGroup>& groups, const QuotaEdit& edit) {
  for (auto& g : groups)
    for (auto& f : g.flavors) {
      if (f.flavor != edit.flavor) continue;
      for (std::size_t i = 0; i < g.resources.size() && i < f.quotas.size(); ++i) {
        if (g.resources[i] != edit.resource) continue;
        if (edit.nominal) f.quotas[i].nominal = *edit.nominal;
        if (edit.borrowing_limit) f.quotas[i].borrowing_limit = *edit.borrowing_limit;
      }
    }
}

template <class Config>
std::shared_ptr<const Config> edited(const std::shared_ptr<const Config>& config, bool is_cohort, const std::vector<QuotaEdit>& edits) {
  std::shared_ptr<Config> copy;
  for (const auto& e : edits) {
    if (e.node != config->name || e.is_cohort != is_cohort) continue;
    if (!copy) copy = std::make_shared<Config>(*config);
    edit_groups(copy->groups, e);
  }
  return copy ? copy : config;
}

/// How far the scan of a waiting workload got at its last try, if that still counts at the next one.
ScanState kept_scan(const StateView& state, Symbol cluster_queue, const WorkloadInfo& workload) {
  const auto* queue = state.queue(cluster_queue);
  if (queue == nullptr) return {};
  const auto context = state.domain().context();
  for (auto& entry : queue->image().entries) {
    if (entry.uid != workload.uid || entry.scan.entries.empty()) continue;
    const std::uint64_t changed = entry.scan.generation + 1;  // whatever lets it in changes the tree
    if (!outdated(entry.scan, workload, context.cycle + 1, changed, context.catalog->settings)) return std::move(entry.scan);
  }
  return {};
}

}  // namespace

struct ScratchTree::Nomination {
  AssignmentMode mode = AssignmentMode::no_fit;
  Assignment assignment;
  std::vector<admission::Target> targets;
};

ScratchTree::ScratchTree(const StateView& state, Symbol cluster_queue, QuotaTree tree)
    : state_(&state), cluster_queue_(cluster_queue), tree_(std::move(tree)) {}

std::optional<ScratchTree> ScratchTree::of(const StateView& state, Symbol cluster_queue, const std::vector<QuotaEdit>& edits,
                                           const Nodes* nodes) {
  const Catalog& catalog = *state.domain().catalog();
  const auto* original = tree_of(state, cluster_queue);
  if (catalog.queue(cluster_queue) == nullptr || original == nullptr) return std::nullopt;
  std::vector<QuotaTree::Member> members;
  for (const Symbol& name : catalog.members(catalog.root_of(cluster_queue))) {  // also those that share hosts with it, and no quota
    members.push_back({edited(catalog.queues.at(name), false, edits), catalog.queue_active(name)});
  }
  std::vector<std::shared_ptr<const CohortConfig>> cohorts;
  for (const Symbol& name : original->cohort_names())
    if (const auto it = catalog.cohorts.find(name); it != catalog.cohorts.end()) cohorts.push_back(edited(it->second, true, edits));
  ScratchTree out(state, cluster_queue, QuotaTree::build(members, cohorts));
  for (const auto& m : members) {
    const auto* queue = state.queue(m.config->name);
    if (queue == nullptr) continue;
    for (auto& r : queue->reservations()) {
      out.tree_.reserve(m.config->name, r);
      out.reservations_.emplace_back(m.config->name, std::move(r));
    }
  }
  out.room_ = room_of(out.tree_, catalog, nodes == nullptr ? *state.domain().context().nodes : *nodes);
  return out;
}

ScratchTree::Nomination ScratchTree::nominate(const WorkloadInfo& workload) {
  const Catalog& catalog = *state_->domain().catalog();
  const std::function<const FlavorConfig*(Symbol)> find = [&](Symbol name) { return catalog.flavor(name); };
  FlavorLookup flavors(tree_, find);
  std::optional<PodPlacer> placer;
  if (room_) placer.emplace(*room_, catalog.settings, tree_, &catalog.checks);
  const PodPlacer* places = placer ? &*placer : nullptr;
  Preemption preemption(tree_, catalog.settings, state_->domain().now(), state_->domain().context().repeated, places);
  FlavorAssigner assigner(tree_, catalog.settings, flavors, preemption, places);
  Nominator nominator(tree_, catalog.settings, assigner, preemption, places);
  Nomination out;
  // A scan that ended early goes on where it stopped in the next cycles, so that another pod set may find room (BA-54); one that has come
  // to its end starts anew. It may also go round without ever trying all flavors together (D11).
  std::vector<ScanState> scans{kept_scan(*state_, cluster_queue_, workload)};
  for (;;) {
    Assignment assignment;
    const ScanState* scan = scans.back().entries.empty() ? nullptr : &scans.back();
    nominator.nominate(workload, tree_.find_queue(cluster_queue_), scan, nullptr, assignment, out.targets);
    out.mode = assignment.mode;
    ScanState next = unfinished_scan(workload, assignment);
    out.assignment = std::move(assignment);
    if (out.mode == AssignmentMode::fit || !out.targets.empty()) return out;
    const bool again = std::any_of(scans.begin(), scans.end(), [&](const ScanState& s) { return s.entries == next.entries; });
    if (again) return out;
    scans.push_back(std::move(next));
  }
}

PodPlacer ScratchTree::placer() { return {*room_, state_->domain().catalog()->settings, tree_, nullptr}; }

bool ScratchTree::implies_topology() { return room_ && placer().implies(tree_.queue(tree_.find_queue(cluster_queue_))); }

bool ScratchTree::fits(const WorkloadInfo& workload) { return nominate(workload).mode == AssignmentMode::fit; }

std::shared_ptr<const Reservation> ScratchTree::move(const std::string& uid) {
  const auto it = std::find_if(reservations_.begin(), reservations_.end(), [&](const auto& r) { return r.second->workload->uid == uid; });
  if (it == reservations_.end() || !room_) return nullptr;
  const Reservation& before = *it->second;
  room_->release(before.workload->id);
  const auto placed = place_again(before, tree_.queue(tree_.find_queue(it->first)), placer());
  if (!placed) {
    room_->reserve(before);
    return nullptr;
  }
  auto after = std::make_shared<Reservation>(before);
  for (auto& p : after->pod_sets)
    for (const auto& now : *placed)
      if (now.pod_set == p.pod_set) p = now;
  room_->reserve(*after);
  it->second = after;
  return after;
}

std::optional<std::vector<PodSetReservation>> ScratchTree::take_places(const WorkloadInfo& workload) {
  const auto nomination = nominate(workload);
  if (nomination.mode != AssignmentMode::fit || !nomination.assignment.placement) return {};
  const auto& placement = *nomination.assignment.placement;
  std::vector<PodSetReservation> out;
  for (const auto& placed : placement.pod_sets) {
    const auto& p = nomination.assignment.pod_sets[placed.position];
    out.push_back({workload.pod_sets[p.pod_set].name, p.count, {}, {}, room_->assignment(placed.flavor, placed.pods)});
  }
  topology::TopologyRoom::take(room_->free(), placement.holding);
  return out;
}

std::vector<Holder> ScratchTree::victims_of(const WorkloadInfo& workload) {
  const auto nomination = nominate(workload);
  std::vector<Holder> out;
  if (nomination.mode != AssignmentMode::preempt) return out;
  for (const auto& target : nomination.targets) {
    const auto& w = *tree_.entry(target.entry).reservation->workload;
    out.push_back({std::string(w.namespace_.text()), w.name.text(), w.uid.text(), tree_.name(target.queue), w.priority, 0, w.evicted});
  }
  return out;
}

void ScratchTree::release(const Holder& holder) {
  const auto it =
      std::find_if(reservations_.begin(), reservations_.end(), [&](const auto& r) { return r.second->workload->uid == holder.uid; });
  if (it == reservations_.end()) return;
  tree_.release(it->second->workload->id);
  if (room_) room_->release(it->second->workload->id);
}

void ScratchTree::restore(const Holder& holder) {
  const auto it =
      std::find_if(reservations_.begin(), reservations_.end(), [&](const auto& r) { return r.second->workload->uid == holder.uid; });
  if (it == reservations_.end()) return;
  tree_.reserve(it->first, it->second);
  if (room_) room_->reserve(*it->second);
}

}  // namespace hindsight::projections
