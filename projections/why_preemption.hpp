#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/model/workload_info.hpp"
#include "projections/json.hpp"
#include "projections/scratch_tree.hpp"

namespace hindsight::projections {

struct FlavorTrial;

/// Why somebody who holds what is needed is not preempted (base-admission §7.2–7.5).
enum class SparedBy : std::uint8_t {
  within_never,      ///< withinClusterQueue is Never.
  within_priority,   ///< withinClusterQueue does not let it, by priority.
  reclaim_never,     ///< reclaimWithinCohort is Never.
  reclaim_priority,  ///< reclaimWithinCohort does not let it, by priority.
  queue_inactive,    ///< Its ClusterQueue is not active.
  within_nominal,    ///< Its ClusterQueue, or a cohort above that, holds no more than its nominal quota.
  nominal_by_then,   ///< So it would be when others were gone.
  borrow_never,      ///< The preemptor would have to borrow, and borrowWithinCohort is Never.
  borrow_priority,   ///< The same, and priority speaks against it.
  borrow_threshold,  ///< The same, and its priority is above maxPriorityThreshold.
  shares,            ///< Fair sharing: the shares speak against it.
  left_alone,        ///< It was preempted again and again (D13).
  not_needed         ///< It may be preempted, and there is room without it.
};

/// Amounts of resources, in the order in which these are needed.
using ResourceAmounts = std::vector<std::pair<Symbol, Amount>>;

/// Who is spared for one reason.
struct SparedGroup {
  SparedBy by = SparedBy::not_needed;
  std::size_t workloads = 0;
  ResourceAmounts held;
  std::int64_t lowest = 0, highest = 0;  ///< Their priorities.
  std::vector<std::string> where;        ///< "ClusterQueue b"; of within_nominal also "Cohort c": whose nominal quota it is.
};

/// Dominant resource shares that were compared, for one strategy and one outcome: of the first Workload of a ClusterQueue for which it
/// came out so.
struct ShareComparison {
  std::string strategy;          ///< LessThanOrEqualToFinalShare, LessThanInitialShare.
  Symbol queue;                  ///< Of the candidate.
  std::string candidate;         ///< "namespace/name".
  std::size_t workloads = 1;     ///< Of that queue, for which it came out so.
  std::string preemptor, other;  ///< Whose shares: "ClusterQueue a", "Cohort c", below the lowest cohort that both queues are in (BA-123).
  /// As things are, and with what the preemptor asks for.
  admission::Share preemptor_before, preemptor_after;
  /// Without the victims before it, and without the candidate as well; nothing: the whole queue is spared.
  admission::Share other_before;
  std::optional<admission::Share> other_after;
  bool allowed = false;
};

/// Preemption for one flavor, as far as quota goes.
struct FlavorPreemption {
  struct Need {
    Symbol resource;
    Amount needed = 0;  ///< So much would have to come free.
    Amount held = 0;    ///< By those that may be preempted, all together.
    Amount freed = 0;   ///< So much would come free if all that were looked at were gone.
  };
  Symbol flavor;
  std::vector<Need> needs;
  std::size_t candidates = 0;  ///< Who may be preempted.
  bool enough = false;         ///< They are enough.
  bool entitled = false;       ///< Fair sharing: no shares were compared, because the preemptor's queue stays within its nominal quota.
  std::vector<SparedGroup> spared;
  std::vector<ShareComparison> shares;
};

/// One that would be preempted now.
struct VictimInOrder {
  std::string name;  ///< "namespace/name".
  Symbol queue;
  std::int64_t priority = 0;
  std::string reason;  ///< InClusterQueue, InCohortReclamation, InCohortFairSharing, InCohortReclaimWhileBorrowing; empty: not needed.
  std::vector<std::pair<std::pair<Symbol, Symbol>, Amount>> amounts;  ///< (flavor, resource) → amount, of what is needed.
  bool needed = true;                                                 ///< False: it came up, and there is room without it after all.
  std::string next, ahead;                                            ///< Who comes next, and why this one goes before that; empty: nobody.
};

/// Whom a waiting Workload may preempt, and why not others; empty: it lacks no quota that others could give back.
struct PreemptionReport {
  std::vector<FlavorPreemption> flavors;  ///< In the order in which they are tried.
  /// In the order in which they are looked at; empty: it preempts nobody now.
  std::vector<VictimInOrder> victims;
};

/// By the rules of the scheduler, on a copy of the quota as it stands. `trials`: what try_flavors says.
[[nodiscard]] PreemptionReport explain_preemption(const StateView& state, const admission::WorkloadInfo& workload,
                                                  const Symbol& cluster_queue, const std::vector<FlavorTrial>& trials);
/// One line for each thing that is to be said; subordinate lines begin with two blanks.
[[nodiscard]] std::vector<std::string> preemption_lines(const PreemptionReport& report, const admission::QueueConfig& queue,
                                                        std::int64_t priority);
[[nodiscard]] Json to_json(const PreemptionReport& report);

/// A setting of a ClusterQueue, as it is and as it might be.
struct SettingChange {
  std::string setting, from, to;
};
/// A change of whom a ClusterQueue may preempt.
struct PolicyChange {
  PolicyEdit edit;
  std::vector<SettingChange> settings;
};
/// Changes by which the workload would find victims, where it finds none because of a policy: of each setting the weakest one; if no
/// single setting is enough, the first few together that are. Only what the API server accepts.
[[nodiscard]] std::vector<PolicyChange> find_policy_changes(const StateView& state, const admission::WorkloadInfo& workload,
                                                            Symbol cluster_queue);

}  // namespace hindsight::projections
