#pragma once

#include <array>

#include "page/timeline/timeline_index.hpp"
#include "page/view.hpp"

namespace hindsight::page {

/// GET timeline?from=&to=&buckets= : the names of the query, for who registers the route.
inline constexpr std::array<const char*, 3> timeline_parameters{"from", "to", "buckets"};

/// What GET timeline answers. Errors: those of TimelineIndex::at, and invalid where a parameter is no number.
[[nodiscard]] Result<Json> timeline_answer(const TimelineIndex& index, const Parameters& parameters);

}  // namespace hindsight::page
