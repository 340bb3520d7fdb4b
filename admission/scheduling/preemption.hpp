#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/fair_share.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/scheduling/repeated_preemptions.hpp"

namespace hindsight::admission {

/// Class of a victim; the reason of its condition Preempted (BA-113).
enum class VictimReason : std::uint8_t {
  in_cluster_queue,
  in_cohort_reclamation,
  in_cohort_fair_sharing,
  in_cohort_reclaim_while_borrowing
};

/// A reserving workload that would have to go.
struct Target {
  std::uint32_t entry = 0;  ///< QuotaTree::entry.
  NodeIndex queue = no_node;
  VictimReason reason = VictimReason::in_cluster_queue;
};

/// What a search looked at, step by step, for who explains it (Preemption::follow). Nothing is decided by it.
struct PreemptionStep {
  enum class Kind : std::uint8_t {
    begins,       ///< A run of the classical search (§7.4); it has no entry.
    taken,        ///< The candidate is gone on trial.
    spared,       ///< Fair sharing: the shares speak against it.
    exhausted,    ///< Classical: neither this candidate nor those of its queue behind it in this run.
    put_back,     ///< There is room without taking it.
    passed_over,  ///< It is no candidate, and neither are `more` behind it, for `passed`. Noted where that is asked for (follow).
    queue_passed  ///< Nobody in this queue or cohort is a candidate, for `passed`; it has no entry. Likewise.
  };
  /// Why somebody who holds quota is no candidate (§7.2).
  enum class Passed : std::uint8_t {
    none,
    reclaim_never,    ///< reclaimWithinCohort is Never.
    within_never,     ///< withinClusterQueue is Never.
    queue_inactive,   ///< Its ClusterQueue takes no part in scheduling.
    within_nominal,   ///< The queue or cohort holds no more than its nominal quota of what is needed.
    not_borrowing,    ///< Fair sharing: the queue or cohort borrows nothing, by the time when its share is looked at.
    priority,         ///< Its priority, by the policy of the preemptor's queue.
    not_newer,        ///< It has the same priority, and the preemptor waits no longer.
    other_resources,  ///< It holds nothing of what is needed.
    gone,             ///< It goes already, for another one of this cycle.
    replaced_slice,   ///< It is what the preemptor replaces (EJ-39).
    family,           ///< It belongs to the preemptor's family (CA-76).
    left_alone        ///< It was preempted again and again (D13).
  };
  /// Two shares below the lowest cohort that both queues are in (BA-123).
  struct Shares {
    NodeIndex preemptor = no_node, target = no_node;  ///< Whose they are.
    Share preemptor_new;                              ///< With what it asks for.
    Share target_old;                                 ///< Without the victims before this one.
    std::optional<Share> target_new;  ///< And without this one; nothing: the whole queue is spared, because the other share is infinite.
    Settings::FairStrategy strategy = Settings::FairStrategy::less_than_or_equal_to_final_share;
  };
  Kind kind = Kind::taken;
  std::uint32_t entry = 0;  ///< QuotaTree::entry.
  NodeIndex queue = no_node;
  bool borrowing = true;  ///< begins: may the preemptor borrow in this run?
  bool unusable = false;  ///< exhausted: by borrowWithinCohort; else its queue or a cohort above is within its nominal quota by then.
  std::optional<Shares> shares;  ///< Nothing: none were compared.
  Passed passed = Passed::none;  ///< passed_over, queue_passed.
  std::uint32_t more = 0;        ///< passed_over: so many behind it, for the same reason.
};

/// Who wants room, and for what.
struct Preemptor {
  const WorkloadInfo* workload = nullptr;
  NodeIndex queue = no_node;
  std::span<const CellAmount> requests;  ///< All that must fit.
  std::span<const CellIndex> need;       ///< The cells that need preemption (§7.1).
  const Assignment* placed = nullptr;    ///< Its pods must find places as well (2724 §3.13); null: quota is all that it needs.
};

/// The search for victims (base-admission §7.1–7.5) on the tree as it stands; leaves no trace in it (BA-127).
///
/// Candidates are never listed: every queue keeps its holders ranked, and a search walks them with one cursor for each queue, as far
/// as it needs to.
class Preemption {
 public:
  /// `now` stands for a missing time of reservation. `repeated`: who is left alone (D13); null: nobody.
  /// `placer`: null where there are no topologies.
  Preemption(QuotaTree& tree, const Settings& settings, Time now, const RepeatedPreemptions* repeated = nullptr,
             const PodPlacer* placer = nullptr)
      : tree_(tree), table_(tree.table()), settings_(settings), now_(now), repeated_(repeated), placer_(placer) {}

  /// The targets in the order of the search (D6); empty: there is no way.
  [[nodiscard]] std::vector<Target> find_targets(const Preemptor& preemptor);
  /// From now on every step is written there as well; null: nowhere. `passed_over`: also who is no candidate, and why.
  void follow(std::vector<PreemptionStep>* steps, bool passed_over = false) {
    steps_ = steps;
    passed_ = passed_over ? steps : nullptr;
  }

