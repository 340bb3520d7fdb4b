#include "projections/scratch_tree.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/rules.hpp"
#include "admission/scheduling/flavor_assigner.hpp"
#include "admission/scheduling/nomination.hpp"
#include "admission/scheduling/outcome_text.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/scheduling/preemption.hpp"
#include "admission/scheduling/second_pass.hpp"
#include "vocabulary/text.hpp"

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

std::shared_ptr<const QueueConfig> edited(const std::shared_ptr<const QueueConfig>& config, const PolicyEdit* policy) {
  if (policy == nullptr) return config;
  auto copy = std::make_shared<QueueConfig>(*config);
  if (policy->within_cluster_queue) copy->within_cluster_queue = *policy->within_cluster_queue;
  if (policy->reclaim_within_cohort) copy->reclaim_within_cohort = *policy->reclaim_within_cohort;
  if (policy->borrow_within_cohort) copy->borrow_within_cohort = *policy->borrow_within_cohort;
  if (policy->max_priority_threshold) copy->max_priority_threshold = policy->max_priority_threshold;
  return copy;
}

/// With admission fair sharing: how the LocalQueues of a queue compare as victims are chosen (base-admission §7.2).
void weigh_as(const QuotaTree& original, const Symbol& queue, QuotaTree& copy) {
  const NodeIndex node = original.find_queue(queue);
  if (node == no_node) return;
  const auto& from = original.queue(node);
  std::vector<QuotaTree::LocalUsage> usage;
  for (std::size_t i = 0; i < from.local_names.size(); ++i) usage.emplace_back(from.local_names[i], from.local_usage[i]);
  copy.weigh_local_queues(queue, usage, true);
}

/// Steps of all runs of a search become those of the run that counts.
void keep_last_run(std::vector<PreemptionStep>& steps, bool found) {
  const auto begins = [&](const PreemptionStep& s) { return s.kind == PreemptionStep::Kind::begins && (found || s.borrowing); };
  const auto last = std::find_if(steps.rbegin(), steps.rend(), begins);
  if (last == steps.rend()) return;  // fair sharing
  steps.erase(steps.begin(), last.base());
  const auto next =
      std::find_if(steps.begin(), steps.end(), [](const PreemptionStep& s) { return s.kind == PreemptionStep::Kind::begins; });
  steps.erase(next, steps.end());
}

/// How far the scan of a waiting workload got at its last try, whether that still counts or not.
ScanState last_scan(const StateView& state, Symbol cluster_queue, const WorkloadInfo& workload) {
  const auto* queue = state.queue(cluster_queue);
  if (queue == nullptr) return {};
  for (auto& entry : queue->image().entries)
    if (entry.uid == workload.uid) return std::move(entry.scan);
  return {};
}

/// Does the next try go on from there?
bool still_counts(const StateView& state, const ScanState& scan, const WorkloadInfo& workload) {
  const auto context = state.domain().context();
  const std::uint64_t changed = scan.generation + 1;  // whatever lets it in changes the tree
  return !scan.entries.empty() && !outdated(scan, workload, context.cycle + 1, changed, context.catalog->settings);
}

/// The Workload shows that outcome. By rules before 7, who would be put back as it was is left there (D10), even if its scan started anew
/// and would go on.
bool shows_already(const WorkloadInfo& workload, const Assignment& assignment) {
  const Symbol why = assignment.mode == AssignmentMode::no_fit ? reason_symbol(assignment.no_fit_reason) : reason::waiting_for_quota;
  return workload.pending_reason == why && workload.pending_message == condition_message(assignment_message(workload, assignment));
}

}  // namespace

