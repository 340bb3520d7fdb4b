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

void Capacity::change(const Symbol& resource, DomainIndex leaf, Amount amount) {
  const auto it = std::find(resources_.begin(), resources_.end(), resource);
  if (it == resources_.end()) return;
  Amount& mine = columns_[static_cast<std::size_t>(it - resources_.begin())][leaf];
  mine = hindsight::add(mine, amount);
}

TopologyTree TopologyTree::build(std::vector<std::string> levels, std::vector<Node> nodes) {
  TopologyTree out;
  out.levels_ = std::move(levels);
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.name < b.name; });
  if (out.by_host()) {
    std::map<std::string, const std::vector<std::string>*> of_host;
    for (auto& n : nodes) {
      const auto [it, first] = of_host.try_emplace(n.values.back(), &n.values);
      if (!first) n.values = *it->second;
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.values < b.values; });

  out.domains_.resize(out.levels_.size());
  std::vector<DomainIndex> leaf_of(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& values = nodes[i].values;
    std::size_t same = 0;  // levels that it has in common with the node before
    if (i != 0)
      while (same < values.size() && values[same] == nodes[i - 1].values[same]) ++same;
    for (std::size_t level = same; level < values.size(); ++level) {
      Level& l = out.domains_[level];
      if (level + 1 < values.size()) l.first_child.push_back(static_cast<DomainIndex>(out.domains_[level + 1].values.size()));
      l.values.emplace_back(values[level]);
      if (level != 0) l.parent.push_back(static_cast<DomainIndex>(out.domains_[level - 1].values.size() - 1));
    }
    leaf_of[i] = static_cast<DomainIndex>(out.domains_.back().values.size() - 1);
  }
  for (std::size_t level = 0; level + 1 < out.domains_.size(); ++level)
    out.domains_[level].first_child.push_back(static_cast<DomainIndex>(out.domains_[level + 1].values.size()));

  if (out.by_host()) {
    out.hosts_.resize(out.leaves());
    std::iota(out.hosts_.begin(), out.hosts_.end(), DomainIndex{0});
    const auto& names = out.domains_.back().values;
    std::sort(out.hosts_.begin(), out.hosts_.end(), [&](DomainIndex a, DomainIndex b) { return names[a].text() < names[b].text(); });
  }
  for (Level& l : out.domains_) {
    l.values.shrink_to_fit();
    l.parent.shrink_to_fit();
    l.first_child.shrink_to_fit();
  }
  out.capacity_ = Capacity(out.leaves());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& [resource, amount] : nodes[i].allocatable) out.capacity_.add(resource, leaf_of[i], amount);
  return out;
}

std::optional<DomainIndex> TopologyTree::find_leaf(std::span<const std::string> path) const {
  if (path.empty() || leaves() == 0) return {};
  if (by_host()) {
    const auto& names = domains_.back().values;
    const auto it = std::lower_bound(hosts_.begin(), hosts_.end(), path.back(),
                                     [&](DomainIndex leaf, const std::string& name) { return names[leaf].text() < name; });
    return it == hosts_.end() || names[*it].text() != path.back() ? std::nullopt : std::optional(*it);
  }
  if (path.size() != levels_.size()) return {};
  Range range{0, static_cast<DomainIndex>(size(0))};
  for (std::size_t level = 0;; ++level) {
    const auto& values = domains_[level].values;
    const auto first = values.begin() + range.first, last = values.begin() + range.last;
    const auto it =
        std::lower_bound(first, last, path[level], [](const Symbol& value, const std::string& of) { return value.text() < of; });
    if (it == last || it->text() != path[level]) return {};
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
