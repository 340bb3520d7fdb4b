#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "admission/model/workload_state.hpp"

namespace hindsight::admission {

/// How the slices of one elastic job stand to each other (77 §3.4). Positions in the list of its Workloads.
struct SliceChain {
  static constexpr std::size_t none = ~std::size_t{0};

  /// The slice whose quota the job runs on: the latest that holds quota and that no admitted one replaces. Also while it is being evicted,
  /// until its quota is free.
  std::size_t holder = none;
  /// The one that waits to replace the holder; it may hold quota already and wait for its checks (EJ-45).
  std::size_t pending = none;
  /// The one that follows the size of the job: pending, else holder, else the one that is left (EJ-24).
  std::size_t current = none;
  /// Those that have no place any more; `replaced`: the current one names it (EJ-25).
  struct End {
    std::size_t slice = none;
    bool replaced = false;
  };
  std::vector<End> ends;
};

/// Unfinished and not about to be deleted.
[[nodiscard]] bool is_live(const WorkloadState& w);

/// A Workload of the job itself: its Options stand for it in the queues, and are no slices (CA-95).
[[nodiscard]] bool is_slice(const WorkloadState& w);

/// Finished because another slice took its place, which is not the end of the job.
[[nodiscard]] bool is_superseded(const WorkloadState& w);

/// Does `slice` say that it replaces `other`?
[[nodiscard]] bool names(const WorkloadState& slice, const WorkloadState& other);

/// The name that all slices of the chain share.
[[nodiscard]] std::string_view chain_name(const WorkloadState& slice);

/// By time of creation, then uid (EJ-27).
[[nodiscard]] bool earlier(const WorkloadState& a, const WorkloadState& b);

/// `workloads`: all of one job. Finished ones have no part in it.
[[nodiscard]] SliceChain slice_chain(const std::vector<WorkloadState>& workloads);

/// Is the slice evicted, or set inactive, so that the job may not grow on its quota (EJ-91, EJ-152)?
[[nodiscard]] inline bool is_leaving(const WorkloadState& w) { return w.evicted() || !w.active; }

/// The superseded slices that go beyond `limit`, the oldest first; one that a live slice names stays (EJ-100).
[[nodiscard]] std::vector<std::size_t> forgotten_slices(const std::vector<WorkloadState>& workloads, std::size_t limit);

}  // namespace hindsight::admission
