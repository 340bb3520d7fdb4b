#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "admission/quota/quota_table.hpp"

namespace hindsight::admission {

class QuotaTree;

/// Dominant resource share of one node below its parent (base-admission §7.5). Plain IEEE double arithmetic in a fixed order, so that
/// every machine gets the same bits.
struct Share {
  double ratio = 0;  ///< Unweighted: 1000 × borrowed / lendable of the dominant resource.
  double weight = 1;
  bool borrowing = false;  ///< Some pair exceeds the subtree quota.

  [[nodiscard]] bool infinite() const { return weight == 0 && ratio > 0; }
  /// For finite shares.
  [[nodiscard]] double value() const { return ratio == 0 ? 0 : ratio / weight; }
  /// Rounded up for status; infinite gives 9223372036854775807 (BA-119).
  [[nodiscard]] std::int64_t rounded() const;
};

/// Two infinite shares by their unweighted ratio; an infinite one is larger than any other; else by weighted share (BA-100).
[[nodiscard]] std::weak_ordering compare(const Share& a, const Share& b);

/// The share of a node as its usage stands now.
[[nodiscard]] Share share_of(const QuotaTree& tree, NodeIndex node);
/// Does usage of the node exceed its subtree quota on a pair of which `requests` wants more than nothing (BA-98)?
[[nodiscard]] bool borrows_on(const QuotaTable& table, NodeIndex node, std::span<const CellAmount> requests);

}  // namespace hindsight::admission
