#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

struct TopologyFlavorFacts {
  std::string name, topology;
  std::map<std::string, std::string> node_labels;
};

struct NodeFacts {
  std::string name;
  std::map<std::string, std::string> labels;
};

/// A pod that is bound to a node, and that neither a job of ours has nor a DaemonSet or the node itself owns.
struct StrangerFacts {
  std::string namespace_, name, node;
};

struct TopologiesFacts {
  std::map<std::string, std::vector<std::string>> levels;  ///< Of each Topology.
  std::vector<TopologyFlavorFacts> flavors;                ///< Those that name a Topology.
  std::vector<NodeFacts> nodes;
  bool complete = true;                  ///< All nodes were looked at.
  std::vector<StrangerFacts> strangers;  ///< On whatever nodes.
  std::string pods_unknown;              ///< Why not all pods were looked at; empty: they were.
};

/// Adds the pod if it is one.
void note_stranger(const Json& pod, TopologiesFacts& out);
[[nodiscard]] Outcome judge_topologies(const TopologiesFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_topologies(Context& context);

}  // namespace hindsight::doctor
