#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/queue/cluster_queue.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {

// Families of concurrent admission (8691): a Parent, and Options that are queued in its place.

/// The Parent of an Option; null: it is no Option.
[[nodiscard]] const WorkloadState* parent_of(const WorkloadAt& at);
/// "namespace/name" of a Workload; of an Option that of its Parent.
[[nodiscard]] std::string family_name(const admission::WorkloadInfo& workload);

/// One attempt of a family.
struct OptionLane {
  std::string name;                         ///< Of its Workload.
  std::vector<Symbol> flavors;              ///< That it may be assigned.
  std::optional<std::size_t> rank;          ///< 0: the best; nothing: the ClusterQueue asks for no such Option, or is not there.
  const WorkloadState* workload = nullptr;  ///< Null: it was asked for and is not there yet.
  bool running = false;                     ///< The job runs on it, or is stopping on it.
  bool target = false;                      ///< A migration to it is under way.
  bool may_preempt = false;                 ///< It has the right of its family to preempt.
  Time right_until;                         ///< Then the right goes to another one, unless it has got quota.
  Time not_before;                          ///< Inactive until then because of createDelaySeconds.
  Time until;                               ///< Inactive from then on because of deleteDelaySeconds, unless it is admitted.
  std::string state;                        ///< In one word, with the reason that goes with it.
  std::string why;                          ///< In the words of the state.
  Time since;                               ///< Of `state`.
};

/// By rank, then those that the ClusterQueue does not ask for. None: it is no Parent.
[[nodiscard]] std::vector<OptionLane> lanes_of(const StateView& state, const WorkloadAt& parent);
/// The Option that the job runs on, or is stopping on; null: there is none.
[[nodiscard]] const OptionLane* running_lane(const std::vector<OptionLane>& lanes);
/// "flavor spot", "flavors spot, cpu".
[[nodiscard]] std::string flavors_words(const std::vector<Symbol>& flavors);

/// What is kept for a migration of a family now (CA-59), as its queue is charged; null: nothing.
[[nodiscard]] std::shared_ptr<const admission::Reservation> hold_of(const StateView& state, const WorkloadState& parent);

/// Who waits in a queue, in its order, with a family once, by the first of its Options; and not if its job runs on another one (CA-105).
[[nodiscard]] std::vector<admission::ClusterQueue::Waiting> waiting_once(const StateView& state, const admission::ClusterQueue& queue);
/// The same of what the queue has said already: `all` is its `waiting()`.
[[nodiscard]] std::vector<admission::ClusterQueue::Waiting> waiting_once(const StateView& state,
                                                                         std::vector<admission::ClusterQueue::Waiting> all);
/// Does an Option of the family of this one hold quota? Then the family counts as reserving and not as pending (CA-103).
[[nodiscard]] bool family_holds_quota(const StateView& state, const admission::WorkloadInfo& workload);

}  // namespace hindsight::projections
