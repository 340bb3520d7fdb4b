// Preemption with fair sharing (base-admission §7.5).

#include <utility>

#include "admission/quota/fair_share.hpp"
#include "admission/scheduling/preemption.hpp"

namespace hindsight::admission {

/// One search: the incoming usage stays added to the preemptor's queue while victims are picked.
///
/// It works on the part of the tree that has candidates: their queues and the cohorts above them. Whatever else there is could only be
/// chosen to be pruned.
class FairSearch {
 public:
  explicit FairSearch(Preemption& preemption)
      : preemption_(preemption),
        tree_(preemption.tree_),
        table_(preemption.table_),
        settings_(preemption.settings_),
        preemptor_(*preemption.preemptor_),
        spots_(preemption.spots_),
        spot_of_(preemption.spot_of_) {
    spot_of_.resize(table_.nodes().size(), none);
  }
  ~FairSearch() {
    for (const Spot& s : spots_) spot_of_[s.node] = none;
    spots_.clear();
  }
  FairSearch(const FairSearch&) = delete;
  FairSearch& operator=(const FairSearch&) = delete;

  /// Offers the ranked holders of a queue as candidates; queues in ascending order, so that children stand in order of the tree.
  void offer(NodeIndex queue) {
    tree_.rank_holders(queue, preemption_.now_);
    Cursor c{queue, queue == preemptor_.queue ? no_node : NodeIndex{0}, 0, static_cast<std::uint32_t>(tree_.queue(queue).holders.size()),
             false};
    if (preemption_.settle(c)) spots_[spot(queue)].candidates = c;
  }

  [[nodiscard]] std::vector<Target> run() {
    if (spots_.empty()) return {};
    const QuotaTable::Mark start = table_.mark();
    table_.add(preemptor_.queue, preemptor_.requests);
    bool found = first_strategy();
    if (!found && settings_.fair_strategies.size() != 1) found = second_strategy();
    if (found) {
      table_.remove(preemptor_.queue, preemptor_.requests);
      preemption_.fill_back(true, targets_);
    } else {
      targets_.clear();
    }
    table_.rollback(start);
    return std::move(targets_);
  }

 private:
  using Cursor = Preemption::Cursor;
  using Spot = Preemption::Spot;
  static constexpr std::uint32_t none = Preemption::no_spot;
  static constexpr auto last_strategy = Settings::FairStrategy::less_than_initial_share;

  // ---- the part of the tree that has candidates -------------------------------------------------------------------------

  std::uint32_t spot(NodeIndex n) {
    if (spot_of_[n] != none) return spot_of_[n];
    const auto own = static_cast<std::uint32_t>(spots_.size());
    spot_of_[n] = own;
    spots_.emplace_back().node = n;
    if (table_.has_parent(n)) {
      const std::uint32_t above = spot(table_.parent(n));
      (spots_[above].first_child == none ? spots_[above].first_child : spots_[spots_[above].last_child].next_sibling) = own;
      spots_[above].last_child = own;
    }
    return own;
  }

  [[nodiscard]] bool has_candidates(const Spot& s) const { return s.candidates.queue != no_node; }
  [[nodiscard]] Spot& at(NodeIndex n) { return spots_[spot_of_[n]]; }
  [[nodiscard]] bool holds_preemptor(NodeIndex n) const { return n <= preemptor_.queue && preemptor_.queue < table_.node(n).end; }

  [[nodiscard]] const Share& share(Spot& s) {
    if (!s.share_known) s.share = share_of(tree_, s.node);
    s.share_known = true;
    return s.share;
  }

  // ---- which queue next ---------------------------------------------------------------------------------------------------

  /// The queue to take a victim from next; nullptr: there is none any more.
  [[nodiscard]] Spot* next_queue() {
    if (!table_.has_parent(preemptor_.queue)) {
      Spot& own = at(preemptor_.queue);
      return has_candidates(own) ? &own : nullptr;
    }
    NodeIndex n = preemptor_.queue;
    while (table_.has_parent(n)) n = table_.parent(n);
    Spot& root = at(n);
    while (!root.pruned) {
      if (Spot* queue = choose_below(root)) return queue;
    }
    return nullptr;
  }

