#include "admission/quota/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "admission/quota/quota_tree.hpp"

namespace hindsight::admission {

std::int64_t Share::rounded() const {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  if (infinite()) return largest;
  const double up = std::ceil(value());
  return up >= 9223372036854775807.0 ? largest : static_cast<std::int64_t>(up);
}

std::weak_ordering compare(const Share& a, const Share& b) {
  const auto order = [](double x, double y) {
    if (x < y) return std::weak_ordering::less;
    return x > y ? std::weak_ordering::greater : std::weak_ordering::equivalent;
  };
  if (a.infinite() && b.infinite()) return order(a.ratio, b.ratio);
  if (a.infinite()) return std::weak_ordering::greater;
  if (b.infinite()) return std::weak_ordering::less;
  return order(a.value(), b.value());
}

Share share_of(const QuotaTree& tree, NodeIndex node) {
  const QuotaTable& table = tree.table();
  Share share{0, tree.fair_weight(node), false};
  const NodeIndex parent = table.parent(node);
  if (parent == no_node) return share;

  // Cells of one resource stand together, resources in text order: the first of equal ratios has the smaller name.
  const auto cells = table.cells_of(node);
  for (std::size_t i = 0; i < cells.size();) {
    const std::uint32_t resource = table.columns()[cells[i]].resource_number;
    Amount borrowed = 0;
    for (; i < cells.size() && table.columns()[cells[i]].resource_number == resource; ++i) {
      const QuotaCell& q = table.cell(node, cells[i]);
      if (q.usage > q.subtree) borrowed = add(borrowed, subtract(q.usage, q.subtree));
    }
    if (borrowed == 0) continue;
    share.borrowing = true;
    const Amount lendable = table.lendable(parent, resource);
    if (lendable > 0) share.ratio = std::max(share.ratio, static_cast<double>(borrowed) * 1000.0 / static_cast<double>(lendable));
  }
  return share;
}

bool borrows_on(const QuotaTable& table, NodeIndex node, std::span<const CellAmount> requests) {
  return std::any_of(requests.begin(), requests.end(), [&](const CellAmount& r) {
    const QuotaCell& q = table.cell(node, r.cell);
    return r.amount > 0 && q.usage > q.subtree;
  });
}

}  // namespace hindsight::admission
