#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "admission/topology/domain_list.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// What decides how domains sum up those below them.
struct RollUp {
  std::size_t slice_level = 0;
  std::int32_t slice_size = 1;
  bool leader = false;  ///< One is to be placed.
};

/// Sets what domain `d` of `level`, which is not the lowest, offers: the sum of those below it, where the leader is charged to the one
/// where it costs least (2724 §3.4). `rounded_to`: pods of each of them count in multiples of this; 0: all count. `offers`: by level and
/// domain.
void roll_up(const TopologyTree& tree, std::vector<DomainOffers>& offers, std::size_t level, DomainIndex d, const RollUp& how,
             std::int32_t rounded_to);

}  // namespace hindsight::admission::topology
