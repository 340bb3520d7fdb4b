#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/model/catalog.hpp"
#include "projections/json.hpp"

namespace hindsight::projections {

/// Some nodes of which the same is to be said.
struct NodeGroup {
  std::string reason;
  std::int64_t nodes = 0;
  std::vector<std::string> examples;  ///< A few, by name.
};

/// Why the node gives no place to pods of the flavor, whatever these ask for (TAS-17): "not ready", "cordoned", "no label rack". Empty: it
/// gives places.
[[nodiscard]] std::string why_left_out(const admission::StateView& state, const admission::NodeConfig& node,
                                       const admission::FlavorConfig& flavor);

/// The nodes that the flavor selects by its labels and that give no place to its pods all the same: by reason, those of most nodes first.
[[nodiscard]] std::vector<NodeGroup> left_out_nodes(const admission::StateView& state, const admission::FlavorConfig& flavor);

[[nodiscard]] Json to_json(const std::vector<NodeGroup>& groups);
/// "3 nodes give no places: cordoned (n1, n2, n3)".
[[nodiscard]] std::string words_of(const NodeGroup& group);
/// Of how many nodes no name is told.
[[nodiscard]] inline std::int64_t names_left_out(const NodeGroup& group) {
  return group.nodes - static_cast<std::int64_t>(group.examples.size());
}
/// "n1, n2, n3 and 4 more".
[[nodiscard]] std::string example_words(const NodeGroup& group);

}  // namespace hindsight::projections
