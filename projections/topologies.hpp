#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/topology/placement.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "projections/table.hpp"
#include "projections/tables.hpp"

namespace hindsight::projections {

/// What there is of a node, or of several, and who has it.
struct NodeShare {
  using Amounts = std::map<std::string, Amount>;  ///< By resource.
  Amounts allocatable;
  Amounts others;                             ///< Used by pods that no assignment stands for.
  Amounts placed;                             ///< Of pods with places, also of those that are not made yet.
  std::int64_t pods = 0;                      ///< So many.
  std::map<std::string, std::int64_t> whose;  ///< "namespace/name" of a Workload → pods of it.

  [[nodiscard]] Amount free(const std::string& resource) const;
  void add(const NodeShare& other);
};

/// Shares of all nodes by name; what stands on hosts without a node is left out.
[[nodiscard]] std::map<std::string, NodeShare> node_shares(const StateView& state);

/// May pods of the flavor stand on the node now: is it ready, not cordoned, and has it all labels and levels (TAS-17)?
[[nodiscard]] bool takes_part(const StateView& state, const admission::NodeConfig& node, const admission::FlavorConfig& flavor);

[[nodiscard]] Table nodes_table(const StateView& state, const Filter& filter);
[[nodiscard]] Json node_object(const admission::NodeConfig& node, const NodeShare& share);
/// With the flavors whose pods may stand there.
[[nodiscard]] Json node_object(const StateView& state, const admission::NodeConfig& node, const NodeShare& share);

[[nodiscard]] Table topologies_table(const StateView& state, const Filter& filter);
[[nodiscard]] Json topology_object(const Symbol& name, const std::vector<std::string>& levels);
/// With its domains by flavor and what is free of them, and how large a gang finds room. `pod`: what one takes of each resource; without
/// it one is chosen.
[[nodiscard]] Json topology_object(const StateView& state, const Symbol& name, const std::vector<std::string>& levels,
                                   const std::optional<admission::topology::PodRequest>& pod = {});

/// The domains of a topology as a tree, by flavor: how many nodes take part, what is free, whose pods are there.
[[nodiscard]] Json describe_topology(const StateView& state, const Symbol& name, const std::vector<std::string>& levels,
                                     const std::optional<admission::topology::PodRequest>& pod = {});
/// One node: what is free of it, and whose pods stand there.
[[nodiscard]] Json describe_node(const StateView& state, const admission::NodeConfig& node);

}  // namespace hindsight::projections
