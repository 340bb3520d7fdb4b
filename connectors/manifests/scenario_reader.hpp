#pragma once

#include <vector>

#include "connectors/manifests/scenario.hpp"

namespace hindsight::connectors::manifests {

/// Reads a `kind: Scenario`; what is wrong with it is appended to `problems`, with fields as the document has them.
[[nodiscard]] Scenario read_scenario(Json document, std::vector<Problem>& problems);

}  // namespace hindsight::connectors::manifests
