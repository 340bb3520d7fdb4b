#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

using NodeIndex = std::uint32_t;
using CellIndex = std::uint32_t;  ///< Number of a (flavor, resource) pair in its tree; ascending by resource text, then flavor text.
inline constexpr NodeIndex no_node = ~NodeIndex{0};
inline constexpr CellIndex no_cell = ~CellIndex{0};

/// An amount of one (flavor, resource) pair.
struct CellAmount {
  CellIndex cell = 0;
  Amount amount = 0;
  friend bool operator==(const CellAmount&, const CellAmount&) = default;
};

/// What one node of the quota tree has and uses of one (flavor, resource) pair (base-admission §2.1).
struct QuotaCell {
  Amount usage = 0;                    ///< Queue: sum of its reservations. Cohort: what its children use beyond their `local`.
  Amount subtree = 0;                  ///< Queue: nominal. Cohort: own nominal and what the children lend.
  Amount local = 0;                    ///< Of `subtree`, what is not lent to the parent.
  Amount borrowing_limit = unlimited;  ///< Unlimited: none.
  Amount potential = 0;                ///< Largest amount that can ever be available here (§2.2).
};

/// The arithmetic of §2 over flat arrays: one row for each node, one cell for each (flavor, resource) pair.
///
/// Nodes stand in preorder, so the subtree of n is [n, node(n).end). Changes of usage are either charged for good (`charge`,
/// `discharge`) or tried out (`add`, `remove`) and taken back by `rollback`.
class QuotaTable {
 public:
  struct Node {
    NodeIndex parent = no_node;
    NodeIndex end = 0;        ///< One behind the last node of the subtree.
    std::int32_t height = 0;  ///< §2.2; queues count as leaves, inactive ones do not count.
    bool is_queue = false;
    bool active = true;  ///< Inactive queues take no part in scheduling, their quota and usage count.
  };
  struct Column {
    Symbol flavor;
    Symbol resource;
    std::uint32_t flavor_number = 0;    ///< Position of the flavor among the flavors of the tree.
    std::uint32_t resource_number = 0;  ///< Position of the resource among the resources of the tree, in text order.
  };
  /// Own quota of one node, input of `compute`.
  struct OwnQuota {
    Amount nominal = 0;
    Amount borrowing_limit = unlimited;
    Amount lending_limit = unlimited;
  };
  using Mark = std::size_t;

  // ---- construction ---------------------------------------------------------------------------------------------------

  /// `nodes` in preorder, `columns` sorted, `own` one row of columns.size() for each node, `node_cells` the cells that a node's
  /// subtree has quota for or may use, ascending.
  QuotaTable(std::vector<Node> nodes, std::vector<Column> columns, const std::vector<OwnQuota>& own,
             const std::vector<std::vector<CellIndex>>& node_cells);
  QuotaTable() = default;

  // ---- structure ------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Column> columns() const { return columns_; }
  [[nodiscard]] const Node& node(NodeIndex n) const { return nodes_[n]; }
  [[nodiscard]] NodeIndex parent(NodeIndex n) const { return nodes_[n].parent; }
  [[nodiscard]] bool has_parent(NodeIndex n) const { return nodes_[n].parent != no_node; }
  [[nodiscard]] const QuotaCell& cell(NodeIndex n, CellIndex c) const { return cells_[index(n, c)]; }
  /// The cells that matter at n, ascending.
  [[nodiscard]] std::span<const CellIndex> cells_of(NodeIndex n) const {
    return std::span(node_cells_).subspan(node_cells_begin_[n], node_cells_begin_[n + 1] - node_cells_begin_[n]);
  }
  /// Σ over flavors of the potential of n for one resource: what n can lend to its children (§7.5).
  [[nodiscard]] Amount lendable(NodeIndex n, std::uint32_t resource_number) const {
    return lendable_[n * resource_count_ + resource_number];
  }

  // ---- values (§2.2) --------------------------------------------------------------------------------------------------

