#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "page/view.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::page {

/// An amount in thousandths of the resource's unit: of a core, a byte, a piece. Saturates; unlimited stays the largest number.
[[nodiscard]] std::int64_t milli_units(Amount amount, const Symbol& resource);
/// Amount: {"text": "1500m", "value": 1500}; "unlimited" for a quota without end.
[[nodiscard]] Json amount_json(Amount amount, const Symbol& resource);

/// Sums by resource, for "asks".
class ResourceSums {
 public:
  void add(const Symbol& resource, Amount amount);
  /// [{"resource", "amount"}], by resource.
  [[nodiscard]] Json json() const;

 private:
  std::map<Symbol, Amount, ByText> sums_;
};

}  // namespace hindsight::page
