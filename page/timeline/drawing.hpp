#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "page/timeline/indexed.hpp"
#include "projections/json.hpp"

namespace hindsight::page::timeline {

using projections::Json;

/// A record, and when it was.
struct PlaceInLog {
  Position position = 0;
  Time time;
};

/// {"position": 12, "time": "2026-01-01T00:00:10.000000Z"}
[[nodiscard]] Json to_json(const PlaceInLog& place);

/// So many of each are in one answer.
inline constexpr std::size_t columns_max = 2000;
inline constexpr std::size_t resources_max = 8;
inline constexpr std::size_t marks_max = 400;

/// Columns of equal stretches of time, as `Timeline` of web/src/api/types.ts says. A column shows the state behind the last row that ends
/// in it, whose last record is the column's position, and counts the rows that end in it: what is drawn at a position was so there, and
/// the sums over all columns are those of the rows. `columns`: 1 to `columns_max`.
[[nodiscard]] Json draw(const Indexed& indexed, const PlaceInLog& from, const PlaceInLog& to, std::size_t columns);

enum class CurveKind : std::uint8_t {
  waiting,      ///< How many wait.
  running,      ///< How many are admitted.
  used,         ///< Per mille of nominal, of the pair that is used most.
  oldest_wait,  ///< Of whoever waits longest for quota, in milliseconds.
  admitted,     ///< How often in the stretch that ends at the point, as the two below.
  evicted,
  decisions,
};

/// `Curve` of web/src/api/types.ts: the value at `points` times, equally far from each other, the last one at `to`. What is not known is
/// null. `points`: 1 to `columns_max`.
[[nodiscard]] Json draw_curve(const Indexed& indexed, CurveKind kind, Time from, Time to, std::size_t points);

}  // namespace hindsight::page::timeline
