#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET records?from=&direction=forward|back&limit=&filter= : records of the domain from a position on, or back from it, in that order.
/// `filter`: projections::parse_record_filter. Without `from`: from where one looks. At most `records_scan_max` records are read for one
/// answer; `next` says where to go on, and is absent at the end. Damage ends the list before it; whoever goes on from there gets the error.
[[nodiscard]] Result<Json> records_view(const Look& look, const Parameters& parameters);

/// GET records/{position} : one record, decoded as `hindsight log cat -o json` does it, and what followed from it. Of a decision with very
/// many events the first ones are told (`eventsLeftOut`). Errors: not_found (it is not in the log, or of another domain).
[[nodiscard]] Result<Json> record_view(const Look& look, const Parameters& parameters);

inline constexpr std::uint64_t records_scan_max = 200'000;

}  // namespace hindsight::page
