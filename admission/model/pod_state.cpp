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

void add_amounts(std::vector<std::pair<Symbol, Amount>>& amounts, const std::vector<std::pair<Symbol, Amount>>& more) {
  for (const auto& [resource, amount] : more) {
    const auto at =
        std::lower_bound(amounts.begin(), amounts.end(), resource, [](const auto& a, const Symbol& r) { return ByText{}(a.first, r); });
    if (at != amounts.end() && at->first == resource)
      at->second = add(at->second, amount);
    else
      amounts.insert(at, {resource, amount});
  }
}

std::uint64_t interning_hash(const PodAmounts& amounts) {
  StateHash h;
  for (const auto& [resource, amount] : amounts.amounts) {
    h.add(resource);
    h.add(amount);
  }
  return h.value();
}

}  // namespace hindsight::admission
