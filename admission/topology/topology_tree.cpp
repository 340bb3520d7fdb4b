#include "admission/topology/topology_tree.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace hindsight::admission::topology {

const Amount* Capacity::column(const Symbol& resource) const {
  const auto it = std::find(resources_.begin(), resources_.end(), resource);
  return it == resources_.end() ? nullptr : columns_[static_cast<std::size_t>(it - resources_.begin())].data();
}

Amount Capacity::at(const Symbol& resource, DomainIndex leaf) const {
  const Amount* amounts = column(resource);
  return amounts == nullptr ? 0 : amounts[leaf];
}

void Capacity::add(const Symbol& resource, DomainIndex leaf, Amount amount) {
  const auto it = std::lower_bound(resources_.begin(), resources_.end(), resource, ByText{});
  const auto place = it - resources_.begin();
  if (it == resources_.end() || *it != resource) {
    resources_.insert(it, resource);
    columns_.insert(columns_.begin() + place, std::vector<Amount>(leaves_));
  }
  Amount& mine = columns_[static_cast<std::size_t>(place)][leaf];
  mine = hindsight::add(mine, amount);
}

void Capacity::set(const Symbol& resource, DomainIndex leaf, Amount amount) {
  const auto it = std::find(resources_.begin(), resources_.end(), resource);
  columns_[static_cast<std::size_t>(it - resources_.begin())][leaf] = amount;
}

void Capacity::change(const Symbol& resource, DomainIndex leaf, Amount amount) {
  const auto it = std::find(resources_.begin(), resources_.end(), resource);
  if (it == resources_.end()) return;
  Amount& mine = columns_[static_cast<std::size_t>(it - resources_.begin())][leaf];
  mine = hindsight::add(mine, amount);
}

namespace {

/// By node and level, the rank of its value by text: names are compared once each, and not each time when nodes are compared.
std::vector<std::uint32_t> ranks_of(std::span<const Symbol> values, std::size_t height) {
  std::vector<std::uint32_t> out(values.size());
  struct Seen {
    std::uint32_t id, first;  ///< Its number, and the first node that has it.
  };
  for (std::size_t level = 0; level < height; ++level) {
    std::vector<Seen> seen;
    for (std::size_t i = level; i < values.size(); i += height)
      if (seen.empty() || seen.back().id != values[i].id()) seen.push_back({values[i].id(), static_cast<std::uint32_t>(i)});
    std::sort(seen.begin(), seen.end(), [](const Seen& x, const Seen& y) { return x.id != y.id ? x.id < y.id : x.first < y.first; });
    seen.erase(std::unique(seen.begin(), seen.end(), [](const Seen& x, const Seen& y) { return x.id == y.id; }), seen.end());
    std::vector<std::uint32_t> order(seen.size()), rank(seen.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto x, auto y) { return seen[x].first < seen[y].first; });
    const auto less = [&](auto x, auto y) { return ByText{}(values[seen[x].first], values[seen[y].first]); };
    if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);
    for (std::uint32_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
    std::uint32_t last_id = 0, last_rank = 0;
    for (std::size_t i = level; i < values.size(); i += height) {
      const std::uint32_t id = values[i].id();
      if (i == level || id != last_id) {
        const auto it = std::lower_bound(seen.begin(), seen.end(), id, [](const Seen& x, std::uint32_t of) { return x.id < of; });
        last_rank = rank[static_cast<std::size_t>(it - seen.begin())];
        last_id = id;
      }
      out[i] = last_rank;
    }
  }
  return out;
}

/// Nodes of one host name stand where the first of them does.
void join_hosts(std::vector<Symbol>& values, std::size_t height) {
  std::vector<std::uint32_t> nodes(values.size() / height);
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto host = [&](std::uint32_t node) { return values[(node + 1) * height - 1].id(); };
  std::sort(nodes.begin(), nodes.end(), [&](auto a, auto b) { return host(a) != host(b) ? host(a) < host(b) : a < b; });
  for (std::size_t i = 1, first = 0; i < nodes.size(); ++i) {
    if (host(nodes[i]) != host(nodes[first])) {
      first = i;
      continue;
    }
    for (std::size_t level = 0; level < height; ++level) values[nodes[i] * height + level] = values[nodes[first] * height + level];
  }
}

}  // namespace

TopologyTree TopologyTree::build(std::vector<std::string> levels, std::vector<Node> nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.name < b.name; });
  std::vector<Symbol> values;
  for (const auto& node : nodes)
    for (const auto& value : node.values) values.emplace_back(value);
  std::vector<DomainIndex> leaf_of;
  TopologyTree out = build(std::move(levels), std::move(values), leaf_of);
  out.capacity_ = Capacity(out.leaves());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& [resource, amount] : nodes[i].allocatable) out.capacity_.add(resource, leaf_of[i], amount);
  return out;
}

