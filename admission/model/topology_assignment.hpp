#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

/// Where the pods of a pod set shall stand (2724 §2.4): domains of the lowest level, each with the number of its pods. Their order says
/// which ranks stand where.
struct TopologyAssignment {
  std::vector<Symbol> levels;        ///< Node labels that the pods select by: all, or of hosts `kubernetes.io/hostname` alone.
  std::vector<Symbol> values;        ///< Domain by domain, a value for each of `levels`.
  std::vector<std::int32_t> counts;  ///< Of each domain.

  [[nodiscard]] bool empty() const { return size() == 0; }
  /// How many domains there are all values of, also in an assignment that was read from bytes that anybody may have changed.
  [[nodiscard]] std::size_t size() const { return levels.empty() ? 0 : std::min(counts.size(), values.size() / levels.size()); }
  [[nodiscard]] std::span<const Symbol> domain(std::size_t i) const { return std::span(values).subspan(i * levels.size(), levels.size()); }
  friend bool operator==(const TopologyAssignment&, const TopologyAssignment&) = default;
};
/// What others rarely have in common with it; the rest is compared.
[[nodiscard]] std::uint64_t interning_hash(const TopologyAssignment& assignment);

}  // namespace hindsight::admission
