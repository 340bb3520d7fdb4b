#pragma once

#include "vocabulary/decisions.hpp"

namespace hindsight::admission {

/// Nothing but another state of quota or of the catalog could admit the Workload, and what is equal to it fares alike (BA-51).
[[nodiscard]] constexpr bool fits_nowhere(RequeueReason reason) {
  return reason == RequeueReason::no_fit || reason == RequeueReason::preemption_no_candidates;
}

/// The Workload waits for what its own cycle has begun, and is the next head of its queue.
[[nodiscard]] constexpr bool keeps_its_turn(RequeueReason reason) {
  return reason == RequeueReason::pending_preemption || reason == RequeueReason::pending_migration;
}

}  // namespace hindsight::admission
