#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "admission/topology/placement.hpp"

namespace hindsight::admission::topology::testing {

/// The first hard rule that a placement breaks, in words; empty: it keeps all of them. It looks at nothing but the placement itself.
inline std::string broken_rule(const TopologyTree& tree, const Capacity& free, const PlacementRules& rules, const Gang& gang,
                               const LeafRules& leaves, const Placement& placement) {
  const auto is_set = [](std::span<const std::uint8_t> flags, DomainIndex leaf) { return !flags.empty() && flags[leaf] != 0; };
  std::int64_t all = 0;
  for (std::size_t i = 0; i < placement.pods.size(); ++i) {
    const auto& [leaf, n] = placement.pods[i];
    if (n < 1) return "a leaf without pods is told";
    if (i > 0 && placement.pods[i - 1].first >= leaf) return "leaves are not in the order of their paths";
    if (is_set(leaves.excluded, leaf)) return "a pod is on a leaf that is excluded";
    if (is_set(leaves.absent, leaf)) return "a pod is on a leaf that is absent";
    all += n;
  }
  if (all != gang.count) return std::to_string(all) + " pods are placed";
  if (placement.leader.has_value() != gang.leader.has_value()) return "the leader has no place";
  if (placement.leader && is_set(leaves.excluded_for_leader, *placement.leader)) return "the leader is on a leaf that is excluded";
  if (placement.leader && is_set(leaves.absent, *placement.leader)) return "the leader is on a leaf that is absent";

  std::map<std::pair<std::string_view, DomainIndex>, Amount> used;
  for (const auto& [leaf, n] : placement.pods)
    for (const auto& [resource, amount] : gang.request) used[{resource.text(), leaf}] += amount * n;
  if (placement.leader)
    for (const auto& [resource, amount] : *gang.leader) used[{resource.text(), *placement.leader}] += amount;
  for (const auto& [where, amount] : used)
    if (amount > 0 && amount > free.at(Symbol(where.first), where.second)) return "a leaf has less room than it is given";

  if (rules.strict) {
    const DomainIndex home = tree.above(placement.pods.front().first, rules.level);
    for (const auto& [leaf, n] : placement.pods)
      if (tree.above(leaf, rules.level) != home) return "pods are in two domains of the required level";
    if (placement.leader && tree.above(*placement.leader, rules.level) != home) return "the leader is outside of the required domain";
  }
  for (const auto& layer : rules.layers) {
    std::map<DomainIndex, std::int64_t> in;
    for (const auto& [leaf, n] : placement.pods) in[tree.above(leaf, layer.level)] += n;
    for (const auto& [domain, n] : in)
      if (n % layer.size != 0) return "a domain of " + tree.levels()[layer.level] + " has a part of a group";
  }
  return {};
}

}  // namespace hindsight::admission::topology::testing
