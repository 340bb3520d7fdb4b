#pragma once

#include <cstdint>

namespace hindsight::simulation {

/// A number in units of 2⁻³².
using Fixed32 = std::int64_t;
inline constexpr Fixed32 fixed_one = Fixed32{1} << 32;

// Integers alone: the results are the same with every compiler, library and processor. Each is within 2⁻³⁰ of the true value.

/// The logarithm to base 2, rounded down. `n` is at least 1.
[[nodiscard]] Fixed32 log2_of(std::uint64_t n);
/// value × 2^exponent, rounded down; at most 2⁶³ − 1. `value` is not negative.
[[nodiscard]] std::int64_t times_power_of_two(std::int64_t value, Fixed32 exponent);
/// value × factor, rounded down; at most 2⁶³ − 1. Neither is negative.
[[nodiscard]] std::int64_t times_fixed(std::int64_t value, Fixed32 factor);

/// Random numbers that depend on a seed and on which of its streams is asked, and on nothing else: SplitMix64.
class LoadRandom {
 public:
  LoadRandom(std::uint64_t seed, std::uint64_t stream);

  [[nodiscard]] std::uint64_t next();
  /// From 0 to n − 1, all alike; `n` is at least 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t n);
  /// Of an exponential distribution with mean 1: −ln u, u of 2⁵³ values from 2⁻⁵³ to 1; so never more than 36.8.
  [[nodiscard]] Fixed32 exponential();
  /// Of a normal distribution, nearly: the sum of twelve uniform numbers, less 6. Mean 0, variance 1, between −6 and 6.
  [[nodiscard]] Fixed32 normal();

 private:
  std::uint64_t state_;
};

}  // namespace hindsight::simulation
