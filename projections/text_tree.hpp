#pragma once

#include <string>

#include "projections/json.hpp"

namespace hindsight::projections {

/// A document as `kubectl describe` would print it: "Key:  value" aligned, deeper levels indented, lists of flat objects as tables,
/// keys in words ("clusterQueue" → "Cluster Queue"). Empty lists and objects print as "<none>".
[[nodiscard]] std::string render_tree(const Json& document);

}  // namespace hindsight::projections
