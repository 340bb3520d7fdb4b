#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "tests/projections/plain_tree.hpp"

namespace hindsight::projections {

/// Whom a Workload would preempt for some amounts, and why the others are spared: base-admission §7.1 to §7.5 word for word, on names and
/// plain sums. It knows nothing of topologies and of families.
class PlainPreemption {
 public:
  using Pair = PlainTree::Pair;
  using Held = PlainTree::Held;

  PlainPreemption(const admission::StateView& state, const PlainTree& tree, const admission::WorkloadInfo& preemptor,
                  const std::string& queue, PlainTree::Amounts requests, std::set<Pair> need)
      : before_(tree),
        tree_(tree),
        settings_(state.domain().catalog()->settings),
        config_(*state.domain().catalog()->queue(Symbol(std::string_view(queue).substr(queue.find(' ') + 1)))),
        now_(state.domain().now()),
        w_(preemptor),
        queue_(queue),
        requests_(std::move(requests)),
        need_(std::move(need)) {
    for (const auto* count : state.domain().repeated_preemptions().left_alone_by(w_.uid)) left_alone_.insert(count->victim);
  }

  struct Comparison {
    std::string strategy, queue, candidate, preemptor, other;
    std::size_t workloads = 1;
    PlainShare preemptor_before, preemptor_after, other_before;
    std::optional<PlainShare> other_after;
    bool allowed = false;
  };
  struct Victim {
    const Held* held = nullptr;
    std::string reason;
  };

  std::vector<Victim> targets;             ///< Empty: there is no way.
  std::vector<const Held*> taken;          ///< On trial: in the run with success, or in the one that may borrow.
  std::map<std::string, std::string> why;  ///< Of all others who hold some of what is needed: uid → why they are spared, as JSON has it.
  std::map<std::string, std::string> within;  ///< Of those that are within nominal quota from the start: whose.
  std::vector<Comparison> comparisons;
  bool entitled = false;
  bool must_borrow = false;
  std::map<Pair, Amount> freed;

  void run() {
    must_borrow = !may_preempt_while_borrowing() && std::any_of(need_.begin(), need_.end(), [&](const Pair& p) {
      return requests_.at(p) > tree_.limits(queue_, p).nominal && !tree_.fits_in_a_proper_subtree(queue_, p, requests_.at(p));
    });
    for (const auto& h : tree_.held)
      if (tree_.root_of(h.queue) == tree_.root_of(queue_) && h.id != own_slice() && uses_need(h)) judge_from_the_start(h);
    if (!must_borrow) settings_.fair_sharing ? fair() : classical();
    if (must_borrow)
      for (auto& [uid, by] : why)
        if (by == candidate || by == "repeatedPreemptions") by = "borrowWithinCohortNever";
    PlainTree without = before_;
    for (const auto* h : taken) without.charge(h->queue, h->amounts, -1);
    for (const Pair& p : need_) freed[p] = without.available(queue_, p) - before_.available(queue_, p);
    for (const auto* h : taken) why.erase(h->uid);
  }

 private:
  static constexpr const char* candidate = "candidate";

  [[nodiscard]] admission::WorkloadId own_slice() const {
    return w_.replaces == admission::no_workload ? w_.id : w_.replaces;  // who waits holds nothing itself
  }
  [[nodiscard]] bool may_preempt_while_borrowing() const {
    return config_.borrow_within_cohort != PreemptionPolicy::never ||
           (settings_.fair_sharing && config_.reclaim_within_cohort != PreemptionPolicy::never);
  }
  [[nodiscard]] bool uses_need(const Held& h) const {
    return std::any_of(need_.begin(), need_.end(), [&](const Pair& p) { return h.amounts.contains(p) && h.amounts.at(p) > 0; });
  }
  [[nodiscard]] bool is_own(const Held& h) const { return h.queue == queue_; }
  [[nodiscard]] bool accepted(const Held& h) const {  // §7.1
    switch (is_own(h) ? config_.within_cluster_queue : config_.reclaim_within_cohort) {
      case PreemptionPolicy::never:
        return false;
      case PreemptionPolicy::lower_priority:
        return w_.priority > h.priority;
      case PreemptionPolicy::lower_or_newer_equal_priority:
        return w_.priority > h.priority || (w_.priority == h.priority && w_.queue_time < h.queue_time);
      case PreemptionPolicy::any:
        return true;
    }
    return false;
  }

