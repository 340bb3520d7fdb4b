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

struct TopologiesFacts {
  std::map<std::string, std::vector<std::string>> levels;  ///< Of each Topology.
  std::vector<TopologyFlavorFacts> flavors;                ///< Those that name a Topology.
  std::vector<NodeFacts> nodes;
  bool complete = true;  ///< All nodes were looked at.
};

[[nodiscard]] Outcome judge_topologies(const TopologiesFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_topologies(Context& context);

}  // namespace hindsight::doctor
