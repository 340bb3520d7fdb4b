#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/queue/cluster_queue.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "projections/phase.hpp"
#include "projections/table.hpp"

namespace hindsight::projections {

/// Why a Workload waits, in the words of its conditions and by what the state of its queue says; nothing is tried for it.
struct WaitReason {
  /// That of the condition QuotaReserved, or Admitted of one that holds quota ("WaitingForQuota", "UnsatisfiedAdmissionChecks"), or what
  /// keeps it from being tried: "StrictFIFO" (the head of its queue does), "BackOff", "NotRequeued", "OnHold", "Deleting".
  std::string reason;
  std::string detail;  ///< What is short, who is ahead, which object stops it; empty: the reason says it all.
  std::vector<std::pair<std::string, std::string>> lacks;  ///< Flavors and resources that its condition says are short.
};

/// "WaitingForQuota (default/cpu)".
[[nodiscard]] std::string text_of(const WaitReason& reason);

/// A Workload that has not finished and is not admitted. A family of concurrent admission is one, by its Parent (CA-105).
struct Waiter {
  WorkloadAt at;
  Phase phase = Phase::pending;  ///< pending, quota_reserved or inactive.
  Symbol queue;                  ///< The ClusterQueue that it waits in; empty: it is in none.
  /// Since when: it was made, or lost the quota that it had; one that holds quota: since it got that.
  Time since;
  std::size_t reason = 0;  ///< In `Waiters::reasons`.
};

struct Waiters {
  std::vector<WaitReason> reasons;  ///< Each once.
  std::vector<Waiter> all;          ///< In no order.
};

/// Everybody who waits. It takes time linear in how many there are (and sorts each queue once).
[[nodiscard]] Waiters waiters_of(const StateView& state);
/// Of these those who wait, in their order. They are all of one ClusterQueue; `all` is its `waiting()`, as the caller has asked for it.
[[nodiscard]] Waiters waiters_among(const StateView& state, std::span<const WorkloadAt> whom, const Symbol& cluster_queue,
                                    std::vector<admission::ClusterQueue::Waiting> all);
/// Since when a Workload has waited for quota; never: not known.
[[nodiscard]] Time waits_since(const WorkloadState& w);

/// How many wait for one reason.
struct ReasonCount {
  Symbol queue;  ///< With `by_queue` only.
  std::size_t reason = 0;
  std::size_t workloads = 0;
  Time since;           ///< Of the one that has waited longest.
  std::string example;  ///< "namespace/name" of the same.
};

/// Those who are `wanted`, by reason: most first, then by queue and by text. `by_queue`: each queue for itself.
[[nodiscard]] std::vector<ReasonCount> count_reasons(const Waiters& waiters, const std::function<bool(const Waiter&)>& wanted,
                                                     bool by_queue = false);

/// "14 workloads: 11 pending, 2 with quota reserved, 1 inactive".
[[nodiscard]] std::string counted_by_phase(const Waiters& waiters, const std::function<bool(const Waiter&)>& wanted);
/// A line for each reason, up to `most` of them. Times count to `now`.
[[nodiscard]] Table reasons_table(const Waiters& waiters, const std::vector<ReasonCount>& counts, Time now, bool by_queue,
                                  std::size_t most);
/// "and 3 more reasons with 12 workloads": what a table of `most` lines leaves out; empty: nothing.
[[nodiscard]] std::string reasons_left_out(const std::vector<ReasonCount>& counts, std::size_t most);
[[nodiscard]] Json reasons_json(const Waiters& waiters, const std::vector<ReasonCount>& counts, Time now, bool by_queue);
/// {"total": 14, "pending": 11, "quotaReserved": 2, "inactive": 1}
[[nodiscard]] Json waiting_json(const Waiters& waiters, const std::function<bool(const Waiter&)>& wanted);

/// The pairs of flavor and resource of which a message of the scheduler says that they are short: "insufficient unused quota for cpu in
/// flavor default, 1 more needed".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> short_pairs(std::string_view message);

}  // namespace hindsight::projections
