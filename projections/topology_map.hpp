#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/model/catalog.hpp"
#include "admission/topology/placement.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::projections {

/// A topology with all of its domains: what their nodes have, what is used of that, and what pods could still have. Of all flavors that
/// name the topology together, and each node once; also nodes that do not take part now, because they are not ready or are cordoned
/// (TAS-17). In flat arrays, for topologies of a hundred thousand hosts.
class TopologyMap {
 public:
  struct Domain {
    Symbol name;               ///< Value of its level.
    std::uint32_t parent = 0;  ///< Number in the level above; 0 at the top.
    std::uint32_t first_child = 0, end_of_children = 0;
    std::uint32_t nodes = 0, ready = 0;  ///< How many take part now.
    std::int64_t gang = 0;               ///< Pods of the Workload that was asked for.
  };

  /// `levels`: node labels from the top. `gang_uid`: of whose pods is told; empty: of nobody's.
  TopologyMap(const admission::StateView& state, const Symbol& name, const std::vector<std::string>& levels,
              std::string_view gang_uid = {});

  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  /// That some node has: devices first, then cpu and memory, then all others, each by name.
  [[nodiscard]] const std::vector<Symbol>& resources() const { return resources_; }
  [[nodiscard]] std::size_t size(std::size_t level) const { return domains_[level].size(); }
  /// In the order of their paths; those below one domain are neighbours.
  [[nodiscard]] const Domain& domain(std::size_t level, std::size_t number) const { return domains_[level][number]; }
  /// What the nodes of the domain have (status.allocatable).
  [[nodiscard]] Amount capacity(std::size_t level, std::size_t number, std::size_t resource) const {
    return capacity_[level][number * resources_.size() + resource];
  }
  /// Of that what pods use: those with places, also where they are not made yet, and all others.
  [[nodiscard]] Amount used(std::size_t level, std::size_t number, std::size_t resource) const {
    return used_[level][number * resources_.size() + resource];
  }
  /// All nodes of the topology.
  [[nodiscard]] std::uint32_t nodes() const;
  [[nodiscard]] std::uint32_t ready() const;
  /// Values from the top.
  [[nodiscard]] std::vector<std::string> path(std::size_t level, std::size_t number) const;

  /// For each domain of each level, how many such pods would still find room on nodes that take part, counted leaf by leaf as the rules
  /// count (topology::pods_on).
  [[nodiscard]] std::vector<std::vector<std::int64_t>> room_for(const admission::topology::PodRequest& pod) const;

 private:
  struct Place {
    const admission::NodeConfig* node;
    std::uint32_t values;  ///< Where its values begin.
    bool takes_part;
  };
  void find_places(const admission::StateView& state, const Symbol& name);
  void build();
  void find_resources();
  void add_nodes();
  void add_placed(const admission::StateView& state, std::string_view gang_uid);
  void sum_up();
  [[nodiscard]] std::uint32_t resource(const Symbol& name) const;

  std::vector<std::string> levels_;
  std::vector<Symbol> resources_;
  std::unordered_map<Symbol, std::uint32_t> resource_numbers_;
  std::vector<Symbol> values_;
  std::vector<Place> places_;  ///< In the order of their paths.
  std::unordered_map<const admission::NodeConfig*, std::uint32_t> leaf_of_;
  std::vector<std::vector<Domain>> domains_;
  std::vector<std::vector<Amount>> capacity_, used_;  ///< By level; resource by resource for each domain.
  std::vector<Amount> free_;                          ///< Of leaves, on nodes that take part.
};

}  // namespace hindsight::projections
