#pragma once

// The placement of 2724 §3 a second time, written from the text of the specification and without a look at the real one: slow, plain, to be
// compared with it.
//
// ATTENTION: in six places the text can be read in two ways, or says less than is needed. There the model does what Kueue does (its code of
// 2026, as a stored copy has it), which the real placement does too; each is marked READING. A test that compares the two therefore proves
// nothing about which reading is the better one.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/topology/placement.hpp"

namespace hindsight::admission::topology::testing {

/// Why the plain model places nothing; as Misfit.
struct PlainMisfit {
  bool empty_level = false;
  std::int64_t fit = 0, wanted = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> layers;
  std::map<std::string, std::int64_t> lacking;
  bool uncovered = false;  ///< A list that was chosen did not cover the count (TAS-75). No request should come to that.
};

/// What the plain model says.
struct PlainResult {
  std::map<DomainIndex, std::int64_t> pods;  ///< By leaf; none with 0.
  std::optional<DomainIndex> leader;
  std::optional<PlainMisfit> misfit;
  bool balanced = false;       ///< Balanced placement made it.
  bool close_entropy = false;  ///< Two different lists of counts had entropies that only rounding can tell apart.
};

/// Sections 3.3 to 3.8, and 3.10.
[[nodiscard]] PlainResult plain_place(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang,
                                      const LeafRules& leaves = {});

/// Section 3.2 for requests that are free of errors.
[[nodiscard]] PlacementRules plain_rules(const TopologyRequest& request, const std::vector<std::string>& levels,
                                         const PlacementProfile& profile);

}  // namespace hindsight::admission::topology::testing
