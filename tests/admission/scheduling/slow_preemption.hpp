#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "admission/quota/fair_share.hpp"
#include "admission/scheduling/preemption.hpp"

namespace hindsight::admission::testing {

/// §7.1 to §7.5 word for word: all candidates are listed and sorted, every share is computed when it is asked for, nothing is remembered.
class SlowPreemption {
 public:
  SlowPreemption(QuotaTree& tree, const Settings& settings, Time now) : tree_(tree), table_(tree.table()), settings_(settings), now_(now) {}

  std::vector<Target> find_targets(const Preemptor& p) {
    p_ = &p;
    config_ = tree_.queue(p.queue).config.get();
    return settings_.fair_sharing ? fair() : classical();
  }

 private:
  struct Candidate {
    const WorkloadInfo* workload = nullptr;
    std::uint32_t entry = 0;
    NodeIndex queue = no_node;
    NodeIndex common_ancestor = no_node;
    VictimReason reason = VictimReason::in_cluster_queue;
    bool no_borrow = false;
  };
  using List = std::vector<Candidate>;

  [[nodiscard]] Time reserved(const Candidate& c) const { return c.workload->reserved_at.is_set() ? c.workload->reserved_at : now_; }
  [[nodiscard]] bool better(const Candidate& a, const Candidate& b) const {  // §7.2
    if (a.workload->evicted != b.workload->evicted) return a.workload->evicted;
    const bool a_own = a.queue == p_->queue, b_own = b.queue == p_->queue;
    if (a_own != b_own) return b_own;
    if (a.workload->priority != b.workload->priority) return a.workload->priority < b.workload->priority;
    if (reserved(a) != reserved(b)) return reserved(a) > reserved(b);
    return a.workload->uid < b.workload->uid;
  }
  void sort(List& list) const {
    std::sort(list.begin(), list.end(), [this](const Candidate& a, const Candidate& b) { return better(a, b); });
  }

  void collect(NodeIndex queue, PreemptionPolicy policy, List& out) const {  // §7.1
    for (const auto& h : tree_.queue(queue).holders) {
      const auto& e = tree_.entry(h.entry);
      const WorkloadInfo& w = *e.reservation->workload;
      const WorkloadInfo& preemptor = *p_->workload;
      bool accepted = false;
      switch (policy) {
        case PreemptionPolicy::never:
          break;
        case PreemptionPolicy::lower_priority:
          accepted = preemptor.priority > w.priority;
          break;
        case PreemptionPolicy::lower_or_newer_equal_priority:
          accepted = preemptor.priority > w.priority || (preemptor.priority == w.priority && preemptor.queue_time < w.queue_time);
          break;
        case PreemptionPolicy::any:
          accepted = true;
          break;
      }
      const bool uses = std::any_of(e.cells.begin(), e.cells.end(), [&](const CellAmount& a) {
        return std::find(p_->need.begin(), p_->need.end(), a.cell) != p_->need.end();
      });
      if (accepted && uses && !h.removed) out.push_back({&w, h.entry, queue});
    }
  }

  [[nodiscard]] bool fits(bool allow_borrowing) const {
    for (const CellAmount& r : p_->requests) {
      if (!allow_borrowing && table_.borrowing_with(p_->queue, r.cell, r.amount)) return false;
      if (r.amount > std::max<Amount>(0, table_.available(p_->queue, r.cell))) return false;
    }
    return true;
  }
  void remove(const Candidate& c) { table_.remove(c.queue, tree_.entry(c.entry).cells); }
  void fill_back(bool allow_borrowing, std::vector<Target>& targets) {
    for (int i = static_cast<int>(targets.size()) - 2; i >= 0; --i) {
      Target& t = targets[static_cast<std::size_t>(i)];
      table_.add(t.queue, tree_.entry(t.entry).cells);
      if (fits(allow_borrowing)) {
        t = targets.back();
        targets.pop_back();
      } else {
        table_.remove(t.queue, tree_.entry(t.entry).cells);
      }
    }
  }

  // ---- §7.3, §7.4

