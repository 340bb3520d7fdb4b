#include "admission/scheduling/preemption.hpp"

#include <algorithm>

namespace hindsight::admission {

std::vector<Target> Preemption::find_targets(const Preemptor& preemptor) {
  begin(preemptor);
  auto out = settings_.fair_sharing ? fair_targets() : classical_targets();
  undo_moves();
  return out;
}

void Preemption::move_pods(std::uint32_t entry, int sign) {
  if (preemptor_->placed == nullptr) return;
  const WorkloadId id = tree_.entry(entry).reservation->workload->id;
  if (!placer_->room().take(placer_->room().free(), id, sign)) return;
  moved_.emplace_back(id, sign);
  has_places_.reset();
}

void Preemption::undo_moves() {
  for (; !moved_.empty(); moved_.pop_back()) (void)placer_->room().take(placer_->room().free(), moved_.back().first, -moved_.back().second);
  has_places_.reset();
}

/// To look for places costs far more than to count quota, so it is done only after something has moved.
bool Preemption::has_places() const {
  if (preemptor_->placed == nullptr) return true;
  if (!has_places_)
    has_places_ = placer_->fits(*preemptor_->workload, tree_.queue(preemptor_->queue), *preemptor_->placed, placer_->room().free());
  return *has_places_;
}

void Preemption::begin(const Preemptor& preemptor) {
  preemptor_ = &preemptor;
  config_ = tree_.queue(preemptor.queue).config.get();
  own_slice_ = tree_.entry_of(preemptor.workload->replaces);
  family_ = preemptor.workload->option.get();
  left_alone_.clear();
  if (repeated_ != nullptr) left_alone_ = repeated_->left_alone_by(preemptor.workload->uid);
  need_mask_ = 0;
  for (const CellIndex c : preemptor.need) need_mask_ |= std::uint64_t{1} << (c % 64);
  hierarchy_.clear();
  priority_.clear();
  same_queue_.clear();
}

bool Preemption::uses_need(const QuotaTree::Holder& holder) const {
  if ((holder.cell_mask & need_mask_) == 0) return false;
  if (table_.columns().size() <= 64) return true;  // the mask is exact
  const auto& cells = tree_.entry(holder.entry).cells;
  const auto& need = preemptor_->need;
  return std::any_of(cells.begin(), cells.end(),
                     [&](const CellAmount& a) { return std::find(need.begin(), need.end(), a.cell) != need.end(); });
}

/// One that is evicted already costs nothing: it is on its way out whatever is decided.
bool Preemption::is_left_alone(const QuotaTree::Holder& holder) const {
  if (left_alone_.empty() || holder.evicted) return false;
  const CompactText& uid = tree_.entry(holder.entry).reservation->workload->uid;
  return std::any_of(left_alone_.begin(), left_alone_.end(), [&](const auto* c) { return c->victim == uid; });
}

/// What its family holds is no victim of an Option (CA-76).
bool Preemption::is_of_family(const QuotaTree::Holder& holder) const {
  if (family_ == nullptr) return false;
  const auto* other = tree_.entry(holder.entry).reservation->workload->option.get();
  return other != nullptr && other->parent == family_->parent;
}

/// Of one that the policy would accept. `none`: it is a candidate.
PreemptionStep::Passed Preemption::passed_for(const QuotaTree::Holder& h) const {
  using enum PreemptionStep::Passed;
  if (h.removed) return gone;
  if (h.entry == own_slice_) return replaced_slice;
  if (!uses_need(h)) return other_resources;
  if (is_left_alone(h)) return left_alone;
  return is_of_family(h) ? family : none;
}

bool Preemption::settle(Cursor& c) const {
  using Passed = PreemptionStep::Passed;
  const PreemptionPolicy policy = c.common_ancestor == no_node ? config_->within_cluster_queue : config_->reclaim_within_cohort;
  const std::int64_t priority = preemptor_->workload->priority;
  const auto& holders = tree_.queue(c.queue).holders;
  for (; c.position < c.end; ++c.position) {
    const QuotaTree::Holder& h = holders[c.position];
    if (policy != PreemptionPolicy::any) {
      if (h.priority > priority || (h.priority == priority && policy == PreemptionPolicy::lower_priority)) {
        if (h.evicted || !tree_.queue(c.queue).local_usage.empty()) {
          note_passed(c, Passed::priority);
          continue;
        }
        note_passed(c, Passed::priority, c.end - c.position - 1);
        break;  // behind the evicted ones priorities ascend: there is nothing more
      }
      if (h.priority == priority && preemptor_->workload->queue_time >= h.queue_time) {
        note_passed(c, Passed::not_newer);
        continue;
      }
    }
    const Passed why = passed_for(h);
    if (why == Passed::none) return true;
    note_passed(c, why);
  }
  return false;
}

void Preemption::list_candidates(NodeIndex queue, NodeIndex common_ancestor, bool advantage, CandidateList& list) {
  tree_.rank_holders(queue, now_);
  const auto& holders = tree_.queue(queue).holders;
  const auto size = static_cast<std::uint32_t>(holders.size());
  std::uint32_t evicted = 0;
  while (evicted < size && holders[evicted].evicted) ++evicted;
  Cursor first{queue, common_ancestor, 0, evicted, advantage};
  if (settle(first)) list.evicted.push_back(first);
  Cursor second{queue, common_ancestor, evicted, size, advantage};
  if (settle(second)) list.others.push_back(second);
}

bool Preemption::fits(bool allow_borrowing) const {
  return std::all_of(preemptor_->requests.begin(), preemptor_->requests.end(),
                     [&](const CellAmount& r) {
                       return (allow_borrowing || !table_.borrowing_with(preemptor_->queue, r.cell, r.amount)) &&
                              r.amount <= table_.offered(preemptor_->queue, r.cell);
                     }) &&
         has_places();
}

void Preemption::fill_back(bool allow_borrowing, std::vector<Target>& targets) {
  for (std::size_t i = targets.size() - 1; i-- > 0;) {
    const auto& cells = tree_.entry(targets[i].entry).cells;
    table_.add(targets[i].queue, cells);
    move_pods(targets[i].entry, 1);
    const std::uint32_t entry = targets[i].entry;
    if (fits(allow_borrowing)) {
      if (steps_ != nullptr) steps_->push_back({.kind = PreemptionStep::Kind::put_back, .entry = entry, .queue = targets[i].queue});
      targets[i] = targets.back();  // D6: the last takes its slot
      targets.pop_back();
    } else {
      table_.remove(targets[i].queue, cells);
      move_pods(entry, -1);
    }
  }
}

}  // namespace hindsight::admission
