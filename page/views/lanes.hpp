#pragma once

#include "page/view.hpp"
#include "projections/life.hpp"

namespace hindsight::page {

/// Of a lane with more spans the last ones are told.
inline constexpr std::size_t lane_spans_max = 500;

/// Lanes of one Workload: "wait", "quota", "checks", "running", "evicted", each with its spans; none for what it never did. "quota" is
/// all time in which it held quota.
[[nodiscard]] Json life_lanes(const projections::Life& life);
/// All of a life in one lane, for the slices and Options beside it.
[[nodiscard]] Json whole_lane(const projections::Life& life, std::string_view name, Json of);

}  // namespace hindsight::page
