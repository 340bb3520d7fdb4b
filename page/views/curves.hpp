#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "page/view.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::page {

/// Values at the ends of equal stretches of time. Nothing: not known.
struct ViewCurve {
  std::vector<Time> time;
  std::vector<std::optional<std::int64_t>> value;
};
/// Curve: {"time": [microseconds], "value": [number or null]}
[[nodiscard]] Json to_json(const ViewCurve& curve);
/// The ends of `points` equal stretches of `from` … `to`, without values; the last is `to`.
[[nodiscard]] ViewCurve empty_curve(Time from, Time to, std::size_t points);

}  // namespace hindsight::page
