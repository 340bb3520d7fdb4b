#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "page/timeline/timeline_index.hpp"
#include "page/view.hpp"
#include "page/views/hour.hpp"

namespace hindsight::page {

/// The index of the history that a look is at; null: there is none, as of a branch.
using IndexOfLook = std::function<std::shared_ptr<const TimelineIndex>(const Look& look)>;

/// Tells the hour before from the index where it has read as far as the look, and a fold of the hour takes more than
/// `indexed_hour_records_min` records: of fewer a fold tells more: the index knows what was so
/// behind each of its rows and not between, and "used" is of the pair that was used most at each time.
[[nodiscard]] HourSource indexed_hour(IndexOfLook index_of);
inline constexpr Position indexed_hour_records_min = 5'000;

/// All views, with the curves of the overview from `hour`.
[[nodiscard]] std::vector<ViewRoute> views_with(HourSource hour);

}  // namespace hindsight::page
