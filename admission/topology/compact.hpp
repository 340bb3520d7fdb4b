#pragma once

#include <cstdint>
#include <optional>

#include "admission/topology/offers.hpp"
#include "admission/topology/placement.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// Steps that the search for the best choice may take. A step looks at one way to add one domain to one number of pods.
inline constexpr std::int64_t compact_steps_max = 1'000'000;

/// Places `gang` on the fewest domains of the top level, of these placements on the fewest of the level below, and so on down to the
/// leaves, the leader's among them. Of equal ones it takes the domains with the least room, so that large ones stay whole.
///
/// The counts are exact as long as the search takes no more than compact_steps_max steps. Beyond that the upper levels are chosen first, as
/// far down as half of the steps that are left allow, and those below within what was chosen; where even one level is too much, its domains
/// are filled up from the largest on, which is still the fewest of that level.
///
/// Nothing: there is no such place, or nodes have scores, which go before any count of
/// domains (gate TASRespectNodeAffinityPreferred).
[[nodiscard]] std::optional<Placement> place_compactly(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang,
                                                       const Offers& offers);

}  // namespace hindsight::admission::topology
