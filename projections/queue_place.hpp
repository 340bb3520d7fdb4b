#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admission/queue/cluster_queue.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {

/// Where a pending Workload stands in its ClusterQueue.
struct QueuePlace {
  Symbol queue;
  /// From 0, over heap and inadmissible set together, as the visibility API counts (BA-192): a family is one (CA-105), so siblings have the
  /// same position.
  std::size_t position = 0;
  std::size_t local_position = 0;  ///< Among those of the same LocalQueue.
  std::size_t waiting = 0;         ///< How many wait in the queue.
  bool parked = false;             ///< In the inadmissible set: not tried before something in the tree changes.
  bool sticky = false;             ///< It preempts, or its job moves to it, and it is served first (base-admission §3.5).
  std::string served_first;        ///< "namespace/name" of somebody else for whom that is so; empty: nobody.
  std::string equal_to;            ///< Parked because this equal workload failed (§3.6); "another workload" if that one has gone.
  std::string record_reason;       ///< Why that one failed.
  std::vector<admission::ClusterQueue::Waiting> ahead;  ///< In order; each Option for itself.
};

/// Nothing: it does not wait in any queue.
[[nodiscard]] std::optional<QueuePlace> place_of(const StateView& state, const WorkloadAt& at);

/// Of one that is parked because an equal one failed (§3.6): the name of that one and why it failed, as in QueuePlace, without a look at
/// the others that wait. Nothing: it is not parked for that.
struct ParkedWith {
  std::string name, reason;
};
[[nodiscard]] std::optional<ParkedWith> parked_with(const admission::ClusterQueue& queue, admission::WorkloadId id);

/// The ClusterQueue that its LocalQueue leads to; empty: there is no such LocalQueue.
[[nodiscard]] Symbol queue_of(const StateView& state, const WorkloadState& w);

}  // namespace hindsight::projections
