#include "admission/model/pod_state.hpp"

#include <algorithm>

#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

bool NodeSelector::contains(const NodeSelector& part) const {
  return std::all_of(part.entries.begin(), part.entries.end(),
                     [&](const auto& wanted) { return std::find(entries.begin(), entries.end(), wanted) != entries.end(); });
}

std::uint64_t interning_hash(const NodeSelector& selector) {
  StateHash h;
  for (const auto& [key, value] : selector.entries) {
    h.add(key);
    h.add(value);
  }
  return h.value();
}

}  // namespace hindsight::admission
