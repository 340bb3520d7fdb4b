#include "admission/topology/replacement.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace hindsight::admission::topology {
namespace {

/// Where the pods have to stay, and in what groups.
struct Confinement {
  std::size_t level = 0;
  DomainIndex domain = 0;
};

/// The innermost layer of which `pods` are no whole groups; null: they are whole groups of the outermost one.
const PlacementRules::Layer* broken_layer(const PlacementRules& rules, std::int32_t pods) {
  if (pods % rules.layers.front().size == 0) return nullptr;
  const PlacementRules::Layer* out = nullptr;
  for (const auto& layer : rules.layers)
    if (pods % layer.size != 0) out = &layer;
  return out;
}

std::optional<Confinement> confine(const TopologyTree& tree, const PlacementRules& rules, const Placement& left, std::int32_t pods) {
  if (left.pods.empty()) return {};
  if (const auto* layer = broken_layer(rules, pods)) {
    std::map<DomainIndex, std::int32_t> in;
    for (const auto& [leaf, n] : left.pods) in[tree.above(leaf, layer->level)] += n;
    for (const auto& [domain, n] : in)
      if ((n + pods) % layer->size == 0) return Confinement{layer->level, domain};
    return {};
  }
  if (rules.strict) return Confinement{rules.level, tree.above(left.pods.front().first, rules.level)};
  return {};
}

/// With a broken slice only the layers within it are asked for.
PlacementRules within_slice(PlacementRules rules, const TopologyTree& tree, std::int32_t pods) {
  PlacementRules::Layer only{tree.lowest(), 1};
  for (const auto& layer : rules.layers)
    if (pods % layer.size == 0) only = layer;
  rules.layers = {only};
  return rules;
}

}  // namespace

tl::expected<std::vector<AssignedLeaf>, NoReplacement> replace_leaf(const TopologyTree& tree, const Capacity& free,
                                                                    const PlacementRules& rules, const PodRequest& request,
                                                                    std::span<const AssignedLeaf> assigned,
                                                                    std::span<const std::string> failed, const LeafRules& leaves) {
  const auto is_absent = [&](DomainIndex leaf) { return !leaves.absent.empty() && leaves.absent[leaf] != 0; };
  NoReplacement why;
  why.rules = rules;
  Placement left;
  std::int32_t pods = 0;
  for (const auto& a : assigned) {
    if (std::ranges::equal(a.path, failed)) {
      pods += a.pods;
      continue;
    }
    const auto leaf = tree.find_leaf(a.path);
    if (!leaf || is_absent(*leaf)) {
      why.stale = a.path;
      return tl::unexpected(std::move(why));
    }
    left.pods.emplace_back(*leaf, a.pods);
  }
  std::sort(left.pods.begin(), left.pods.end());

  std::vector<std::uint8_t> out_of_reach(leaves.excluded.begin(), leaves.excluded.end());
  if (const auto confined = confine(tree, rules, left, pods)) {
    out_of_reach.resize(tree.leaves());
    for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) {
      if (is_absent(leaf) || out_of_reach[leaf] != 0 || tree.above(leaf, confined->level) == confined->domain) continue;
      out_of_reach[leaf] = 1;
      ++why.outside;
    }
    if (broken_layer(rules, pods) != nullptr) why.rules = within_slice(rules, tree, pods);
  }
  const auto placed = place(tree, free, why.rules, Gang{pods, request, {}}, {out_of_reach, {}, leaves.scores, leaves.absent});
  if (!placed) {
    why.misfit = placed.error();
    return tl::unexpected(std::move(why));
  }

  std::map<DomainIndex, std::int32_t> all(left.pods.begin(), left.pods.end());
  for (const auto& [leaf, n] : placed->pods) all[leaf] += n;
  std::vector<AssignedLeaf> out;
  for (const auto& [leaf, n] : all) out.push_back({tree.path(tree.lowest(), leaf), n});
  return out;
}

}  // namespace hindsight::admission::topology
