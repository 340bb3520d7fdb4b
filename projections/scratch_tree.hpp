#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/scheduling/preemption.hpp"
#include "admission/topology/topology_room.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {

/// A change of one limit of a queue or cohort.
struct QuotaEdit {
  Symbol node;
  bool is_cohort = false;
  Symbol flavor, resource;
  std::optional<Amount> nominal, borrowing_limit;
};

/// A change of whom the Workloads of one ClusterQueue may preempt, and of how it takes them in turn; what has no value stays.
struct PolicyEdit {
  std::optional<PreemptionPolicy> within_cluster_queue, reclaim_within_cohort, borrow_within_cohort;
  std::optional<std::int32_t> max_priority_threshold;
  std::optional<QueueingStrategy> strategy = std::nullopt;  ///< Of a ScratchTree, where nobody waits, nothing depends on it.
};

/// Would an Option that takes the place of another one hold quota of this flavor beside that one first, until its checks are done (8691
/// CA-46)?
[[nodiscard]] bool holds_beside(const admission::QueueConfig& queue, const admission::WorkloadInfo& option, Symbol flavor);

/// A copy of the quota tree of a queue to try things on, with the rules of the scheduler. Nothing that happens here reaches the state.
class ScratchTree {
 public:
  /// Nothing: there is no such queue, or it belongs to no tree. `edits` are limits as they might be, `nodes` the nodes (null: those that
  /// there are), `policy` a change of whom the queue may preempt (null: none).
  [[nodiscard]] static std::optional<ScratchTree> of(const StateView& state, const Symbol& cluster_queue,
                                                     const std::vector<QuotaEdit>& edits = {}, const admission::Nodes* nodes = nullptr,
                                                     const PolicyEdit* policy = nullptr);

  /// Would the workload be given quota now, without preempting anybody, at the first try or as its scan of the flavors goes on?
  [[nodiscard]] bool fits(const admission::WorkloadInfo& workload);
  /// Whom it would preempt now; empty: nobody, because it fits or because it must not.
  [[nodiscard]] std::vector<Holder> victims_of(const admission::WorkloadInfo& workload);

  /// A search for victims, with all that was looked at.
  struct Search {
    std::vector<admission::CellAmount> requests;
    std::vector<admission::CellIndex> need;
    std::vector<admission::Target> targets;  ///< Empty: there is no way.
    /// Of the run that found them, or of the one that may borrow if none did.
    std::vector<admission::PreemptionStep> steps;
    std::vector<Amount> freed;  ///< For each of `need`: how much more there would be if all that were taken in these steps were gone.
  };
  /// The search by which a waiting workload finds the victims of `victims_of`, with the flavors that it would get; nothing: it finds none.
  [[nodiscard]] std::optional<Search> search(const admission::WorkloadInfo& workload);
  /// The same for these amounts alone, as far as quota goes.
  [[nodiscard]] Search search_for(const admission::WorkloadInfo& workload, std::vector<admission::CellAmount> requests,
                                  std::vector<admission::CellIndex> need);

  /// Takes away what an Option finds free although others see it taken: what its family holds and it takes over (8691 CA-51).
  void free_for(const admission::WorkloadInfo& workload) { (void)take_own(workload); }
  [[nodiscard]] const admission::QuotaTree& tree() const { return tree_; }

  /// Null: topologies are switched off.
  [[nodiscard]] admission::topology::TopologyRoom* room() { return room_ ? &*room_ : nullptr; }
  /// There is a room.
  [[nodiscard]] admission::PodPlacer placer();
  /// Are all flavors of the queue such that who asks for no topology is placed anyway?
  [[nodiscard]] bool implies_topology();
  /// All who hold quota in the tree.
  [[nodiscard]] const std::vector<std::pair<Symbol, std::shared_ptr<const admission::Reservation>>>& reservations() const {
    return reservations_;
  }

  /// Gives a workload other places in the same flavors, as things are, and returns what it holds now; nothing: there are none for all of
  /// its pods, and it keeps those that it has.
  [[nodiscard]] std::shared_ptr<const admission::Reservation> move(const std::string& uid);
  /// Takes the places that a waiting workload would get now from those that are free, by pod set; nothing: it would get none.
  [[nodiscard]] std::optional<std::vector<admission::PodSetReservation>> take_places(const admission::WorkloadInfo& workload);

  /// Takes a reservation away and puts it back.
  void release(const Holder& holder);
  void restore(const Holder& holder);

 private:
  ScratchTree(const StateView& state, Symbol cluster_queue, admission::QuotaTree tree);
  struct Nomination;
  using Held = std::pair<Symbol, std::shared_ptr<const admission::Reservation>>;
  [[nodiscard]] std::vector<Held> take_own(const admission::WorkloadInfo& workload);
  void put_back(const std::vector<Held>& own);
  [[nodiscard]] Nomination nominate(const admission::WorkloadInfo& workload);
  [[nodiscard]] Nomination nominate_here(const admission::WorkloadInfo& workload);
  void follow_search(const admission::WorkloadInfo& workload, const admission::Assignment* placed, Search& out);
  [[nodiscard]] bool is_admitted_at_once(const admission::WorkloadInfo& workload, const admission::Assignment& assignment);

  const StateView* state_;
  Symbol cluster_queue_;
  admission::QuotaTree tree_;
  std::optional<admission::topology::TopologyRoom> room_;  ///< Nothing: topologies are switched off.
  std::vector<std::pair<Symbol, std::shared_ptr<const admission::Reservation>>> reservations_;
};

}  // namespace hindsight::projections
