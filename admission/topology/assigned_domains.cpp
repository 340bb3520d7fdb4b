#include "admission/topology/assigned_domains.hpp"

#include <algorithm>

namespace hindsight::admission::topology {
namespace {

const Symbol* value_of(const NodeSelector& selector, const Symbol& key) {
  const auto found = std::find_if(selector.entries.begin(), selector.entries.end(), [&](const auto& entry) { return entry.first == key; });
  return found == selector.entries.end() ? nullptr : &found->second;
}

}  // namespace

AssignedDomains::AssignedDomains(const TopologyAssignment& assignment) : assignment_(assignment) {
  by_lowest_.reserve(assignment.size());
  for (std::size_t i = 0; i < assignment.size(); ++i) by_lowest_.emplace(assignment.domain(i).back(), static_cast<std::int32_t>(i));
}

bool selects(const NodeSelector& selector, const TopologyAssignment& assignment, std::size_t i) {
  const auto values = assignment.domain(i);
  for (std::size_t level = 0; level < values.size(); ++level) {
    const Symbol* value = value_of(selector, assignment.levels[level]);
    if (value == nullptr || *value != values[level]) return false;
  }
  return true;
}

std::int32_t AssignedDomains::find(const NodeSelector& selector) const {
  if (assignment_.empty()) return -1;
  const Symbol* lowest = value_of(selector, assignment_.levels.back());
  if (lowest == nullptr) return -1;
  std::int32_t out = -1;  // the first in the order of the assignment, should a domain stand in it twice
  const auto [from, to] = by_lowest_.equal_range(*lowest);
  for (auto it = from; it != to; ++it)
    if ((out < 0 || it->second < out) && selects(selector, assignment_, static_cast<std::size_t>(it->second))) out = it->second;
  return out;
}

NodeSelector AssignedDomains::selector(std::size_t i) const {
  NodeSelector out;
  const auto values = assignment_.domain(i);
  for (std::size_t level = 0; level < values.size(); ++level) out.entries.emplace_back(assignment_.levels[level], values[level]);
  std::sort(out.entries.begin(), out.entries.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  return out;
}

}  // namespace hindsight::admission::topology
