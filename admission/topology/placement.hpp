#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/topology_request.hpp"
#include "admission/topology/domain_list.hpp"
#include "admission/topology/offers.hpp"
#include "admission/topology/topology_tree.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::admission::topology {

/// The same for one tree (§3.2).
struct PlacementRules {
  std::size_t level = 0;    ///< Where the search begins.
  bool strict = false;      ///< One domain of `level`, or nothing.
  bool free = false;        ///< Any set of domains of `level`; never a look at the levels above.
  bool least_free = false;  ///< The smallest that fit, in place of the largest (LeastFreeCapacity).
  bool balanced = false;    ///< Spread evenly where that is possible (§3.10); else as without it.
  bool compact = false;     ///< The fewest domains of each level (compact.hpp), where that can be found; else as without it.
  struct Layer {
    std::size_t level = 0;
    std::int32_t size = 1;
  };
  std::vector<Layer> layers;  ///< At least one, of which the first counts the slices.
};

/// Feature gates and settings that choose how pods are placed.
struct PlacementProfile {
  bool mixed = true;      ///< TASProfileMixed: pods that may stand anywhere fill the fullest places first.
  bool balanced = false;  ///< TASBalancedPlacement: pods that prefer a level are spread evenly.
  bool compact = false;   ///< hindsight.topologyProfile Compact: the fewest domains of each level, from the top down (compact.hpp).
};

/// Reads a request for a tree with these levels. `implied`: all flavors of the queue have a topology, so that no request means
/// unconstrained. Errors: the texts of §2.9.
[[nodiscard]] Result<PlacementRules> rules_for(const TopologyRequest& request, const std::vector<std::string>& levels, bool implied,
                                               const PlacementProfile& profile);

/// A group of pods that are placed together: alike ones, and maybe one more that leads them.
struct Gang {
  std::int32_t count = 0;
  PodRequest request;
  std::optional<PodRequest> leader;
};

/// Where pods stand: leaves in the order of their paths, each with at least one.
struct Placement {
  std::vector<std::pair<DomainIndex, std::int32_t>> pods;
  std::optional<DomainIndex> leader;
};

/// Why there is no placement.
struct Misfit {
  bool empty_level = false;  ///< There are no domains to look at.
  std::int32_t leaves = 0;   ///< That were looked at.
  /// Level and domain with the most room among those that were looked at last; nothing: there is none.
  std::optional<std::pair<std::size_t, DomainIndex>> nearest;
  std::int32_t fit = 0, wanted = 0;  ///< In slices where they are larger than a pod.
  /// With several layers: how many groups of each fit, of how many.
  std::vector<std::pair<std::int32_t, std::int32_t>> layers;
  /// How many leaves have no room for a single pod, by the resource that they lack most.
  std::map<std::string, std::int32_t> lacking;
};

/// What such a gang asks of the domains of a tree.
[[nodiscard]] Question question_of(const TopologyTree& tree, const PlacementRules& rules, const Gang& gang);

/// Is the Misfit looked at? Who tries hundreds of times does without.
enum class Explain : std::uint8_t { yes, no };

/// Places the gang where domains offer so much, counted for its question (§3.5 to §3.8, §3.10). The same for the same input on every
/// machine; independent of the order in which nodes were told.
[[nodiscard]] tl::expected<Placement, Misfit> place(const TopologyTree& tree, const Offers& offers, const PlacementRules& rules,
                                                    const Gang& gang, Explain explain = Explain::yes);

/// As above, and counts first (§3.3 to §3.8, §3.10).
[[nodiscard]] tl::expected<Placement, Misfit> place(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules,
                                                    const Gang& gang, const LeafRules& leaves = {});

/// How many such pods a leaf has room for, and what limits them most; the name is empty where nothing does.
[[nodiscard]] std::pair<std::int32_t, Symbol> pods_on(const Capacity& free, const PodRequest& request, DomainIndex leaf);

/// Takes what the placed pods need off `free`, or gives it back (`sign` −1).
void charge(Capacity& free, const Gang& gang, const Placement& placement, int sign = 1);

/// The sentence of §2.9. `topology`: its name; `excluded`: leaves that were excluded, by the words for why ("nodeSelector").
[[nodiscard]] std::string text_of(const Misfit& misfit, std::string_view topology, const TopologyTree& tree, const PlacementRules& rules,
                                  const std::map<std::string, std::int32_t>& excluded = {});

}  // namespace hindsight::admission::topology
