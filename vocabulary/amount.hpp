#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

namespace hindsight {

/// An amount of a resource: CPU in milli-cores, everything else in whole base units (BA-29, base-admission §1.2).
using Amount = std::int64_t;

/// For products of amounts before they are divided again.
__extension__ typedef __int128 WideAmount;

/// A quota of this value is Unlimited (BA-35).
inline constexpr Amount unlimited = std::numeric_limits<Amount>::max();
inline constexpr Amount amount_min = std::numeric_limits<Amount>::min();

/// a + b; Unlimited absorbs, everything else saturates.
[[nodiscard]] constexpr Amount add(Amount a, Amount b) {
  if (a == unlimited || b == unlimited) return unlimited;
  Amount r = 0;
  if (__builtin_add_overflow(a, b, &r)) return b > 0 ? unlimited : amount_min;
  return r;
}

/// a − b; Unlimited − finite = Unlimited, Unlimited − Unlimited = 0, finite − Unlimited = the minimum, else saturating.
[[nodiscard]] constexpr Amount subtract(Amount a, Amount b) {
  if (a == unlimited) return b == unlimited ? 0 : unlimited;
  if (b == unlimited) return amount_min;
  Amount r = 0;
  if (__builtin_sub_overflow(a, b, &r)) return b < 0 ? unlimited : amount_min;
  return r;
}

/// a · n, saturating; n is a number of pods and never negative.
[[nodiscard]] constexpr Amount multiply(Amount a, std::int64_t n) {
  Amount r = 0;
  if (__builtin_mul_overflow(a, n, &r)) return a < 0 ? amount_min : unlimited;
  return r;
}

/// Reads a Kubernetes quantity ("1500m", "2Gi", "1e3", "0.5") as an amount of `resource`: milli-units for "cpu", else whole
/// units; fractions are rounded up, values beyond the range are clamped. Errors: not a quantity.
[[nodiscard]] Result<Amount> parse_quantity(std::string_view text, std::string_view resource);

/// Reads a quantity in units of 10⁻⁹ (fair sharing weights); rounded up, clamped.
[[nodiscard]] Result<std::int64_t> parse_nano(std::string_view text);

/// An amount in units of 10⁻⁹ of a core, a byte or a piece, where whole ones are too coarse (decayed usage, base-admission §10).
using NanoAmount = WideAmount;

/// As a quantity: never below 0 and never above 2⁶³ whole units; digits behind the ninth decimal are cut off. Errors: not a quantity.
[[nodiscard]] Result<NanoAmount> parse_nano_amount(std::string_view text);

/// The canonical text of a quantity that is not negative: 6828427124 → "6828427124n", 1500000000 → "1500m", 2000000000 → "2".
[[nodiscard]] std::string format_nano_amount(NanoAmount amount);

/// The canonical Kubernetes text of an amount as the Go library prints it: cpu 1500 → "1500m", 2000 → "2"; other resources as
/// decimal; `binary` as 2^10 multiples where exact (memory, ephemeral-storage and hugepages print so).
[[nodiscard]] std::string format_amount(Amount amount, std::string_view resource);

}  // namespace hindsight
