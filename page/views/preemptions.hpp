#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET preemptions?from=&to=&limit= : who was preempted by whom, in the records `from` to `to` (by default all up to where one looks from),
/// the newest `limit` of them; how many older ones there are is counted (`leftOut`), and those of which neither side may be told
/// (`hidden`). At most `preemptions_scan_max` records are read: with `next` one goes on from there. Only decisions that had an effect
/// count.
[[nodiscard]] Result<Json> preemptions_view(const Look& look, const Parameters& parameters);

inline constexpr std::uint64_t preemptions_scan_max = 500'000;

}  // namespace hindsight::page