  /// What speaks against it before anybody is taken.
  void judge_from_the_start(const Held& h) {
    std::string& by = why[h.uid];
    const bool own = is_own(h);
    if ((own ? config_.within_cluster_queue : config_.reclaim_within_cohort) == PreemptionPolicy::never) {
      by = own ? "withinClusterQueueNever" : "reclaimWithinCohortNever";
    } else if (!own && !tree_.node(h.queue).active) {
      by = "clusterQueueInactive";
    } else if (const auto limit = own ? std::string() : within_nominal_below_the_common_ancestor(h); !limit.empty()) {
      by = "withinNominalQuota";
      within[h.uid] = limit;
    } else if (!accepted(h)) {
      by = own ? "withinClusterQueuePriority" : "reclaimWithinCohortPriority";
    } else if (!h.evicted && left_alone_.contains(h.uid)) {
      by = "repeatedPreemptions";
    } else {
      by = candidate;
    }
  }
  [[nodiscard]] std::string within_nominal_below_the_common_ancestor(const Held& h) const {
    if (tree_.within_nominal(h.queue, need_)) return h.queue;
    for (std::string n = tree_.parent(h.queue); !n.empty() && !tree_.is_above(n, queue_); n = tree_.parent(n))
      if (settings_.fair_sharing ? !tree_.share(n).borrowing : tree_.within_nominal(n, need_)) return n;
    return {};
  }
  [[nodiscard]] bool is_candidate(const Held& h) const {
    const auto it = why.find(h.uid);
    return it != why.end() && it->second == candidate;
  }

  [[nodiscard]] Time reserved(const Held& h) const { return h.reserved_at.is_set() ? h.reserved_at : now_; }
  [[nodiscard]] bool better(const Held* a, const Held* b) const {  // §7.2
    if (a->evicted != b->evicted) return a->evicted;
    if (is_own(*a) != is_own(*b)) return is_own(*b);
    if (a->queue == b->queue && (PlainTree::used_more(*a, *b) || PlainTree::used_more(*b, *a))) return PlainTree::used_more(*a, *b);
    if (a->priority != b->priority) return a->priority < b->priority;
    if (reserved(*a) != reserved(*b)) return reserved(*a) > reserved(*b);
    return a->uid < b->uid;
  }
  [[nodiscard]] bool fits(bool borrowing) const {
    return std::all_of(requests_.begin(), requests_.end(), [&](const auto& r) {
      return (borrowing || !tree_.borrows_with(queue_, r.first, r.second)) && r.second <= tree_.offered(queue_, r.first);
    });
  }
  void remove(const Held* h) { tree_.charge(h->queue, h->amounts, -1); }
  void put_back(const Held* h) { tree_.charge(h->queue, h->amounts, 1); }
  void fill_back(bool borrowing) {
    for (std::size_t i = targets.size() - 1; i-- > 0;) {
      put_back(targets[i].held);
      if (fits(borrowing)) {
        targets[i] = targets.back();
        targets.pop_back();
      } else {
        remove(targets[i].held);
      }
    }
  }

  // ---- §7.3, §7.4

  struct Candidate {
    const Held* held = nullptr;
    std::string common_ancestor, reason = "InClusterQueue";
    bool no_borrow = false;
  };
  using List = std::vector<Candidate>;

