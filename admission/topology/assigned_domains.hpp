#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "admission/model/pod_state.hpp"
#include "admission/model/topology_assignment.hpp"

namespace hindsight::admission::topology {

/// Does the selector lead into domain `i` of the assignment?
[[nodiscard]] bool selects(const NodeSelector& selector, const TopologyAssignment& assignment, std::size_t i);

/// The domains of an assignment, found by what the pods that stand in them select (TAS-80). The assignment must outlive it.
class AssignedDomains {
 public:
  explicit AssignedDomains(const TopologyAssignment& assignment);

  /// Which domain of the assignment this selects; −1: none.
  [[nodiscard]] std::int32_t find(const NodeSelector& selector) const;
  /// What a pod selects in domain `i`.
  [[nodiscard]] NodeSelector selector(std::size_t i) const;

 private:
  const TopologyAssignment& assignment_;
  std::unordered_multimap<Symbol, std::int32_t> by_lowest_;  ///< Value of the lowest level → domain: of hosts there is one each.
};

}  // namespace hindsight::admission::topology
