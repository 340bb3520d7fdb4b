#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission::topology {

/// Number of a domain among those of its level, in the order of their paths (values of the levels from the top, compared byte by byte). The
/// domains below one are neighbours.
using DomainIndex = std::uint32_t;

/// Amounts of resources for each leaf, a column for a resource: what is free, or used.
class Capacity {
 public:
  Capacity() = default;
  explicit Capacity(std::size_t leaves) : leaves_(leaves) {}

  [[nodiscard]] std::size_t leaves() const { return leaves_; }
  /// By text of the name.
  [[nodiscard]] const std::vector<Symbol>& resources() const { return resources_; }
  /// Null: no leaf has any of it.
  [[nodiscard]] const Amount* column(const Symbol& resource) const;
  [[nodiscard]] Amount at(const Symbol& resource, DomainIndex leaf) const;
  /// May be negative. Saturates.
  void add(const Symbol& resource, DomainIndex leaf, Amount amount);
  /// Of a resource that some leaf has any of.
  void set(const Symbol& resource, DomainIndex leaf, Amount amount);
  /// As `add`, of a resource that some leaf has any of; nothing of others.
  void change(const Symbol& resource, DomainIndex leaf, Amount amount);

 private:
  std::size_t leaves_ = 0;
  std::vector<Symbol> resources_;
  std::vector<std::vector<Amount>> columns_;  ///< In the order of resources_.
};

/// The domains of one flavor (2724 §3.1): for each level the parents and children of its domains. Immutable.
class TopologyTree {
 public:
  /// A node that takes part, with its value at each level and what pods may have of it (status.allocatable, "pods" among them,
  /// without what other pods use: it may be negative).
  struct Node {
    std::string name;
    std::vector<std::string> values;
    std::vector<std::pair<Symbol, Amount>> allocatable;
  };
  /// `levels`: node labels from the top; at least one. Every node has a value for each. With `kubernetes.io/hostname` at the bottom nodes
  /// of one host name are one leaf, and that of the smallest name says where it is.
  [[nodiscard]] static TopologyTree build(std::vector<std::string> levels, std::vector<Node> nodes);
  /// The same, of nodes in the order of their names: `values` has a value for each level, node by node. Sets the leaf of each node. What
  /// nodes have is left to the caller.
  [[nodiscard]] static TopologyTree build(std::vector<std::string> levels, std::vector<Symbol> values, std::vector<DomainIndex>& leaf_of);

  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  [[nodiscard]] std::size_t level_count() const { return levels_.size(); }
  [[nodiscard]] std::size_t lowest() const { return levels_.size() - 1; }
  [[nodiscard]] bool by_host() const { return levels_.back() == "kubernetes.io/hostname"; }
  [[nodiscard]] std::size_t size(std::size_t level) const { return domains_[level].values.size(); }
  [[nodiscard]] std::size_t leaves() const { return size(lowest()); }
  /// Of the level below, [first, last).
  struct Range {
    DomainIndex first, last;
  };
  [[nodiscard]] Range children(std::size_t level, DomainIndex d) const {
    return {domains_[level].first_child[d], domains_[level].first_child[d + 1]};
  }
  /// Of a level that is not the top.
  [[nodiscard]] DomainIndex parent(std::size_t level, DomainIndex d) const { return domains_[level].parent[d]; }
  /// The domain of `level` in which the leaf lies.
  [[nodiscard]] DomainIndex above(DomainIndex leaf, std::size_t level) const;
  [[nodiscard]] std::string_view value(std::size_t level, DomainIndex d) const { return domains_[level].values[d].text(); }
  /// The values from the top; of hosts the name alone (2724 §2.4).
  [[nodiscard]] std::vector<std::string> path(std::size_t level, DomainIndex d) const;
  /// The leaf of an assignment, which names hosts alone where these are the lowest level.
  [[nodiscard]] std::optional<DomainIndex> find_leaf(std::span<const std::string> path) const;
  [[nodiscard]] std::optional<DomainIndex> find_leaf(std::span<const Symbol> path) const;
  /// What the lowest level calls the leaf.
  [[nodiscard]] const Symbol& name(DomainIndex leaf) const { return domains_.back().values[leaf]; }
  /// Does the leaf lie on this path, a value for each level?
  [[nodiscard]] bool is_at(DomainIndex leaf, std::span<const std::string> values) const;
  /// Sums over the nodes of each leaf, where it was built from nodes.
  [[nodiscard]] const Capacity& capacity() const { return capacity_; }

 private:
  struct Level {
    std::vector<Symbol> values;
    std::vector<DomainIndex> parent;       ///< Empty at the top.
    std::vector<DomainIndex> first_child;  ///< One more than there are domains; empty at the bottom.
  };
  std::vector<std::string> levels_;
  std::vector<Level> domains_;
  std::vector<DomainIndex> hosts_;  ///< Leaves by number of the host's name; empty where hosts are no level.
  Capacity capacity_;
};

}  // namespace hindsight::admission::topology
