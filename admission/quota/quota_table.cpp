#include "admission/quota/quota_table.hpp"

#include <cassert>

namespace hindsight::admission {

QuotaTable::QuotaTable(std::vector<Node> nodes, std::vector<Column> columns, const std::vector<OwnQuota>& own,
                       const std::vector<std::vector<CellIndex>>& node_cells)
    : nodes_(std::move(nodes)), columns_(std::move(columns)), cells_(nodes_.size() * columns_.size()) {
  assert(own.size() == cells_.size() && node_cells.size() == nodes_.size());
  node_cells_begin_.reserve(nodes_.size() + 1);
  for (const auto& list : node_cells) {
    node_cells_begin_.push_back(node_cells_.size());
    node_cells_.insert(node_cells_.end(), list.begin(), list.end());
  }
  node_cells_begin_.push_back(node_cells_.size());
  compute(own);
  compute_heights();
  compute_lendable();
}

void QuotaTable::compute(const std::vector<OwnQuota>& own) {
  // Children stand behind their parent, so backwards every child is complete before its parent takes what it lends.
  for (auto n = static_cast<NodeIndex>(nodes_.size()); n-- > 0;) {
    const NodeIndex p = nodes_[n].parent;
    for (CellIndex c = 0; c < columns_.size(); ++c) {
      const OwnQuota& quota = own[index(n, c)];
      QuotaCell& q = cells_[index(n, c)];
      q.subtree = hindsight::add(q.subtree, quota.nominal);
      if (p == no_node) continue;  // limits on a root have no effect
      q.borrowing_limit = quota.borrowing_limit;
      if (quota.lending_limit != unlimited) q.local = std::max<Amount>(0, subtract(q.subtree, quota.lending_limit));
      QuotaCell& above = cells_[index(p, c)];
      above.subtree = hindsight::add(above.subtree, subtract(q.subtree, q.local));
    }
  }
  for (NodeIndex n = 0; n < nodes_.size(); ++n) {
    const NodeIndex p = nodes_[n].parent;
    for (CellIndex c = 0; c < columns_.size(); ++c) {
      QuotaCell& q = cells_[index(n, c)];
      q.potential = q.subtree;
      if (p == no_node) continue;
      q.potential = hindsight::add(q.local, cells_[index(p, c)].potential);
      if (q.borrowing_limit != unlimited) q.potential = std::min(q.potential, hindsight::add(q.subtree, q.borrowing_limit));
    }
  }
}

void QuotaTable::compute_heights() {
  for (auto n = static_cast<NodeIndex>(nodes_.size()); n-- > 0;) {
    const Node& node = nodes_[n];
    if (node.parent == no_node || (node.is_queue && !node.active)) continue;
    Node& above = nodes_[node.parent];
    above.height = std::max(above.height, 1 + (node.is_queue ? 0 : node.height));
  }
}

void QuotaTable::compute_lendable() {
  for (const Column& column : columns_) resource_count_ = std::max<std::size_t>(resource_count_, column.resource_number + 1);
  lendable_.assign(nodes_.size() * resource_count_, 0);
  for (NodeIndex n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].is_queue) continue;  // queues have no children to lend to
    for (CellIndex c = 0; c < columns_.size(); ++c) {
      Amount& sum = lendable_[n * resource_count_ + columns_[c].resource_number];
      sum = hindsight::add(sum, cells_[index(n, c)].potential);
    }
  }
}

Amount QuotaTable::available(NodeIndex n, CellIndex c) const {
  const QuotaCell& q = cell(n, c);
  const NodeIndex p = nodes_[n].parent;
  if (p == no_node) return subtract(q.subtree, q.usage);
  Amount above = available(p, c);
  if (q.borrowing_limit != unlimited) {
    const Amount lent = subtract(q.subtree, q.local);
    const Amount used_of_it = std::max<Amount>(0, subtract(q.usage, q.local));
    above = std::min(above, hindsight::add(subtract(lent, used_of_it), q.borrowing_limit));
  }
  return hindsight::add(std::max<Amount>(0, subtract(q.local, q.usage)), above);
}

bool QuotaTable::fits_in_quota(NodeIndex n, std::span<CellAmount> requests) const {
  bool fits = true;
  for (CellAmount& r : requests) {
    if (borrowing_with(n, r.cell, r.amount)) fits = false;
    r.amount = std::max<Amount>(0, subtract(r.amount, local_available(n, r.cell)));
  }
  return fits;
}

QuotaTable::Level QuotaTable::lowest_subtree_that_fits(NodeIndex queue, CellIndex c, Amount v) const {
  if (!has_parent(queue)) return {0, false};
  if (!borrowing_with(queue, c, v)) return {0, true};
  Amount rest = subtract(v, local_available(queue, c));
  NodeIndex n = parent(queue);
  for (; has_parent(n); n = parent(n)) {
    if (!borrowing_with(n, c, rest)) return {nodes_[n].height, true};
    rest = subtract(rest, local_available(n, c));
  }
  return {nodes_[n].height, false};
}

void QuotaTable::set_usage(std::span<const Amount> queue_usage) {
  assert(queue_usage.size() == cells_.size() && log_.empty());
  saturated_ = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].usage = queue_usage[i];
  for (auto n = static_cast<NodeIndex>(nodes_.size()); n-- > 0;) {
    const NodeIndex p = nodes_[n].parent;
    for (CellIndex c = 0; c < columns_.size(); ++c) {
      const QuotaCell& q = cell(n, c);
      saturated_ = saturated_ || q.usage == unlimited;
      if (p == no_node) continue;
      QuotaCell& above = cells_[index(p, c)];
      above.usage = hindsight::add(above.usage, std::max<Amount>(0, subtract(q.usage, q.local)));
    }
  }
}

void QuotaTable::rollback(Mark mark) {
  while (log_.size() > mark) {
    cells_[log_.back().index].usage = log_.back().usage;
    log_.pop_back();
  }
}

}  // namespace hindsight::admission
