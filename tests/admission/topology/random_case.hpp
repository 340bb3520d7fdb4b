#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admission/topology/placement.hpp"

namespace hindsight::admission::topology::testing {

/// A tree, what nodes say, and a request, made of a seed.
struct RandomCase {
  unsigned seed = 0;
  TopologyTree tree;
  Capacity free;
  TopologyRequest request;
  PlacementProfile profile;
  Gang gang;
  std::vector<std::uint8_t> excluded, excluded_for_leader;
  std::vector<std::int64_t> scores;
  bool huge = false;  ///< Leaves may have room for more pods than a count can tell.

  [[nodiscard]] LeafRules leaf_rules() const { return {excluded, excluded_for_leader, scores, {}}; }
  /// For a person to read.
  [[nodiscard]] std::string words() const;
};

/// The same for the same seed on every machine.
[[nodiscard]] RandomCase random_case(unsigned seed);

}  // namespace hindsight::admission::topology::testing
