#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "projections/metrics.hpp"

namespace hindsight::projections {

/// Are metrics of this LocalQueue wanted (BA-187)? One that is not there matches a selector that asks for nothing.
[[nodiscard]] bool selects(const MetricsOptions& options, const admission::StateView& state, Symbol namespace_, Symbol local_queue);

/// All gauges of a state, ready to be serialised.
[[nodiscard]] std::vector<prometheus::MetricFamily> gauges_of(const admission::StateView& state, const MetricsOptions& options);

}  // namespace hindsight::projections