  /// Prunes what can give nothing; nullptr: the cohort itself was pruned.
  [[nodiscard]] Spot* choose_below(Spot& start) {
    for (Spot* cohort = &start;;) {
      Spot* best_queue = nullptr;
      Spot* best_cohort = nullptr;
      for (std::uint32_t i = cohort->first_child; i != none; i = spots_[i].next_sibling) {
        Spot& s = spots_[i];
        if (s.pruned) continue;
        const bool is_queue = table_.node(s.node).is_queue;
        if (is_queue && !has_candidates(s)) {
          s.pruned = true;
        } else if (!share(s).borrowing && !holds_preemptor(s.node)) {
          preemption_.note_queue_passed(s.node, PreemptionStep::Passed::not_borrowing);
          s.pruned = true;
        } else if (!is_queue) {
          if (best_cohort == nullptr || compare(share(s), share(*best_cohort)) > 0) best_cohort = &s;
        } else if (best_queue == nullptr || higher(s, *best_queue)) {
          best_queue = &s;
        }
      }
      if (best_cohort == nullptr) {
        if (best_queue == nullptr) cohort->pruned = true;
        return best_queue;
      }
      if (best_queue != nullptr && compare(share(*best_cohort), share(*best_queue)) < 0) return best_queue;
      cohort = best_cohort;
    }
  }

  /// Has queue `a` the higher share, or the same and the better first candidate?
  [[nodiscard]] bool higher(Spot& a, Spot& b) {
    const auto order = compare(share(a), share(b));
    if (order != 0) return order > 0;
    const auto& first = preemption_.holder(a.candidates);
    const auto& second = preemption_.holder(b.candidates);
    // Within equals in `evicted` the preemptor's own queue comes last (§7.2).
    const bool one_is_own = a.node == preemptor_.queue || b.node == preemptor_.queue;
    if (first.evicted == second.evicted && one_is_own) return b.node == preemptor_.queue;
    return tree_.better_victim(first, second, preemption_.now_);
  }

  /// The children of the lowest common ancestor of the preemptor's queue and `target` (BA-123).
  struct Sides {
    NodeIndex preemptor = no_node;
    NodeIndex target = no_node;
  };
  [[nodiscard]] Sides sides(NodeIndex target) const {
    Sides s{preemptor_.queue, target};
    while (!holds_preemptor(table_.parent(s.target))) s.target = table_.parent(s.target);
    const NodeIndex ancestor = table_.parent(s.target);
    while (table_.parent(s.preemptor) != ancestor) s.preemptor = table_.parent(s.preemptor);
    return s;
  }

  // ---- victims --------------------------------------------------------------------------------------------------------------

  /// Takes the first candidate of a queue out of the list.
  [[nodiscard]] Cursor pop(Spot& queue) {
    const Cursor taken = queue.candidates;
    ++queue.candidates.position;
    if (!preemption_.settle(queue.candidates)) queue.candidates = {};
    return taken;
  }

  /// Makes a removed candidate a target; true when the preemptor fits now.
  [[nodiscard]] bool take(const Cursor& c, VictimReason reason) {
    for (NodeIndex n = c.queue; n != no_node; n = table_.parent(n)) at(n).share_known = false;
    targets_.push_back({preemption_.holder(c).entry, c.queue, reason});
    const QuotaTable::Mark mark = table_.mark();
    table_.remove(preemptor_.queue, preemptor_.requests);
    const bool fits = preemption_.fits(true);
    table_.rollback(mark);
    return fits;
  }

  [[nodiscard]] Settings::FairStrategy strategy() const {
    return settings_.fair_strategies.empty() ? Settings::FairStrategy::less_than_or_equal_to_final_share
                                             : settings_.fair_strategies.front();
  }
  [[nodiscard]] bool passes(const Share& preemptor_new, const Share& target_old, const Share& target_new) const {
    return strategy() == Settings::FairStrategy::less_than_or_equal_to_final_share ? compare(preemptor_new, target_new) <= 0
                                                                                   : compare(preemptor_new, target_old) < 0;
  }

  void note(bool taken, const Cursor& c, std::optional<PreemptionStep::Shares> shares = {}) const {
    if (preemption_.steps_ == nullptr) return;
    preemption_.steps_->push_back({.kind = taken ? PreemptionStep::Kind::taken : PreemptionStep::Kind::spared,
                                   .entry = preemption_.holder(c).entry,
                                   .queue = c.queue,
                                   .shares = std::move(shares)});
  }

  static void keep_for_retry(Spot& queue, const Cursor& c) {
    if (queue.retry.queue == no_node) queue.retry = c;
  }

