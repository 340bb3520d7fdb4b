#pragma once

#include <vector>

#include "page/view.hpp"

namespace hindsight::page {

/// Views of what was decided and of what records say: preemptions, one decision, topologies, two moments compared, records, epochs.
[[nodiscard]] std::vector<ViewRoute> decision_views();

}  // namespace hindsight::page