  std::vector<Target> classical() {
    List hierarchy, priority, same_queue;
    collect(p_->queue, config_->within_cluster_queue, same_queue);
    if (config_->reclaim_within_cohort != PreemptionPolicy::never) {
      std::vector<CellAmount> rest(p_->requests.begin(), p_->requests.end());
      bool advantage = table_.fits_in_quota(p_->queue, rest);
      NodeIndex visited = p_->queue;
      for (NodeIndex a = table_.parent(visited); a != no_node; a = table_.parent(a)) {
        List found;
        collect_below(a, visited, found);
        for (Candidate& c : found) {
          c.common_ancestor = a;
          c.reason = VictimReason::in_cohort_reclamation;
          if (advantage) continue;
          c.no_borrow = config_->borrow_within_cohort == PreemptionPolicy::never || c.workload->priority >= p_->workload->priority ||
                        (config_->max_priority_threshold && c.workload->priority > *config_->max_priority_threshold);
          if (!c.no_borrow) c.reason = VictimReason::in_cohort_reclaim_while_borrowing;
        }
        List& list = advantage ? hierarchy : priority;
        list.insert(list.end(), found.begin(), found.end());
        const bool fit = table_.fits_in_quota(a, rest);
        advantage = advantage || fit;
        visited = a;
      }
    }
    for (auto* list : {&hierarchy, &priority, &same_queue}) sort(*list);
    List sequence;
    for (const bool evicted : {true, false})
      for (auto* list : {&hierarchy, &priority, &same_queue})
        for (const Candidate& c : *list)
          if (c.workload->evicted == evicted) sequence.push_back(c);

    bool strictly_under = true;
    for (const CellIndex c : p_->need)
      strictly_under = strictly_under && table_.cell(p_->queue, c).usage < table_.cell(p_->queue, c).subtree;
    std::vector<bool> runs{true, false};
    const bool never = config_->borrow_within_cohort == PreemptionPolicy::never;
    if ((hierarchy.empty() && priority.empty()) || (never && !strictly_under)) {
      runs = {true};
    } else if (never && hierarchy.empty()) {
      runs = {false, true};
    }
    for (const bool borrowing : runs) {
      if (auto targets = run(sequence, borrowing); !targets.empty()) return targets;
    }
    return {};
  }

  void collect_below(NodeIndex cohort, NodeIndex visited, List& out) const {
    for (NodeIndex n = cohort + 1; n < table_.node(cohort).end; n = table_.node(n).end) {
      if (n == visited || n == p_->queue || table_.within_nominal(n, p_->need)) continue;
      if (!table_.node(n).is_queue) {
        collect_below(n, visited, out);
      } else if (table_.node(n).active) {
        collect(n, config_->reclaim_within_cohort, out);
      }
    }
  }

  std::vector<Target> run(const List& sequence, bool borrowing) {
    std::vector<Target> targets;
    const auto mark = table_.mark();
    for (const Candidate& c : sequence) {
      if (borrowing && c.no_borrow) continue;
      bool stop = false;
      if (c.queue != p_->queue)
        for (NodeIndex n = c.queue; n != c.common_ancestor; n = table_.parent(n)) stop = stop || table_.within_nominal(n, p_->need);
      if (stop) continue;
      remove(c);
      targets.push_back({c.entry, c.queue, c.reason});
      if (!fits(borrowing)) continue;
      fill_back(borrowing, targets);
      table_.rollback(mark);
      return targets;
    }
    table_.rollback(mark);
    return {};
  }

  // ---- §7.5

  std::vector<Target> fair() {
    List candidates;
    collect(p_->queue, config_->within_cluster_queue, candidates);
    if (table_.has_parent(p_->queue))
      for (NodeIndex n = 0; n < table_.nodes().size(); ++n)
        if (table_.node(n).is_queue && table_.node(n).active && n != p_->queue && !table_.within_nominal(n, p_->need))
          collect(n, config_->reclaim_within_cohort, candidates);
    sort(candidates);

    const auto mark = table_.mark();
    table_.add(p_->queue, p_->requests);
    std::vector<Target> targets;
    List retry;
    bool found = first_pass(candidates, targets, retry);
    if (!found && settings_.fair_strategies.size() != 1) found = second_pass(retry, targets);
    if (found) {
      table_.remove(p_->queue, p_->requests);
      fill_back(true, targets);
    } else {
      targets.clear();
    }
    table_.rollback(mark);
    return targets;
  }

  [[nodiscard]] bool above_preemptor(NodeIndex n) const { return n <= p_->queue && p_->queue < table_.node(n).end; }

