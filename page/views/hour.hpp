#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "page/view.hpp"
#include "page/views/curves.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::page {

/// What happened in the hour before a moment, or since the log began if that is less, at the ends of `hour_points` equal stretches of it.
/// Nothing where it is not known: before the log begins, or where finding out would take too long.
struct HourBefore {
  ViewCurve waiting;      ///< How many waited in ClusterQueues.
  ViewCurve oldest_wait;  ///< Of whoever waited longest, in milliseconds.
  ViewCurve used;         ///< Of one flavor and resource, per mille of nominal.
  ViewCurve evicted;      ///< In each stretch, of those that held quota.
  std::optional<std::int64_t> evicted_in_all;
};
inline constexpr Duration hour_span = Duration::seconds(3'600);
inline constexpr std::size_t hour_points = 60;

/// Who tells it. `flavor`, `resource`: of `used`; empty: nobody has a limited quota.
using HourSource = std::function<Result<HourBefore>(const Look& look, const Symbol& flavor, const Symbol& resource)>;

/// All of it unknown, on the right axis: from `begin` to `now`, an hour at most and a second at least.
[[nodiscard]] HourBefore unknown_hour(Time begin, Time now);

inline constexpr Position hour_records_max = 20'000;
/// Tells it by a fold of that hour on a state of its own. Where that takes more than `records_max` records, those from the newest snapshot
/// before it included, or where there are more than `hour_parents_max` jobs, nothing is known: whoever has an index of the log offers
/// another source (indexed_hour.hpp). Errors: those of the log and of folds; unavailable (nobody waits).
[[nodiscard]] Result<HourBefore> fold_hour(const Look& look, const Symbol& flavor, const Symbol& resource, Position records_max);
[[nodiscard]] inline Result<HourBefore> fold_hour(const Look& look, const Symbol& flavor, const Symbol& resource) {
  return fold_hour(look, flavor, resource, hour_records_max);
}
inline constexpr std::uint32_t hour_parents_max = 20'000;

}  // namespace hindsight::page
