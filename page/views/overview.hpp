#pragma once

#include "page/view.hpp"
#include "page/views/hour.hpp"

namespace hindsight::page {

/// GET overview: what waits, what is used, what was evicted in the last hour, each with its curve, and what needs attention
/// (projections/attention.hpp), at most `attention_shown_max` of it. Numbers count everybody; names are those that the audience may see.
/// `hour`: who knows the hour before. Errors: those of `hour`.
[[nodiscard]] Result<Json> overview_view(const Look& look, const HourSource& hour);

inline constexpr std::size_t attention_shown_max = 50;

}  // namespace hindsight::page
