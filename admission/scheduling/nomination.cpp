#include "admission/scheduling/nomination.hpp"

#include <algorithm>
#include <utility>

#include "admission/scheduling/decision_trace.hpp"
#include "admission/scheduling/sizing.hpp"

namespace hindsight::admission {

bool outdated(const ScanState& scan, const WorkloadInfo& workload, std::uint64_t cycle, std::uint64_t generation,
              const Settings& settings) {
  if (settings.preserve_scan_progress) {
    const bool both_known = scan.equivalence_hash != 0 && workload.equivalence_hash != 0;
    if (both_known && scan.equivalence_hash != workload.equivalence_hash) return true;
    if (cycle - scan.cycle <= 1) return false;
  }
  return generation > scan.generation;
}

ScanState unfinished_scan(const WorkloadInfo& workload, const Assignment& assignment) {
  ScanState scan;
  for (const PodSetAssignment& p : assignment.pod_sets)
    for (const ResourceChoice& c : p.choices)
      if (c.tried_index != -1) scan.entries.push_back({workload.pod_sets[p.pod_set].name, c.resource, c.tried_index});
  return scan;
}

void Nominator::nominate(const WorkloadInfo& workload, NodeIndex queue, const ScanState* scan, const Assignment* pin,
                         Assignment& assignment, std::vector<Target>& targets) {
  assigner_.begin(workload, queue, scan, pin);
  assign(workload, queue, {}, Sizes::own, assignment);
  if (!workable(workload, queue, assignment, targets) && settings_.partial_admission) reduce(workload, queue, assignment, targets);
  if (!targets.empty() && upgrade_limit(workload, *tree_.queue(queue).config) == UpgradeFungibility::no_preemption)
    rule_out(assignment, targets);
  reserve_places(workload, queue, assignment, targets);
}

/// CA-146: the flavors would do, but others would have to leave their places.
void Nominator::rule_out(Assignment& assignment, std::vector<Target>& targets) {
  targets.clear();
  assignment.mode = AssignmentMode::no_fit;
  assignment.no_fit_reason = NoFitReason::waiting_for_quota;
  assignment.placement.reset();
  for (PodSetAssignment& p : assignment.pod_sets) {
    if (p.mode != AssignmentMode::preempt) continue;
    p.mode = AssignmentMode::no_fit;
    for (const ResourceChoice& c : p.choices) {
      const auto told = [&](const Finding& f) { return f.kind == Finding::Kind::upgrade_preempts && f.flavor == c.flavor; };
      if (std::none_of(p.findings.begin(), p.findings.end(), told))
        p.findings.push_back({Finding::Kind::upgrade_preempts, c.resource, c.flavor});
    }
  }
}

void Nominator::assign(const WorkloadInfo& workload, NodeIndex queue, std::span<const std::int32_t> counts, Sizes sizes, Assignment& out) {
  using With = TracedAttempt::With;
  if (trace_ != nullptr)
    trace_->attempt_begins(workload, counts, sizes == Sizes::other ? With::other_sizes : counts.empty() ? With::all : With::fewer_pods);
  assigner_.assign(counts, out);
  if (placer_ != nullptr) placer_->settle(workload, tree_.queue(queue), out);
  if (trace_ != nullptr) trace_->attempt_ends(workload, out, placer_ == nullptr ? nullptr : &placer_->room());
}

/// The places that one who has to wait for others will have (2724 §3.13 step 5): nobody behind it is to take them. Without victims it
/// has those that it would have if all were gone (PodPlacer::settle).
void Nominator::reserve_places(const WorkloadInfo& workload, NodeIndex queue, Assignment& assignment, const std::vector<Target>& targets) {
  if (targets.empty() || !assignment.placement) return;
  topology::TopologyRoom& room = placer_->room();
  const auto move = [&](int sign) {
    for (const Target& t : targets) room.take(room.free(), tree_.entry(t.entry).reservation->workload->id, sign);
  };
  move(-1);
  placer_->place(workload, tree_.queue(queue), assignment, room.free());
  move(1);
}

bool Nominator::workable(const WorkloadInfo& workload, NodeIndex queue, const Assignment& assignment, std::vector<Target>& targets) {
  targets.clear();
  if (assignment.mode == AssignmentMode::preempt) targets = targets_for(workload, queue, assignment);
  return assignment.mode == AssignmentMode::fit || !targets.empty();
}

std::vector<Target> Nominator::targets_for(const WorkloadInfo& workload, NodeIndex queue, const Assignment& assignment) {
  need_.clear();
  for (const PodSetAssignment& p : assignment.pod_sets) {
    for (const ResourceChoice& c : p.choices) {
      if (api_mode(c.mode) == AssignmentMode::preempt && std::find(need_.begin(), need_.end(), c.cell) == need_.end())
        need_.push_back(c.cell);
    }
  }
  const bool placed = placer_ != nullptr && placer_->concerns(assignment);
  if (assignment.usage.size() == 1 && !placed) {
    // The simulation of the only pair asked the same question.
    if (const auto* known = assigner_.simulated(assignment.usage.front().cell, assignment.usage.front().amount)) return *known;
  }
  const Preemptor preemptor{&workload, queue, assignment.usage, need_, placed ? &assignment : nullptr};
  auto targets = preemption_.find_targets(preemptor);
  if (trace_ != nullptr) trace_->search(tree_, preemptor, targets);
  return targets;
}

SizingPlan Nominator::size(const WorkloadInfo& workload, NodeIndex queue, bool alone, Assignment& assignment,
                           std::vector<Target>& targets) {
  const bool fits = assignment.mode == AssignmentMode::fit;
  if (workload.sizing == nullptr || (fits && !(alone && workload.sizing->policy == ResourcePolicy::fit))) return {};
  Assignment probe;
  const auto ask = [&](const WorkloadInfo& sized) {
    assigner_.begin(sized, queue, nullptr, nullptr);
    assign(sized, queue, {}, Sizes::other, probe);
    return probe.mode == AssignmentMode::fit;
  };
  SizeSearch search(workload, settings_);
  auto found = fits ? search.grow(ask) : search.shrink(ask);
  if (!found || !ask(found->workload)) return {};
  assignment = std::move(probe);
  targets.clear();
  return std::move(found->plan);
}

void Nominator::reduce(const WorkloadInfo& workload, NodeIndex queue, Assignment& assignment, std::vector<Target>& targets) {
  const auto& pod_sets = workload.pod_sets;
  const auto delta = [](const PodSetInfo& p) { return p.min_count >= 0 ? std::max(0, p.count - p.min_count) : 0; };
  std::int64_t total = 0;
  for (const PodSetInfo& p : pod_sets) total += delta(p);
  if (total == 0) return;

  Assignment probe;
  std::vector<Target> probe_targets;
  Assignment found;
  std::vector<Target> found_targets;
  std::vector<std::int32_t> counts(pod_sets.size());
  bool any = false;
  std::int64_t low = 0;
  std::int64_t high = total + 1;
  while (low < high) {
    const std::int64_t i = low + (high - low) / 2;
    for (std::size_t p = 0; p < pod_sets.size(); ++p)
      counts[p] = pod_sets[p].count - static_cast<std::int32_t>(delta(pod_sets[p]) * i / total);
    assign(workload, queue, counts, Sizes::own, probe);
    if (workable(workload, queue, probe, probe_targets)) {
      any = true;
      std::swap(found, probe);
      found_targets.swap(probe_targets);
      high = i;
    } else {
      low = i + 1;
    }
  }
  if (!any) return;
  assignment = std::move(found);
  targets = std::move(found_targets);
}

}  // namespace hindsight::admission
