#pragma once

#include <concepts>
#include <limits>
#include <utility>

namespace hindsight {

/// a + b, or the nearest number of the type. For what others count and tell: nothing keeps them from beginning at its end.
template <std::signed_integral T>
[[nodiscard]] constexpr T saturated_add(T a, T b) {
  T sum{};
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
}

/// The number, or the nearest of the type T.
template <std::signed_integral T, std::signed_integral From>
[[nodiscard]] constexpr T saturated(From n) {
  if (std::in_range<T>(n)) return static_cast<T>(n);
  return n > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
}

}  // namespace hindsight
