#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

namespace hindsight {

/// A span of time in microseconds.
struct Duration {
  std::int64_t micros = 0;

  static constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration millis(std::int64_t n) { return {n * 1'000}; }
  friend constexpr auto operator<=>(Duration, Duration) = default;
};

/// A moment, in microseconds since 1970-01-01T00:00:00Z. Negative means "never" (see Time::never).
/// The API stores whole seconds; `floor_seconds` gives what a reader of the API sees.
struct Time {
  std::int64_t micros = -1;

  static constexpr Time never() { return {-1}; }
  static constexpr Time from_seconds(std::int64_t n) { return {n * 1'000'000}; }
  [[nodiscard]] constexpr bool is_set() const { return micros >= 0; }
  [[nodiscard]] constexpr std::int64_t floor_seconds() const { return micros / 1'000'000; }
  friend constexpr auto operator<=>(Time, Time) = default;
  // They saturate: a record may carry any number as a time, whoever wrote it.
  friend constexpr Time operator+(Time t, Duration d) {
    std::int64_t out = 0;
    return {__builtin_add_overflow(t.micros, d.micros, &out) ? (d.micros > 0 ? latest : earliest) : out};
  }
  friend constexpr Time operator-(Time t, Duration d) { return {difference(t.micros, d.micros)}; }
  friend constexpr Duration operator-(Time a, Time b) { return {difference(a.micros, b.micros)}; }

 private:
  static constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max(), earliest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t difference(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    return __builtin_sub_overflow(a, b, &out) ? (b > 0 ? earliest : latest) : out;
  }
};

/// "2026-01-01T00:00:00Z": the form that Kubernetes writes for metav1.Time (whole seconds, rounded down).
[[nodiscard]] std::string format_rfc3339(Time t);
/// "2026-01-01T00:00:00.000000Z": metav1.MicroTime.
[[nodiscard]] std::string format_rfc3339_micro(Time t);
/// Reads RFC 3339 with optional fraction and zone offset.
[[nodiscard]] Result<Time> parse_rfc3339(std::string_view text);
/// Reads a Go duration: "10s", "1m30s", "1.5h", "300ms", "0". No negative values.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

}  // namespace hindsight
