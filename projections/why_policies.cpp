// Which change of preemption policy would let a Workload find victims.

#include <algorithm>
#include <limits>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/why_preemption.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using Edits = std::vector<PolicyEdit>;

/// Weaker ones first.
Edits looser_within(const QueueConfig& q) {
  Edits out;
  for (const auto policy : {PreemptionPolicy::lower_priority, PreemptionPolicy::lower_or_newer_equal_priority})
    if (policy > q.within_cluster_queue) out.push_back({.within_cluster_queue = policy});
  return out;
}

Edits looser_reclaim(const QueueConfig& q) {
  Edits out;
  if (q.cohort.empty()) return out;
  for (const auto policy : {PreemptionPolicy::lower_priority, PreemptionPolicy::any})
    if (policy > q.reclaim_within_cohort) out.push_back({.reclaim_within_cohort = policy});
  return out;
}

/// With fair sharing it does not count.
Edits looser_borrowing(const QueueConfig& q, const Settings& settings, std::int64_t priority) {
  if (q.cohort.empty() || settings.fair_sharing) return {};
  if (q.borrow_within_cohort == PreemptionPolicy::never) {
    PolicyEdit out{.borrow_within_cohort = PreemptionPolicy::lower_priority};
    return {out};
  }
  const auto all_lower = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(priority - 1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  if (!q.max_priority_threshold || *q.max_priority_threshold >= all_lower) return {};
  PolicyEdit out;
  out.max_priority_threshold = all_lower;
  return {out};
}

PolicyEdit both(PolicyEdit a, const PolicyEdit& b) {
  if (b.within_cluster_queue) a.within_cluster_queue = b.within_cluster_queue;
  if (b.reclaim_within_cohort) a.reclaim_within_cohort = b.reclaim_within_cohort;
  if (b.borrow_within_cohort) a.borrow_within_cohort = b.borrow_within_cohort;
  if (b.max_priority_threshold) a.max_priority_threshold = b.max_priority_threshold;
  return a;
}

Edits pairs_of(const Edits& a, const Edits& b) {
  Edits out;
  for (const auto& x : a)
    for (const auto& y : b) out.push_back(both(x, y));
  return out;
}

PolicyChange change_of(const PolicyEdit& edit, const QueueConfig& q) {
  PolicyChange out{edit, {}};
  const auto policy = [&](const char* setting, const std::optional<PreemptionPolicy>& to, PreemptionPolicy from) {
    if (to) out.settings.push_back({setting, std::string(events::api_name(from)), std::string(events::api_name(*to))});
  };
  policy("withinClusterQueue", edit.within_cluster_queue, q.within_cluster_queue);
  policy("reclaimWithinCohort", edit.reclaim_within_cohort, q.reclaim_within_cohort);
  policy("borrowWithinCohort.policy", edit.borrow_within_cohort, q.borrow_within_cohort);
  if (edit.max_priority_threshold)
    out.settings.push_back({"borrowWithinCohort.maxPriorityThreshold", std::to_string(q.max_priority_threshold.value_or(0)),
                            std::to_string(*edit.max_priority_threshold)});
  return out;
}

}  // namespace

std::vector<PolicyChange> find_policy_changes(const StateView& state, const WorkloadInfo& w, Symbol cluster_queue) {
  const auto& catalog = *state.domain().catalog();
  const auto* queue = catalog.queue(cluster_queue);
  if (queue == nullptr) return {};
  const auto finds_victims = [&](const PolicyEdit& edit) {
    // reclaimWithinCohort Never with another borrowWithinCohort is refused.
    const bool reclaims = edit.reclaim_within_cohort.value_or(queue->reclaim_within_cohort) != PreemptionPolicy::never;
    if (edit.borrow_within_cohort && !reclaims) return false;
    auto scratch = ScratchTree::of(state, cluster_queue, {}, nullptr, &edit);
    return scratch && !scratch->victims_of(w).empty();
  };
  const Edits within = looser_within(*queue), reclaim = looser_reclaim(*queue),
              borrowing = looser_borrowing(*queue, catalog.settings, w.priority);
  if (within.empty() && reclaim.empty() && borrowing.empty()) return {};
  PolicyEdit all;
  for (const auto* list : {&within, &reclaim, &borrowing})
    if (!list->empty()) all = both(all, list->back());
  if (finds_victims({}) || !finds_victims(all)) return {};  // it is no policy that keeps it from preempting
  std::vector<PolicyChange> out;
  const auto tell_first = [&](const Edits& edits) {
    const auto enough = std::find_if(edits.begin(), edits.end(), finds_victims);
    if (enough != edits.end()) out.push_back(change_of(*enough, *queue));
  };
  for (const auto* list : {&within, &reclaim, &borrowing}) tell_first(*list);
  if (out.empty()) tell_first(pairs_of(reclaim, borrowing));
  if (out.empty()) tell_first(pairs_of(within, reclaim));
  if (out.empty()) tell_first(pairs_of(within, borrowing));
  if (out.empty()) tell_first(pairs_of(pairs_of(within, reclaim), borrowing));
  return out;
}

}  // namespace hindsight::projections