 private:
  /// Where a search stands in the ranked holders of one queue.
  struct Cursor {
    NodeIndex queue = no_node;
    NodeIndex common_ancestor = no_node;  ///< Of its queue and the preemptor's; no_node: same queue.
    std::uint32_t position = 0;
    std::uint32_t end = 0;
    bool advantage = false;  ///< The preemptor's subtree can hold the request (§7.3).
  };
  /// One of the lists of §7.3, the evicted candidates apart.
  struct CandidateList {
    std::vector<Cursor> evicted;
    std::vector<Cursor> others;
    [[nodiscard]] bool empty() const { return evicted.empty() && others.empty(); }
    void clear() {
      evicted.clear();
      others.clear();
    }
  };

  // common
  void begin(const Preemptor& preemptor);
  [[nodiscard]] const QuotaTree::Holder& holder(const Cursor& c) const { return tree_.queue(c.queue).holders[c.position]; }
  /// Moves to the next candidate that the policy accepts; false: there is none.
  [[nodiscard]] bool settle(Cursor& c) const;
  [[nodiscard]] bool uses_need(const QuotaTree::Holder& holder) const;
  [[nodiscard]] bool is_left_alone(const QuotaTree::Holder& holder) const;
  [[nodiscard]] bool is_of_family(const QuotaTree::Holder& holder) const;
  [[nodiscard]] PreemptionStep::Passed passed_for(const QuotaTree::Holder& holder) const;
  void note_passed(const Cursor& c, PreemptionStep::Passed why, std::uint32_t more = 0) const {
    if (passed_ != nullptr)
      passed_->push_back(
          {.kind = PreemptionStep::Kind::passed_over, .entry = holder(c).entry, .queue = c.queue, .passed = why, .more = more});
  }
  void note_queue_passed(NodeIndex n, PreemptionStep::Passed why) const {
    if (passed_ != nullptr) passed_->push_back({.kind = PreemptionStep::Kind::queue_passed, .queue = n, .passed = why});
  }
  void list_candidates(NodeIndex queue, NodeIndex common_ancestor, bool advantage, CandidateList& list);
  [[nodiscard]] bool fits(bool allow_borrowing) const;
  [[nodiscard]] bool has_places() const;
  void remove(const Cursor& c) {
    table_.remove(c.queue, tree_.entry(holder(c).entry).cells);
    move_pods(holder(c).entry, -1);
  }
  /// The pods of a workload stand where they stand, or are gone (`sign` −1), on trial.
  void move_pods(std::uint32_t entry, int sign);
  void undo_moves();
  void fill_back(bool allow_borrowing, std::vector<Target>& targets);

  // classical (§7.3, §7.4)
  void list_cohort();
  [[nodiscard]] VictimReason classical_reason(const Cursor& c) const;
  [[nodiscard]] bool unusable_while_borrowing(const Cursor& c) const;
  [[nodiscard]] bool exhausted(const Cursor& c, bool allow_borrowing) const;
  /// `targets` stays empty when the run has no success.
  void classical_run(bool allow_borrowing, std::vector<Target>& targets);
  [[nodiscard]] bool walk(const std::vector<Cursor>& list, bool allow_borrowing, std::vector<Target>& targets);
  [[nodiscard]] std::vector<Target> classical_targets();

  // fair sharing (§7.5)
  friend class FairSearch;
  static constexpr std::uint32_t no_spot = ~std::uint32_t{0};
  /// A node in the part of the tree that has candidates.
  struct Spot {
    NodeIndex node = no_node;
    std::uint32_t first_child = no_spot, last_child = no_spot, next_sibling = no_spot;
    Cursor candidates;  ///< Of a queue: those not yet looked at; without a queue: none.
    Cursor retry;       ///< Of a queue: the first that failed the first strategy.
    Share share;
    bool share_known = false;
    bool pruned = false;
  };
  [[nodiscard]] std::vector<Target> fair_targets();

  QuotaTree& tree_;
  QuotaTable& table_;
  const Settings& settings_;
  Time now_;
  const RepeatedPreemptions* repeated_;
  const PodPlacer* placer_;
  std::vector<PreemptionStep>* steps_ = nullptr;
  std::vector<PreemptionStep>* passed_ = nullptr;  ///< `steps_`, or null.

  // The search under way, and its scratch.
  const Preemptor* preemptor_ = nullptr;
  const QueueConfig* config_ = nullptr;
  std::vector<std::pair<WorkloadId, int>> moved_;  ///< Calls of move_pods so far that moved any.
  mutable std::optional<bool> has_places_;         ///< As of the last question, if nobody has moved since.
  std::uint64_t need_mask_ = 0;
  std::uint32_t own_slice_ = no_spot;   ///< Entry of the slice that the preemptor replaces: never a victim (EJ-39).
  const OptionInfo* family_ = nullptr;  ///< Of an Option; null: it is none.
  std::vector<const RepeatedPreemptions::Count*> left_alone_;
  CandidateList hierarchy_, priority_, same_queue_;
  std::vector<Cursor> heap_;
  std::vector<CellAmount> rest_;
  std::vector<Spot> spots_;
  std::vector<std::uint32_t> spot_of_;  ///< By node.
};

}  // namespace hindsight::admission
