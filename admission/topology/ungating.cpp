#include "admission/topology/ungating.hpp"

#include <algorithm>
#include <cstddef>

namespace hindsight::admission::topology {
namespace {

/// −1: the labels say none.
std::int32_t rank_of(const PodAtGate& pod, const RankRules& rules) {
  if (!pod.index) return -1;
  const std::int64_t index = std::int64_t{*pod.index} - rules.offset;
  if (!rules.groups) return index >= 0 && index < rules.count ? static_cast<std::int32_t>(index) : -1;
  if (*rules.groups <= 0 || !pod.group || *pod.group < 0 || *pod.group >= *rules.groups) return -1;
  const std::int32_t size = rules.count / *rules.groups;
  if (index < 0 || index >= size) return -1;
  return static_cast<std::int32_t>(index + std::int64_t{*pod.group} * size);
}

/// The domain of every pod that has not ended, by rank; nothing: ranks say too little, or what cannot be.
std::optional<std::vector<std::int32_t>> by_rank(std::span<const std::int32_t> counts, const RankRules& rules,
                                                 std::span<const PodAtGate> pods) {
  if (!rules.ranked) return {};
  std::vector<std::int32_t> domain_of;  // by rank
  for (std::size_t d = 0; d < counts.size(); ++d)
    domain_of.insert(domain_of.end(), static_cast<std::size_t>(std::max(0, counts[d])), static_cast<std::int32_t>(d));
  std::vector<bool> taken(domain_of.size());
  std::vector<std::int32_t> out(pods.size(), -1);
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (pods[i].ended) continue;
    const std::int32_t rank = rank_of(pods[i], rules);
    if (rank < 0 || static_cast<std::size_t>(rank) >= domain_of.size()) return {};
    const auto place = static_cast<std::size_t>(rank);
    if (taken[place]) return {};
    taken[place] = true;
    if (!pods[i].gated && pods[i].domain != domain_of[place]) return {};
    out[i] = domain_of[place];
  }
  return out;
}

}  // namespace

std::vector<std::int32_t> places_for(std::span<const std::int32_t> counts, const RankRules& rules, std::span<const PodAtGate> pods,
                                     std::span<const std::uint8_t> unusable) {
  const auto usable = [&](std::size_t domain) { return unusable.empty() || unusable[domain] == 0; };
  std::vector<std::int32_t> out(pods.size(), -1);
  if (const auto ranked = by_rank(counts, rules, pods)) {
    for (std::size_t i = 0; i < pods.size(); ++i)
      if (pods[i].gated && !pods[i].ended && usable(static_cast<std::size_t>((*ranked)[i]))) out[i] = (*ranked)[i];
    return out;
  }
  std::vector<std::int64_t> room(counts.begin(), counts.end());
  for (const auto& pod : pods)
    if (!pod.gated && !pod.ended && pod.domain >= 0 && static_cast<std::size_t>(pod.domain) < room.size())
      --room[static_cast<std::size_t>(pod.domain)];
  std::size_t domain = 0;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (!pods[i].gated || pods[i].ended) continue;
    while (domain < room.size() && (room[domain] <= 0 || !usable(domain))) ++domain;
    if (domain == room.size()) break;
    --room[domain];
    out[i] = static_cast<std::int32_t>(domain);
  }
  return out;
}

}  // namespace hindsight::admission::topology