  [[nodiscard]] bool fits_in_quota(const std::string& n, PlainTree::Amounts& rest) const {
    bool all = true;
    for (auto& [pair, amount] : rest) {
      all = all && tree_.subtree(n, pair) >= tree_.usage(n, pair) + amount;
      amount = std::max<Amount>(0, amount - tree_.local_available(n, pair));
    }
    return all;
  }
  /// What LocalQueues have used is compared within a queue and not between queues, so three candidates can stand in a circle. Each queue's
  /// are put in order, and of the first ones of all queues the best goes next (BA-103).
  [[nodiscard]] List in_order(const List& all) const {
    std::map<std::string, List> queues;
    for (const auto& c : all) queues[c.held->queue].push_back(c);
    const auto before = [this](const Candidate& a, const Candidate& b) { return better(a.held, b.held); };
    for (auto& [name, list] : queues) std::sort(list.begin(), list.end(), before);
    List out;
    while (!queues.empty()) {
      const auto next =
          std::min_element(queues.begin(), queues.end(), [&](const auto& a, const auto& b) { return before(a.second[0], b.second[0]); });
      out.push_back(next->second.front());
      next->second.erase(next->second.begin());
      if (next->second.empty()) queues.erase(next);
    }
    return out;
  }
  void classical() {
    List hierarchy, priority, same;
    for (const auto& h : tree_.held)
      if (is_own(h) && is_candidate(h)) same.push_back({&h, {}});
    bool any_in_cohort = false;
    if (!tree_.is_root(queue_) && config_.reclaim_within_cohort != PreemptionPolicy::never) {
      auto rest = requests_;
      bool advantage = fits_in_quota(queue_, rest);
      for (std::string visited = queue_, a = tree_.parent(queue_); !a.empty(); visited = a, a = tree_.parent(a)) {
        List& list = advantage ? hierarchy : priority;
        for (const auto& h : tree_.held) {
          if (!is_candidate(h) || is_own(h) || !tree_.is_above(a, h.queue) || tree_.is_above(visited, h.queue)) continue;
          Candidate c{&h, a, "InCohortReclamation"};
          if (!advantage) {
            c.no_borrow = config_.borrow_within_cohort == PreemptionPolicy::never || h.priority >= w_.priority ||
                          (config_.max_priority_threshold && h.priority > *config_.max_priority_threshold);
            if (!c.no_borrow) c.reason = "InCohortReclaimWhileBorrowing";
          }
          list.push_back(std::move(c));
          any_in_cohort = true;
        }
        const bool fit = fits_in_quota(a, rest);
        advantage = advantage || fit;
      }
    }
    List sequence;
    for (auto* list : {&hierarchy, &priority, &same}) *list = in_order(*list);
    for (const bool evicted : {true, false})
      for (auto* list : {&hierarchy, &priority, &same})
        for (const auto& c : *list)
          if (c.held->evicted == evicted) sequence.push_back(c);
    const bool never = config_.borrow_within_cohort == PreemptionPolicy::never;
    const bool strictly_under =
        std::all_of(need_.begin(), need_.end(), [&](const Pair& p) { return tree_.usage(queue_, p) < tree_.subtree(queue_, p); });
    std::vector<bool> runs{true, false};
    if (!any_in_cohort || (never && !strictly_under))
      runs = {true};
    else if (never && hierarchy.empty())
      runs = {false, true};
    std::vector<const Held*> of_borrowing;
    std::map<std::string, std::string> why_of_borrowing;
    for (const bool borrowing : runs) {
      const auto start = why;
      if (run_classical(sequence, borrowing)) return;
      if (borrowing) {
        of_borrowing = taken;
        why_of_borrowing = why;
      }
      why = start;
    }
    taken = std::move(of_borrowing);
    why = std::move(why_of_borrowing);
  }

