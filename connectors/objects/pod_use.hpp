#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::connectors {

/// What one pod asks for, one of resource "pods" included; sorted by resource text.
struct PodRequestTotals {
  std::vector<std::pair<Symbol, Amount>> amounts;
  friend bool operator==(const PodRequestTotals&, const PodRequestTotals&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const PodRequestTotals& request);

/// A pod as far as it takes something of a node.
struct PodUse {
  std::string uid;
  std::string node;  ///< Empty: it does not count here. It is not bound, has come to its end (TAS-25), or is told by itself (TAS-29).
  PodRequestTotals request;
};

/// Whether the text of a Pod has the label by which a start stamps the pods of a pod set. Quick; it may be wrong about a text that has the
/// name of the label somewhere else.
[[nodiscard]] bool seems_to_have_pod_set(std::string_view text);

/// Reads the text of a Pod. Errors: as observe_text.
[[nodiscard]] Result<PodUse> read_pod_use(std::string_view text);

}  // namespace hindsight::connectors