  /// What n could take now; negative where usage exceeds quota (D7).
  [[nodiscard]] Amount available(NodeIndex n, CellIndex c) const;
  /// What is offered: never negative.
  [[nodiscard]] Amount offered(NodeIndex n, CellIndex c) const { return std::max<Amount>(0, available(n, c)); }
  [[nodiscard]] Amount local_available(NodeIndex n, CellIndex c) const {
    const QuotaCell& q = cell(n, c);
    return std::max<Amount>(0, subtract(q.local, q.usage));
  }
  [[nodiscard]] bool borrowing_with(NodeIndex n, CellIndex c, Amount v) const {
    const QuotaCell& q = cell(n, c);
    return hindsight::add(q.usage, v) > q.subtree;
  }
  [[nodiscard]] bool within_nominal(NodeIndex n, std::span<const CellIndex> set) const {
    for (const CellIndex c : set)
      if (cell(n, c).usage > cell(n, c).subtree) return false;
    return true;
  }
  /// Does n alone hold all of `requests`? They become what n passes to its parent.
  [[nodiscard]] bool fits_in_quota(NodeIndex n, std::span<CellAmount> requests) const;

  struct Level {
    std::int32_t level = 0;   ///< Borrowing level: height of the lowest subtree that fits.
    bool more_above = false;  ///< That subtree is not the whole tree.
  };
  [[nodiscard]] Level lowest_subtree_that_fits(NodeIndex queue, CellIndex c, Amount v) const;

  // ---- usage (§2.3) ---------------------------------------------------------------------------------------------------

  /// For good. The exact inverse of each other, in any interleaving, as long as no usage reaches Unlimited; `saturated` tells that one
  /// did, and then only `set_usage` is exact.
  void charge(NodeIndex n, CellIndex c, Amount v) { add_usage<false>(n, c, v); }
  void discharge(NodeIndex n, CellIndex c, Amount v) { remove_usage<false>(n, c, v); }
  [[nodiscard]] bool saturated() const { return saturated_; }
  /// Recomputes the usage of all nodes from that of the queues: `queue_usage` has one row for each node.
  void set_usage(std::span<const Amount> queue_usage);

  /// On trial, until `rollback`.
  void add(NodeIndex n, std::span<const CellAmount> amounts) {
    for (const auto& a : amounts) add_usage<true>(n, a.cell, a.amount);
  }
  void remove(NodeIndex n, std::span<const CellAmount> amounts) {
    for (const auto& a : amounts) remove_usage<true>(n, a.cell, a.amount);
  }
  [[nodiscard]] Mark mark() const { return log_.size(); }
  void rollback(Mark mark);

 private:
  struct Change {
    std::size_t index = 0;
    Amount usage = 0;
  };

  [[nodiscard]] std::size_t index(NodeIndex n, CellIndex c) const { return static_cast<std::size_t>(n) * columns_.size() + c; }
  void compute(const std::vector<OwnQuota>& own);
  void compute_heights();
  void compute_lendable();
  template <bool trial>
  void add_usage(NodeIndex n, CellIndex c, Amount v);
  template <bool trial>
  void remove_usage(NodeIndex n, CellIndex c, Amount v);

  std::vector<Node> nodes_;
  std::vector<Column> columns_;
  std::vector<QuotaCell> cells_;
  std::vector<CellIndex> node_cells_;
  std::vector<std::size_t> node_cells_begin_;
  std::vector<Amount> lendable_;
  std::size_t resource_count_ = 0;
  std::vector<Change> log_;
  bool saturated_ = false;
};

template <bool trial>
inline void QuotaTable::add_usage(NodeIndex n, CellIndex c, Amount v) {
  for (;;) {
    const std::size_t i = index(n, c);
    QuotaCell& q = cells_[i];
    const Amount overflow = subtract(v, std::max<Amount>(0, subtract(q.local, q.usage)));
    if constexpr (trial) log_.push_back({i, q.usage});
    q.usage = hindsight::add(q.usage, v);
    if constexpr (!trial) saturated_ = saturated_ || q.usage == unlimited;
    n = nodes_[n].parent;
    if (n == no_node || overflow <= 0) return;
    v = overflow;
  }
}

template <bool trial>
inline void QuotaTable::remove_usage(NodeIndex n, CellIndex c, Amount v) {
  for (;;) {
    const std::size_t i = index(n, c);
    QuotaCell& q = cells_[i];
    const Amount stored = subtract(q.usage, q.local);
    if constexpr (trial) log_.push_back({i, q.usage});
    q.usage = subtract(q.usage, v);
    n = nodes_[n].parent;
    if (n == no_node || stored <= 0) return;
    v = std::min(v, stored);
  }
}

}  // namespace hindsight::admission
