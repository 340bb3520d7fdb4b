#pragma once

#include <optional>
#include <string_view>

#include "admission/topology/placement.hpp"
#include "page/view.hpp"

namespace hindsight::page {

/// GET topologies : each with how many nodes it has, how many take part now, and what is used of what they have.
[[nodiscard]] Result<Json> topologies_view(const Look& look, const Parameters& parameters);

/// GET topologies/{name}?workload=&requests=&under= : the domains of a topology as a tree, how full each is, and how many of each level
/// have room for so many pods of the size `requests` (without it, one is chosen). `workload`: NAMESPACE/NAME, its pods are counted by
/// domain. At most `topology_nodes_max` domains are told: levels that do not fit whole are left out, and `under` (values from the top with
/// slashes between) shows a part with its own. Errors: not_found (a topology, Workload or domain), invalid, denied (the Workload's
/// namespace).
[[nodiscard]] Result<Json> topology_view(const Look& look, const Parameters& parameters);

inline constexpr std::size_t topology_nodes_max = 20'000;

/// A topology by its name, with its levels; null pointers: there is none.
struct FoundTopology {
  const Symbol* name = nullptr;
  const std::vector<std::string>* levels = nullptr;
};
/// Errors: not_found; the message names similar ones.
[[nodiscard]] Result<FoundTopology> find_topology(const Look& look, std::string_view name);

/// The parameter `requests`: what one pod takes, as in cpu=1,memory=2Gi; nothing: it was not given. Errors: invalid.
[[nodiscard]] Result<std::optional<admission::topology::PodRequest>> pod_of(const Parameters& parameters);

}  // namespace hindsight::page
