#pragma once

#include <vector>

#include "page/view.hpp"
#include "page/views/hour.hpp"

namespace hindsight::page {

/// Views of one state: overview, cohorts, queues, workloads, why, search. `hour`: who tells the curves of the overview; one with an index
/// of the log knows them for logs of any length.
[[nodiscard]] std::vector<ViewRoute> state_views(HourSource hour);
/// With a fold of that hour.
[[nodiscard]] std::vector<ViewRoute> state_views();

}  // namespace hindsight::page