  [[nodiscard]] bool run_classical(const List& sequence, bool borrowing) {
    const PlainTree start = tree_;
    taken.clear();
    targets.clear();
    std::set<std::string> used_up, unusable;  // queues
    bool found = false;
    std::size_t looked_at = 0;
    for (; looked_at < sequence.size() && !found; ++looked_at) {
      const Candidate& c = sequence[looked_at];
      if (borrowing && c.no_borrow) {
        unusable.insert(c.held->queue);
        why[c.held->uid] = by_borrowing(*c.held);
        continue;
      }
      bool stop = false;
      if (!is_own(*c.held))
        for (std::string n = c.held->queue; n != c.common_ancestor; n = tree_.parent(n)) stop = stop || tree_.within_nominal(n, need_);
      if (stop) {
        used_up.insert(c.held->queue);
        why[c.held->uid] = "withinNominalQuotaByThen";
        continue;
      }
      remove(c.held);
      taken.push_back(c.held);
      targets.push_back({c.held, c.reason});
      found = fits(borrowing);
    }
    if (found) fill_back(borrowing);
    if (!found) targets.clear();
    for (; looked_at < sequence.size(); ++looked_at) {
      const Candidate& c = sequence[looked_at];
      why[c.held->uid] = borrowing && c.no_borrow && unusable.contains(c.held->queue) ? by_borrowing(*c.held)
                         : used_up.contains(c.held->queue)                            ? "withinNominalQuotaByThen"
                                                                                      : "notNeeded";
    }
    tree_ = start;
    return found;
  }
  [[nodiscard]] std::string by_borrowing(const Held& h) const {
    if (config_.borrow_within_cohort == PreemptionPolicy::never) return "borrowWithinCohortNever";
    return h.priority >= w_.priority ? "borrowWithinCohortPriority" : "borrowWithinCohortThreshold";
  }

  // ---- §7.5

  using Lists = std::map<std::string, std::vector<const Held*>>;

  void fair() {
    Lists left;
    for (const auto& h : tree_.held)
      if (is_candidate(h)) left[h.queue].push_back(&h);
    for (auto& [name, list] : left) std::sort(list.begin(), list.end(), [this](const Held* a, const Held* b) { return better(a, b); });
    const PlainTree start = tree_;
    tree_.charge(queue_, requests_, 1);
    Lists retry;
    bool found = first_strategy(left, retry);
    if (!found && settings_.fair_strategies.size() != 1) found = second_strategy(retry);
    if (found) {
      tree_.charge(queue_, requests_, -1);
      fill_back(true);
    } else {
      targets.clear();
    }
    tree_ = start;
    for (auto& [uid, by] : why)
      if (by == candidate) by = found ? "notNeeded" : "withinNominalQuotaByThen";
  }

  [[nodiscard]] std::string choose(Lists& left, std::set<std::string>& pruned) const {
    if (tree_.is_root(queue_)) return left[queue_].empty() ? std::string() : queue_;
    const std::string root = tree_.root_of(queue_);
    while (!pruned.contains(root)) {
      std::string cohort = root;
      for (;;) {
        std::string queue, below;
        for (const auto& n : tree_.children(cohort)) {
          if (pruned.contains(n)) continue;
          const PlainShare share = tree_.share(n);
          if (!share.borrowing && !tree_.is_above(n, queue_)) {
            pruned.insert(n);
          } else if (!tree_.node(n).is_queue) {
            if (below.empty() || share.compare(tree_.share(below)) > 0) below = n;
          } else if (left[n].empty()) {
            pruned.insert(n);
          } else {
            const int order = queue.empty() ? 1 : share.compare(tree_.share(queue));
            if (order > 0 || (order == 0 && better(left[n].front(), left[queue].front()))) queue = n;
          }
        }
        if (queue.empty() && below.empty()) {
          pruned.insert(cohort);
          break;
        }
        if (below.empty() || (!queue.empty() && tree_.share(below).compare(tree_.share(queue)) < 0)) return queue;
        cohort = below;
      }
    }
    return {};
  }

