#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "admission/topology/placement.hpp"

namespace hindsight::admission::topology {

/// Pods of one pod set on one leaf, as an assignment in the log or the API says it: of hosts the name alone.
struct AssignedLeaf {
  std::vector<std::string> path;
  std::int32_t pods = 0;  ///< Those of all leaves together are at most unlimited_pods.
  friend bool operator==(const AssignedLeaf&, const AssignedLeaf&) = default;
};

/// Why a failed node has no replacement.
struct NoReplacement {
  std::vector<std::string> stale;  ///< A domain of the assignment that the tree does not have any more; empty: there is none.
  Misfit misfit;                   ///< Else.
  PlacementRules rules;            ///< By which it was looked for.
  std::int32_t outside = 0;        ///< Leaves that only the confinement excluded ("topologyDomain").
};

/// The assignment with other leaves in place of one whose node failed (2724 §3.11): what is left stays, and its pods are placed again,
/// within the domain that a broken slice or a required level names. `free`: with what the workload has on the others charged. `leaves` as
/// for `place`. The result is in the order of the paths.
[[nodiscard]] tl::expected<std::vector<AssignedLeaf>, NoReplacement> replace_leaf(const TopologyTree& tree, const Capacity& free,
                                                                                  const PlacementRules& rules, const PodRequest& request,
                                                                                  std::span<const AssignedLeaf> assigned,
                                                                                  std::span<const std::string> failed,
                                                                                  const LeafRules& leaves = {});

}  // namespace hindsight::admission::topology
