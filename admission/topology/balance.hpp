#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "admission/topology/domain_list.hpp"
#include "admission/topology/offers.hpp"
#include "admission/topology/placement.hpp"
#include "admission/topology/topology_tree.hpp"

namespace hindsight::admission::topology {

/// Steps that the choice of domains may take. It is exact, so that thousands of unequal domains would cost more than a cycle may.
inline constexpr std::int64_t balance_steps_max = 1'000'000;

/// Domains that share the pods of a gang evenly.
struct Balanced {
  std::size_t level = 0;
  DomainOffers domains;              ///< Each with what it gets: pods, slices, lead.
  std::vector<DomainOffers> offers;  ///< As those that were passed in, less those below the least share.
};

/// Spreads `gang` over domains of one parent so that the smallest share is as large as possible, with as few domains as that takes (§3.10).
/// Nothing: no parent has room for all of it, shares cannot be evened out, or the choice would take more than balance_steps_max
/// steps.
[[nodiscard]] std::optional<Balanced> balance(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang,
                                              const Offers& offers);

}  // namespace hindsight::admission::topology
