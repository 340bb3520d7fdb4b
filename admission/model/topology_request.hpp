#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hindsight::admission {

/// How close the pods of a pod set have to be (2724 §2.3), by names as the user gave them.
struct TopologyRequest {
  std::optional<std::string> required, preferred;  ///< Labels of levels; at most one of the two.
  bool unconstrained = false;
  /// Groups of equal size, each within one domain of its level; the outermost first.
  struct Layer {
    std::string level;
    std::optional<std::int32_t> size;
    friend bool operator==(const Layer&, const Layer&) = default;
  };
  std::vector<Layer> slices;
  friend bool operator==(const TopologyRequest&, const TopologyRequest&) = default;
};

}  // namespace hindsight::admission
