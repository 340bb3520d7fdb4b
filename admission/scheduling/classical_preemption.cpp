// Preemption without fair sharing (base-admission §7.3, §7.4).

#include <algorithm>

#include "admission/scheduling/preemption.hpp"

namespace hindsight::admission {

void Preemption::list_cohort() {
  if (config_->reclaim_within_cohort == PreemptionPolicy::never) {
    if (table_.has_parent(preemptor_->queue)) note_queue_passed(table_.parent(preemptor_->queue), PreemptionStep::Passed::reclaim_never);
    return;
  }
  rest_.assign(preemptor_->requests.begin(), preemptor_->requests.end());
  bool advantage = table_.fits_in_quota(preemptor_->queue, rest_);
  NodeIndex visited = preemptor_->queue;
  for (NodeIndex ancestor = table_.parent(visited); ancestor != no_node; ancestor = table_.parent(ancestor)) {
    for (NodeIndex n = ancestor + 1; n < table_.node(ancestor).end;) {
      const QuotaTable::Node& node = table_.node(n);
      const bool inactive = node.is_queue && !node.active;
      if (n == visited || inactive || table_.within_nominal(n, preemptor_->need)) {
        if (n != visited) note_queue_passed(n, inactive ? PreemptionStep::Passed::queue_inactive : PreemptionStep::Passed::within_nominal);
        n = node.end;
        continue;
      }
      if (node.is_queue) list_candidates(n, ancestor, advantage, advantage ? hierarchy_ : priority_);
      ++n;
    }
    advantage = table_.fits_in_quota(ancestor, rest_) || advantage;
    visited = ancestor;
  }
}

bool Preemption::unusable_while_borrowing(const Cursor& c) const {
  if (c.common_ancestor == no_node || c.advantage) return false;
  if (config_->borrow_within_cohort == PreemptionPolicy::never) return true;
  const std::int64_t priority = holder(c).priority;
  return priority >= preemptor_->workload->priority || (config_->max_priority_threshold && priority > *config_->max_priority_threshold);
}

VictimReason Preemption::classical_reason(const Cursor& c) const {
  if (c.common_ancestor == no_node) return VictimReason::in_cluster_queue;
  if (c.advantage || unusable_while_borrowing(c)) return VictimReason::in_cohort_reclamation;
  return VictimReason::in_cohort_reclaim_while_borrowing;
}

/// Has this queue nothing to give any more in this run? What rules out a candidate rules out those behind it: priorities ascend, and
/// removals bring the queue and the cohorts above it only closer to their nominal quota.
bool Preemption::exhausted(const Cursor& c, bool allow_borrowing) const {
  if (c.common_ancestor == no_node) return false;
  if (allow_borrowing && unusable_while_borrowing(c)) return true;
  for (NodeIndex n = c.queue; n != c.common_ancestor; n = table_.parent(n))
    if (table_.within_nominal(n, preemptor_->need)) return true;
  return false;
}

bool Preemption::walk(const std::vector<Cursor>& list, bool allow_borrowing, std::vector<Target>& targets) {
  const auto worse = [this](const Cursor& a, const Cursor& b) { return tree_.better_victim(holder(b), holder(a), now_); };
  heap_ = list;
  std::make_heap(heap_.begin(), heap_.end(), worse);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    Cursor& c = heap_.back();
    if (exhausted(c, allow_borrowing)) {
      if (steps_ != nullptr)
        steps_->push_back({.kind = PreemptionStep::Kind::exhausted,
                           .entry = holder(c).entry,
                           .queue = c.queue,
                           .unusable = allow_borrowing && unusable_while_borrowing(c)});
      heap_.pop_back();
      continue;
    }
    if (steps_ != nullptr) steps_->push_back({.kind = PreemptionStep::Kind::taken, .entry = holder(c).entry, .queue = c.queue});
    remove(c);
    targets.push_back({holder(c).entry, c.queue, classical_reason(c)});
    if (fits(allow_borrowing)) return true;
    ++c.position;
    if (settle(c)) {
      std::push_heap(heap_.begin(), heap_.end(), worse);
    } else {
      heap_.pop_back();
    }
  }
  return false;
}

void Preemption::classical_run(bool allow_borrowing, std::vector<Target>& targets) {
  if (steps_ != nullptr) steps_->push_back({.kind = PreemptionStep::Kind::begins, .borrowing = allow_borrowing});
  const QuotaTable::Mark mark = table_.mark();
  bool found = false;
  for (const auto* list : {&hierarchy_, &priority_, &same_queue_}) found = found || walk(list->evicted, allow_borrowing, targets);
  for (const auto* list : {&hierarchy_, &priority_, &same_queue_}) found = found || walk(list->others, allow_borrowing, targets);
  if (found) {
    fill_back(allow_borrowing, targets);
  } else {
    targets.clear();
  }
  table_.rollback(mark);
  undo_moves();
}

std::vector<Target> Preemption::classical_targets() {
  list_cohort();
  if (config_->within_cluster_queue != PreemptionPolicy::never)
    list_candidates(preemptor_->queue, no_node, false, same_queue_);
  else
    note_queue_passed(preemptor_->queue, PreemptionStep::Passed::within_never);

  std::vector<Target> targets;
  const bool cohort_has_none = hierarchy_.empty() && priority_.empty();
  if (cohort_has_none && same_queue_.empty()) return targets;
  const bool never_while_borrowing = config_->borrow_within_cohort == PreemptionPolicy::never;
  const bool under_nominal = std::all_of(preemptor_->need.begin(), preemptor_->need.end(), [&](CellIndex c) {
    return table_.cell(preemptor_->queue, c).usage < table_.cell(preemptor_->queue, c).subtree;
  });
  if (cohort_has_none || (never_while_borrowing && !under_nominal)) {
    classical_run(true, targets);
    return targets;
  }
  const bool borrow_first = !(never_while_borrowing && hierarchy_.empty());
  classical_run(borrow_first, targets);
  if (targets.empty()) classical_run(!borrow_first, targets);
  return targets;
}

}  // namespace hindsight::admission
