#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "projections/metrics.hpp"

namespace hindsight::projections {

/// All gauges of a state, ready to be serialised.
[[nodiscard]] std::vector<prometheus::MetricFamily> gauges_of(const admission::StateView& state, const MetricsOptions& options);

}  // namespace hindsight::projections