bool holds_beside(const QueueConfig& queue, const WorkloadInfo& option, Symbol flavor) {
  if (option.option == nullptr || option.option->running == no_workload) return false;
  const auto has = [](const std::vector<Symbol>& list, const Symbol& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  const auto asks_for_checks = [&](Symbol f) {
    return std::any_of(queue.checks.begin(), queue.checks.end(), [&](const CheckRule& rule) {
      return (rule.on_flavors.empty() || has(rule.on_flavors, f)) && !has(option.ready_checks, rule.name);
    });
  };
  if (asks_for_checks(flavor)) return true;
  // Of another group it may have flavors with checks only; then it waits for these with all that it gets.
  return std::any_of(queue.groups.begin(), queue.groups.end(), [&](const ResourceGroup& g) {
    const bool needed = std::any_of(option.pod_sets.begin(), option.pod_sets.end(), [&](const PodSetInfo& p) {
      return std::any_of(p.requests.begin(), p.requests.end(), [&](const ResourceRequest& r) { return has(g.resources, r.resource); });
    });
    return needed && std::all_of(g.flavors.begin(), g.flavors.end(), [&](const auto& f) {
             return (option.allowed != nullptr && !has(*option.allowed, f.flavor)) || asks_for_checks(f.flavor);
           });
  });
}

struct ScratchTree::Nomination {
  AssignmentMode mode = AssignmentMode::no_fit;
  Assignment assignment;
  std::vector<admission::Target> targets;
};

ScratchTree::ScratchTree(const StateView& state, Symbol cluster_queue, QuotaTree tree)
    : state_(&state), cluster_queue_(cluster_queue), tree_(std::move(tree)) {}

std::optional<ScratchTree> ScratchTree::of(const StateView& state, const Symbol& cluster_queue, const std::vector<QuotaEdit>& edits,
                                           const Nodes* nodes, const PolicyEdit* policy) {
  const Catalog& catalog = *state.domain().catalog();
  const auto* original = tree_of(state, cluster_queue);
  if (catalog.queue(cluster_queue) == nullptr || original == nullptr) return std::nullopt;
  std::vector<QuotaTree::Member> members;
  for (const Symbol& name : catalog.members(catalog.root_of(cluster_queue))) {  // also those that share hosts with it, and no quota
    auto config = edited(catalog.queues.at(name), false, edits);
    members.push_back({name == cluster_queue ? edited(config, policy) : std::move(config), catalog.queue_active(name)});
  }
  std::vector<std::shared_ptr<const CohortConfig>> cohorts;
  for (const Symbol& name : original->cohort_names())
    if (const auto it = catalog.cohorts.find(name); it != catalog.cohorts.end()) cohorts.push_back(edited(it->second, true, edits));
  ScratchTree out(state, cluster_queue, QuotaTree::build(members, cohorts));
  for (const auto& m : members) {
    weigh_as(*original, m.config->name, out.tree_);
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

std::vector<ScratchTree::Held> ScratchTree::take_own(const WorkloadInfo& workload) {
  std::vector<Held> out;
  if (workload.option == nullptr) return out;
  for (const WorkloadId id : {workload.option->running, workload.option->held ? workload.option->parent : no_workload}) {
    const auto* entry = id == no_workload ? nullptr : tree_.find_reservation(id);
    if (entry == nullptr) continue;
    out.emplace_back(tree_.name(entry->queue), entry->reservation);
    tree_.release(id);
    if (room_) room_->release(id);
  }
  return out;
}

void ScratchTree::put_back(const std::vector<Held>& own) {
  for (const auto& [queue, reservation] : own) {
    tree_.reserve(queue, reservation);
    if (room_) room_->reserve(*reservation);
  }
}

ScratchTree::Nomination ScratchTree::nominate(const WorkloadInfo& workload) {
  const auto own = take_own(workload);
  Nomination out = nominate_here(workload);
  put_back(own);
  return out;
}

ScratchTree::Nomination ScratchTree::nominate_here(const WorkloadInfo& workload) {
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
  const ScanState last = last_scan(*state_, cluster_queue_, workload);
  std::vector<ScanState> scans{still_counts(*state_, last, workload) ? last : ScanState()};
  for (;;) {
    Assignment assignment;
    const ScanState* scan = scans.back().entries.empty() ? nullptr : &scans.back();
    nominator.nominate(workload, tree_.find_queue(cluster_queue_), scan, nullptr, assignment, out.targets);
    out.mode = assignment.mode;
    ScanState next = unfinished_scan(workload, assignment);
    out.assignment = std::move(assignment);
    if (out.mode == AssignmentMode::fit || !out.targets.empty()) return out;
    const bool again = std::any_of(scans.begin(), scans.end(), [&](const ScanState& s) { return s.entries == next.entries; });
    const bool left_there = state_->domain().rules() < admission::rules_with_scans_begun_anew;
    const bool as_it_was = left_there && scans.size() == 1 && next.entries == last.entries && shows_already(workload, out.assignment);
    if (again || as_it_was) return out;
    scans.push_back(std::move(next));
  }
}

PodPlacer ScratchTree::placer() { return {*room_, state_->domain().catalog()->settings, tree_, nullptr}; }

bool ScratchTree::implies_topology() { return room_ && placer().implies(tree_.queue(tree_.find_queue(cluster_queue_))); }

/// Are all checks that it would have to pass Ready, so that it does not hold quota beside the Option that runs?
bool ScratchTree::is_admitted_at_once(const WorkloadInfo& workload, const Assignment& assignment) {
  std::vector<PodSetReservation> assigned(1);
  for (const auto& p : assignment.pod_sets) {
    if (p.delayed && p.count > 0) return false;
    for (const auto& choice : p.choices) assigned.front().flavors.emplace_back(Symbol(), choice.flavor);
  }
  const auto required = required_checks(*tree_.queue(tree_.find_queue(cluster_queue_)).config, &assigned);
  const auto& ready = workload.ready_checks;
  return std::all_of(required.begin(), required.end(),
                     [&](const Symbol& c) { return std::find(ready.begin(), ready.end(), c) != ready.end(); });
}

bool ScratchTree::fits(const WorkloadInfo& workload) {
  const Nomination found = nominate(workload);
  if (found.mode != AssignmentMode::fit) return false;
  if (workload.option == nullptr || workload.option->running == no_workload) return true;
  if (is_admitted_at_once(workload, found.assignment)) return true;
  // CA-46: both hold quota until its checks are done, so there has to be room for both.
  const NodeIndex queue = tree_.find_queue(cluster_queue_);
  const auto& usage = found.assignment.usage;
  if (!std::all_of(usage.begin(), usage.end(), [&](const CellAmount& u) { return u.amount <= tree_.table().offered(queue, u.cell); }))
    return false;
  const auto& placement = found.assignment.placement;
  return !room_ || !placement || topology::TopologyRoom::fits(room_->free(), placement->holding);
}

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

void ScratchTree::follow_search(const WorkloadInfo& workload, const Assignment* placed, Search& out) {
  const Catalog& catalog = *state_->domain().catalog();
  const NodeIndex queue = tree_.find_queue(cluster_queue_);
  std::optional<PodPlacer> places;
  if (placed != nullptr) places.emplace(placer());
  Preemption preemption(tree_, catalog.settings, state_->domain().now(), state_->domain().context().repeated, places ? &*places : nullptr);
  preemption.follow(&out.steps);
  out.targets = preemption.find_targets({&workload, queue, out.requests, out.need, placed});
  keep_last_run(out.steps, !out.targets.empty());
  auto& table = tree_.table();
  for (const CellIndex c : out.need) out.freed.push_back(subtract(0, table.available(queue, c)));
  const auto mark = table.mark();
  for (const auto& s : out.steps)
    if (s.kind == PreemptionStep::Kind::taken) table.remove(s.queue, tree_.entry(s.entry).cells);
  for (std::size_t i = 0; i < out.need.size(); ++i) out.freed[i] = add(out.freed[i], table.available(queue, out.need[i]));
  table.rollback(mark);
}

ScratchTree::Search ScratchTree::search_for(const WorkloadInfo& workload, std::vector<CellAmount> requests, std::vector<CellIndex> need) {
  Search out{std::move(requests), std::move(need), {}, {}, {}};
  const auto own = take_own(workload);
  follow_search(workload, nullptr, out);
  put_back(own);
  return out;
}

std::optional<ScratchTree::Search> ScratchTree::search(const WorkloadInfo& workload) {
  const auto own = take_own(workload);
  const Nomination found = nominate_here(workload);
  std::optional<Search> out;
  if (found.mode == AssignmentMode::preempt && !found.targets.empty()) {
    out.emplace();
    out->requests = found.assignment.usage;
    for (const auto& p : found.assignment.pod_sets)
      for (const auto& c : p.choices)
        if (api_mode(c.mode) == AssignmentMode::preempt && std::find(out->need.begin(), out->need.end(), c.cell) == out->need.end())
          out->need.push_back(c.cell);
    const bool concerns_places = room_ && placer().concerns(found.assignment);
    follow_search(workload, concerns_places ? &found.assignment : nullptr, *out);
    out->targets = found.targets;
  }
  put_back(own);
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