  NodeIndex choose(std::map<NodeIndex, List>& left, std::set<NodeIndex>& pruned) {
    if (!table_.has_parent(p_->queue)) return left[p_->queue].empty() ? no_node : p_->queue;
    while (!pruned.contains(0)) {
      NodeIndex cohort = 0;
      for (bool descend = true; descend;) {
        descend = false;
        NodeIndex queue = no_node, below = no_node;
        for (NodeIndex n = cohort + 1; n < table_.node(cohort).end; n = table_.node(n).end) {
          if (pruned.contains(n)) continue;
          const Share share = share_of(tree_, n);
          if (table_.node(n).is_queue) {
            if (left[n].empty() || (!share.borrowing && n != p_->queue)) {
              pruned.insert(n);
              continue;
            }
            const auto order = queue == no_node ? std::weak_ordering::greater : compare(share, share_of(tree_, queue));
            if (order > 0 || (order == 0 && better(left[n].front(), left[queue].front()))) queue = n;
          } else {
            if (!share.borrowing && !above_preemptor(n)) {
              pruned.insert(n);
              continue;
            }
            if (below == no_node || compare(share, share_of(tree_, below)) > 0) below = n;
          }
        }
        if (queue == no_node && below == no_node) {
          pruned.insert(cohort);
        } else if (below != no_node && (queue == no_node || compare(share_of(tree_, below), share_of(tree_, queue)) >= 0)) {
          cohort = below;
          descend = true;
        } else {
          return queue;
        }
      }
    }
    return no_node;
  }

  bool test_without_incoming() {
    const auto mark = table_.mark();
    table_.remove(p_->queue, p_->requests);
    const bool fit = fits(true);
    table_.rollback(mark);
    return fit;
  }

  std::pair<NodeIndex, NodeIndex> sides(NodeIndex target) const {
    NodeIndex t = target, p = p_->queue;
    while (!above_preemptor(table_.parent(t))) t = table_.parent(t);
    while (table_.parent(p) != table_.parent(t)) p = table_.parent(p);
    return {p, t};
  }

  bool first_pass(const List& candidates, std::vector<Target>& targets, List& retry) {
    std::map<NodeIndex, List> left;
    for (const Candidate& c : candidates) left[c.queue].push_back(c);
    std::set<NodeIndex> pruned;
    for (NodeIndex q = choose(left, pruned); q != no_node; q = choose(left, pruned)) {
      const bool entitled = settings_.fair_sharing_preempt_within_nominal && table_.within_nominal(p_->queue, p_->need);
      const auto take = [&](VictimReason reason) {
        const Candidate c = left[q].front();
        left[q].erase(left[q].begin());
        remove(c);
        targets.push_back({c.entry, c.queue, reason});
        return test_without_incoming();
      };
      if (q == p_->queue || entitled) {
        if (take(q == p_->queue ? VictimReason::in_cluster_queue : VictimReason::in_cohort_reclamation)) return true;
        continue;
      }
      const auto [p, t] = sides(q);
      const Share p_new = share_of(tree_, p), t_old = share_of(tree_, t);
      while (!left[q].empty()) {
        const auto mark = table_.mark();
        remove(left[q].front());
        const Share t_new = share_of(tree_, t);
        table_.rollback(mark);
        const bool initial =
            !settings_.fair_strategies.empty() && settings_.fair_strategies[0] == Settings::FairStrategy::less_than_initial_share;
        const bool pass = (initial ? compare(p_new, t_old) < 0 : compare(p_new, t_new) <= 0) && !(p_new.infinite() && !t_old.infinite());
        if (pass) {
          if (take(VictimReason::in_cohort_fair_sharing)) return true;
          break;
        }
        retry.push_back(left[q].front());
        left[q].erase(left[q].begin());
      }
    }
    return false;
  }

  bool second_pass(const List& retry, std::vector<Target>& targets) {
    std::map<NodeIndex, List> left;
    for (const Candidate& c : retry) left[c.queue].push_back(c);
    std::set<NodeIndex> pruned;
    for (NodeIndex q = choose(left, pruned); q != no_node; q = choose(left, pruned)) {
      const auto [p, t] = sides(q);
      if (compare(share_of(tree_, p), share_of(tree_, t)) < 0) {
        const Candidate c = left[q].front();
        remove(c);
        targets.push_back({c.entry, c.queue, VictimReason::in_cohort_fair_sharing});
        if (test_without_incoming()) return true;
      }
      left[q].clear();
    }
    return false;
  }

  QuotaTree& tree_;
  QuotaTable& table_;
  const Settings& settings_;
  Time now_;
  const Preemptor* p_ = nullptr;
  const QueueConfig* config_ = nullptr;
};

}  // namespace hindsight::admission::testing
