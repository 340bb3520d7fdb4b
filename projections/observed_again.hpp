#pragma once

#include "admission/model/catalog_view.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::projections {

/// Configuration as an API server would show it, for whoever changes a part of it and has the state see that. Texts live in `arena`.
/// `to_config` of the result is the configuration again.
[[nodiscard]] ClusterQueueObserved observed_again(const admission::QueueConfig& queue, Arena& arena);
[[nodiscard]] CohortObserved observed_again(const admission::CohortConfig& cohort, Arena& arena);
/// Without the status of its consumed resources.
[[nodiscard]] LocalQueueObserved observed_again(const admission::LocalQueueConfig& queue, Arena& arena);
/// A node like this one, of another name and with nothing on it. `name` lives as long as `arena`.
[[nodiscard]] NodeObserved observed_as(const admission::NodeConfig& like, Text name, Arena& arena);

}  // namespace hindsight::projections
