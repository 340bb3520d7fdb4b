#pragma once

#include <string>
#include <string_view>

#include "admission/model/workload_state.hpp"
#include "projections/table.hpp"

namespace hindsight::projections {

/// Where a Workload stands, in one word.
enum class Phase {
  pending,         ///< Waits for quota.
  quota_reserved,  ///< Holds quota, waits for admission checks.
  admitted,
  evicted,  ///< Has to go, still holds quota.
  finished,
  inactive,  ///< spec.active is false.
};

[[nodiscard]] Phase phase_of(const admission::WorkloadState& w);
[[nodiscard]] std::string_view name_of(Phase phase);
[[nodiscard]] Tone tone_of(Phase phase);
/// The reason that goes with the phase: of QuotaReserved=False while pending, of the eviction, of the end; empty: none yet.
[[nodiscard]] std::string reason_of(const admission::WorkloadState& w);
/// Since when it stands in its phase; never: not known. Of one that waits: `waits_since` (wait_reasons.hpp).
[[nodiscard]] Time phase_since(const admission::WorkloadState& w);

}  // namespace hindsight::projections