TopologyTree TopologyTree::build(std::vector<std::string> levels, std::vector<Symbol> values, std::vector<DomainIndex>& leaf_of) {
  TopologyTree out;
  out.levels_ = std::move(levels);
  const std::size_t height = out.levels_.size(), count = values.size() / height;
  if (out.by_host()) join_hosts(values, height);
  const auto ranks = ranks_of(values, height);
  const auto row = [&](std::uint32_t node) { return std::span(ranks).subspan(node * height, height); };
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const auto x = row(a), y = row(b);
    const auto differ = std::mismatch(x.begin(), x.end(), y.begin());
    return differ.first == x.end() ? a < b : *differ.first < *differ.second;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);

  out.domains_.resize(height);
  leaf_of.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t same = 0;  // levels that it has in common with the node before
    if (i != 0)
      while (same < height && row(order[i])[same] == row(order[i - 1])[same]) ++same;
    for (std::size_t level = same; level < height; ++level) {
      Level& l = out.domains_[level];
      if (level + 1 < height) l.first_child.push_back(static_cast<DomainIndex>(out.domains_[level + 1].values.size()));
      l.values.push_back(values[order[i] * height + level]);
      if (level != 0) l.parent.push_back(static_cast<DomainIndex>(out.domains_[level - 1].values.size() - 1));
    }
    leaf_of[order[i]] = static_cast<DomainIndex>(out.domains_.back().values.size() - 1);
  }
  for (std::size_t level = 0; level + 1 < height; ++level)
    out.domains_[level].first_child.push_back(static_cast<DomainIndex>(out.domains_[level + 1].values.size()));

  if (out.by_host()) {
    out.hosts_.resize(out.leaves());
    std::iota(out.hosts_.begin(), out.hosts_.end(), DomainIndex{0});
    const auto& names = out.domains_.back().values;
    std::sort(out.hosts_.begin(), out.hosts_.end(), [&](DomainIndex a, DomainIndex b) { return names[a].id() < names[b].id(); });
  }
  for (Level& l : out.domains_) {
    l.values.shrink_to_fit();
    l.parent.shrink_to_fit();
    l.first_child.shrink_to_fit();
  }
  return out;
}

std::optional<DomainIndex> TopologyTree::find_leaf(std::span<const std::string> path) const {
  return find_leaf(std::vector<Symbol>(path.begin(), path.end()));
}

std::optional<DomainIndex> TopologyTree::find_leaf(std::span<const Symbol> path) const {
  if (path.empty() || leaves() == 0) return {};
  if (by_host()) {
    const auto& names = domains_.back().values;
    const auto it = std::lower_bound(hosts_.begin(), hosts_.end(), path.back().id(),
                                     [&](DomainIndex leaf, std::uint32_t id) { return names[leaf].id() < id; });
    return it == hosts_.end() || names[*it] != path.back() ? std::nullopt : std::optional(*it);
  }
  if (path.size() != levels_.size()) return {};
  Range range{0, static_cast<DomainIndex>(size(0))};
  for (std::size_t level = 0;; ++level) {
    const auto& values = domains_[level].values;
    const auto first = values.begin() + range.first, last = values.begin() + range.last;
    const auto it = std::lower_bound(first, last, path[level], ByText{});
    if (it == last || *it != path[level]) return {};
    const auto found = static_cast<DomainIndex>(it - values.begin());
    if (level == lowest()) return found;
    range = children(level, found);
  }
}

DomainIndex TopologyTree::above(DomainIndex leaf, std::size_t level) const {
  DomainIndex d = leaf;
  for (std::size_t l = lowest(); l > level; --l) d = parent(l, d);
  return d;
}

bool TopologyTree::is_at(DomainIndex leaf, std::span<const std::string> values) const {
  DomainIndex d = leaf;
  for (std::size_t l = lowest();; --l) {
    if (domains_[l].values[d].text() != values[l]) return false;
    if (l == 0) return true;
    d = parent(l, d);
  }
}

std::vector<std::string> TopologyTree::path(std::size_t level, DomainIndex d) const {
  if (level == lowest() && by_host()) return {std::string(value(level, d))};
  std::vector<std::string> out(level + 1);
  for (std::size_t l = level;; --l) {
    out[l] = value(l, d);
    if (l == 0) return out;
    d = parent(l, d);
  }
}

}  // namespace hindsight::admission::topology
