#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET step?from=&direction=forward|back&by=record|decision|event&object=KIND/[NS/]NAME&times= : `Step` of web/src/api/types.ts. Where one
/// comes to from a position (that of the look, if none is given) by so many records of the domain, decisions, or records about an object.
/// Where there are not so many, it is the last of them, or where one began, and `end` says so. A search that takes too long ends with
/// `scannedTo`: up to there nothing more was found, and who goes on begins there. Errors: invalid (a parameter), denied (the object is in
/// a namespace that the audience may not see), and those of the log.
[[nodiscard]] Result<Json> step(const Look& look, const Parameters& parameters);

/// GET moment?text=&tz= : Place of what people type for a moment (replay::parse_moment), and the text as a position. `tz`: the zone of a
/// time that names none, "UTC" (as without it) or its distance "+02:00". Errors: invalid (no moment, no zone), not_found (it is not in
/// the log), those of the log.
[[nodiscard]] Result<Json> moment(const Look& look, const Parameters& parameters);

/// Routes of both.
[[nodiscard]] std::vector<ViewRoute> step_views();

/// So many records are looked at for one answer at most.
inline constexpr std::uint64_t step_scan_max = 500'000;
inline constexpr std::uint64_t step_times_max = 1000;

}  // namespace hindsight::page
