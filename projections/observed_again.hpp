#pragma once

#include "admission/model/catalog.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::projections {

/// Configuration as an API server would show it, for whoever changes a part of it and has the state see that. Texts live in `arena`.
/// `to_config` of the result is the configuration again.
[[nodiscard]] ClusterQueueObserved observed_again(const admission::QueueConfig& queue, Arena& arena);
[[nodiscard]] CohortObserved observed_again(const admission::CohortConfig& cohort, Arena& arena);

}  // namespace hindsight::projections
