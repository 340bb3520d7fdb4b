#include "admission/quota/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

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

namespace {

using Amounts = std::vector<CellAmount>;

void add_to(Amounts& sums, CellIndex cell, Amount amount) {
  for (CellAmount& sum : sums)
    if (sum.cell == cell) {
      sum.amount = add(sum.amount, amount);
      return;
    }
  sums.push_back({cell, amount});
}

/// What of a node's usage is of Options beside the one that counts for its family (CA-92). What a node passes to the one above it is what
/// goes beyond its own quota, so each level is worked out from the one below.
Amounts uncounted_usage(const QuotaTree& tree, NodeIndex node) {
  const QuotaTable& table = tree.table();
  std::map<NodeIndex, Amounts, std::greater<>> open;  // children stand behind their parents
  for (const std::uint32_t index : tree.uncounted()) {
    const auto& entry = tree.entry(index);
    if (entry.queue < node || entry.queue >= table.node(node).end) continue;
    for (const CellAmount& a : entry.cells) add_to(open[entry.queue], a.cell, a.amount);
  }
  while (!open.empty() && open.begin()->first != node) {
    const auto [below, amounts] = std::move(*open.begin());
    open.erase(open.begin());
    for (const CellAmount& a : amounts) {
      const QuotaCell& q = table.cell(below, a.cell);
      const auto passed_on = [&](Amount usage) { return std::max<Amount>(0, subtract(usage, q.local)); };
      const Amount more = subtract(passed_on(q.usage), passed_on(subtract(q.usage, a.amount)));
      if (more > 0) add_to(open[table.parent(below)], a.cell, more);
    }
  }
  return open.empty() ? Amounts() : std::move(open.begin()->second);
}

}  // namespace

Share share_of(const QuotaTree& tree, NodeIndex node) {
  const QuotaTable& table = tree.table();
  Share share{0, tree.fair_weight(node), false};
  const NodeIndex parent = table.parent(node);
  if (parent == no_node) return share;

  const Amounts uncounted = tree.uncounted().empty() ? Amounts() : uncounted_usage(tree, node);
  const auto counted = [&](CellIndex cell, Amount usage) {
    for (const CellAmount& a : uncounted)
      if (a.cell == cell) return subtract(usage, a.amount);
    return usage;
  };
  // Cells of one resource stand together, resources in text order: the first of equal ratios has the smaller name.
  const auto cells = table.cells_of(node);
  for (std::size_t i = 0; i < cells.size();) {
    const std::uint32_t resource = table.columns()[cells[i]].resource_number;
    Amount borrowed = 0;
    for (; i < cells.size() && table.columns()[cells[i]].resource_number == resource; ++i) {
      const QuotaCell& q = table.cell(node, cells[i]);
      if (const Amount usage = counted(cells[i], q.usage); usage > q.subtree) borrowed = add(borrowed, subtract(usage, q.subtree));
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