  [[nodiscard]] std::pair<std::string, std::string> sides(const std::string& target) const {
    std::string t = target, p = queue_;
    while (!tree_.is_above(tree_.parent(t), queue_)) t = tree_.parent(t);
    while (tree_.parent(p) != tree_.parent(t)) p = tree_.parent(p);
    return {p, t};
  }
  [[nodiscard]] bool take(Lists& left, const std::string& queue, const std::string& reason) {
    const Held* h = left[queue].front();
    left[queue].erase(left[queue].begin());
    remove(h);
    taken.push_back(h);
    targets.push_back({h, reason});
    tree_.charge(queue_, requests_, -1);
    const bool out = fits(true);
    tree_.charge(queue_, requests_, 1);
    return out;
  }
  void note(bool initial, const Held* h, const std::string& p, const std::string& t, const PlainShare& other_before,
            std::optional<PlainShare> other_after, bool allowed) {
    const std::string strategy = initial ? "LessThanInitialShare" : "LessThanOrEqualToFinalShare";
    for (auto& known : comparisons)
      if (known.strategy == strategy && known.queue == h->queue && known.allowed == allowed) {
        ++known.workloads;
        return;
      }
    comparisons.push_back({strategy, h->queue, h->name, p, t, 1, before_.share(p), tree_.share(p), other_before, other_after, allowed});
  }
  [[nodiscard]] PlainShare share_without(const std::string& t, const Held* h) {
    remove(h);
    const PlainShare out = tree_.share(t);
    put_back(h);
    return out;
  }

  [[nodiscard]] bool first_strategy(Lists& left, Lists& retry) {
    std::set<std::string> pruned;
    const bool initial = !settings_.fair_strategies.empty() &&
                         settings_.fair_strategies.front() == admission::Settings::FairStrategy::less_than_initial_share;
    for (std::string q = choose(left, pruned); !q.empty(); q = choose(left, pruned)) {
      const bool own = q == queue_;
      if (own || (settings_.fair_sharing_preempt_within_nominal && tree_.within_nominal(queue_, need_))) {
        entitled = entitled || !own;
        if (take(left, q, own ? "InClusterQueue" : "InCohortReclamation")) return true;
        continue;
      }
      const auto [p, t] = sides(q);
      const PlainShare mine = tree_.share(p), theirs = tree_.share(t);
      if (mine.infinite() && !theirs.infinite()) {
        note(initial, left[q].front(), p, t, theirs, std::nullopt, false);
        for (const auto* h : left[q]) {
          why[h->uid] = "fairSharing";
          retry[q].push_back(h);
        }
        left[q].clear();
        continue;
      }
      while (!left[q].empty()) {
        const Held* h = left[q].front();
        const PlainShare after = share_without(t, h);
        const bool pass = initial ? mine.compare(theirs) < 0 : mine.compare(after) <= 0;
        note(initial, h, p, t, theirs, after, pass);
        if (pass) {
          if (take(left, q, "InCohortFairSharing")) return true;
          break;
        }
        why[h->uid] = "fairSharing";
        retry[q].push_back(h);
        left[q].erase(left[q].begin());
      }
    }
    return false;
  }
  [[nodiscard]] bool second_strategy(Lists& retry) {
    std::set<std::string> pruned;
    for (std::string q = choose(retry, pruned); !q.empty(); q = choose(retry, pruned)) {
      const auto [p, t] = sides(q);
      const Held* h = retry[q].front();
      const PlainShare theirs = tree_.share(t);
      const bool pass = tree_.share(p).compare(theirs) < 0;
      note(true, h, p, t, theirs, share_without(t, h), pass);
      if (pass && take(retry, q, "InCohortFairSharing")) return true;
      retry[q].clear();
      pruned.insert(q);
    }
    return false;
  }

  const PlainTree& before_;
  PlainTree tree_;
  const admission::Settings& settings_;
  const admission::QueueConfig& config_;
  Time now_;
  const admission::WorkloadInfo& w_;
  std::string queue_;
  PlainTree::Amounts requests_;
  std::set<Pair> need_;
  std::set<std::string> left_alone_;
};

}  // namespace hindsight::projections
