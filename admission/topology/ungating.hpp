#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hindsight::admission::topology {

/// A pod of a placed pod set, as far as its place goes (2724 §4.7).
struct PodAtGate {
  bool gated = false;                 ///< It waits for its place.
  bool ended = false;                 ///< Succeeded or Failed: its place is free again (TAS-85).
  std::optional<std::int32_t> index;  ///< Of its index label; nothing: there is none, or it is no number.
  std::optional<std::int32_t> group;  ///< Of its label for sub-groups.
  std::int32_t domain = -1;           ///< Of one that is not gated: which domain of the assignment it selects; −1: none of them.
};

/// How ranks follow from the labels of pods (TAS-81, TAS-82).
struct RankRules {
  bool ranked = false;                 ///< The kind of job has an index label.
  std::int32_t count = 0;              ///< Pods of the pod set.
  std::int32_t offset = 0;             ///< First index.
  std::optional<std::int32_t> groups;  ///< Sub-groups of equal size; nothing: there are none.
};

/// Which domain of the assignment each gated pod gets now; −1: it stays at its gate, or has none. `counts`: pods of each domain, in the
/// order of the assignment. By rank where every pod that has not ended says a rank that makes sense, each its own; else whoever comes
/// first, domain by domain (TAS-83, TAS-84). `unusable`: a byte for each domain, not 0 where nobody is to go now (TAS-88); empty: all may.
[[nodiscard]] std::vector<std::int32_t> places_for(std::span<const std::int32_t> counts, const RankRules& rules,
                                                   std::span<const PodAtGate> pods, std::span<const std::uint8_t> unusable = {});

}  // namespace hindsight::admission::topology