  [[nodiscard]] bool first_strategy() {
    while (Spot* queue = next_queue()) {
      const bool own = queue->node == preemptor_.queue;
      // With what it asks for and without its own victims so far: they may bring it back to its nominal quota.
      const bool entitled = settings_.fair_sharing_preempt_within_nominal && table_.within_nominal(preemptor_.queue, preemptor_.need);
      if (own || entitled) {
        const Cursor c = pop(*queue);
        note(true, c);
        preemption_.remove(c);
        if (take(c, own ? VictimReason::in_cluster_queue : VictimReason::in_cohort_reclamation)) return true;
        continue;
      }
      const Sides s = sides(queue->node);
      const Share preemptor_new = share_of(tree_, s.preemptor);
      const Share target_old = share(at(s.target));
      if (preemptor_new.infinite() && !target_old.infinite()) {
        note(false, queue->candidates, PreemptionStep::Shares{s.preemptor, s.target, preemptor_new, target_old, {}, strategy()});
        keep_for_retry(*queue, queue->candidates);
        queue->candidates = {};
        continue;
      }
      while (has_candidates(*queue)) {
        const Cursor c = pop(*queue);
        const QuotaTable::Mark mark = table_.mark();
        preemption_.remove(c);
        const Share target_new = share_of(tree_, s.target);
        const bool may_go = passes(preemptor_new, target_old, target_new);
        note(may_go, c, PreemptionStep::Shares{s.preemptor, s.target, preemptor_new, target_old, target_new, strategy()});
        if (!may_go) {
          table_.rollback(mark);
          keep_for_retry(*queue, c);
          continue;
        }
        if (take(c, VictimReason::in_cohort_fair_sharing)) return true;
        break;  // the shares changed: choose a queue again (BA-124)
      }
    }
    return false;
  }

  /// LessThanInitialShare over what failed before, at most one victim of each queue (BA-121).
  [[nodiscard]] bool second_strategy() {
    for (Spot& s : spots_) {
      s.candidates = s.retry;
      s.pruned = false;
    }
    while (Spot* queue = next_queue()) {
      const Sides s = sides(queue->node);
      const Cursor c = queue->candidates;
      const Share preemptor_new = share_of(tree_, s.preemptor);
      const Share target_old = share(at(s.target));
      const bool may_go = compare(preemptor_new, target_old) < 0;
      if (preemption_.steps_ != nullptr) {
        const QuotaTable::Mark mark = table_.mark();
        preemption_.remove(c);
        const Share target_new = share_of(tree_, s.target);
        table_.rollback(mark);
        note(may_go, c, PreemptionStep::Shares{s.preemptor, s.target, preemptor_new, target_old, target_new, last_strategy});
      }
      if (may_go) {
        preemption_.remove(c);
        if (take(c, VictimReason::in_cohort_fair_sharing)) return true;
      }
      queue->pruned = true;
    }
    return false;
  }

  Preemption& preemption_;
  QuotaTree& tree_;
  QuotaTable& table_;
  const Settings& settings_;
  const Preemptor& preemptor_;
  std::vector<Spot>& spots_;
  std::vector<std::uint32_t>& spot_of_;
  std::vector<Target> targets_;
};

std::vector<Target> Preemption::fair_targets() {
  FairSearch search(*this);
  const bool own = config_->within_cluster_queue != PreemptionPolicy::never;
  if (!own) note_queue_passed(preemptor_->queue, PreemptionStep::Passed::within_never);
  if (config_->reclaim_within_cohort == PreemptionPolicy::never && table_.has_parent(preemptor_->queue))
    note_queue_passed(table_.parent(preemptor_->queue), PreemptionStep::Passed::reclaim_never);
  if (config_->reclaim_within_cohort == PreemptionPolicy::never || !table_.has_parent(preemptor_->queue)) {
    if (own) search.offer(preemptor_->queue);
    return search.run();
  }
  NodeIndex root = preemptor_->queue;  // whoever shares no more than hosts with it has no quota to give
  while (table_.has_parent(root)) root = table_.parent(root);
  for (NodeIndex n = root; n < table_.node(root).end; ++n) {
    const QuotaTable::Node& node = table_.node(n);
    if (!node.is_queue) continue;
    if (!node.active) {
      note_queue_passed(n, PreemptionStep::Passed::queue_inactive);
      continue;
    }
    if (n == preemptor_->queue) {
      if (own) search.offer(n);
    } else if (!table_.within_nominal(n, preemptor_->need)) {
      search.offer(n);
    } else {
      note_queue_passed(n, PreemptionStep::Passed::within_nominal);
    }
  }
  return search.run();
}

}  // namespace hindsight::admission
