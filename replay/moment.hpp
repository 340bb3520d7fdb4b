#pragma once

#include <string>
#include <string_view>

#include "events/log.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::replay {

using events::Log;
using events::Position;

/// A point in the past as people name it.
struct Moment {
  enum class Kind { latest, position, time, ago };
  Kind kind = Kind::latest;
  Position position = 0;  ///< kind position: the state after this record; 0: before the first.
  Time time;              ///< kind time: the state after all records up to and including this time.
  Duration ago;           ///< kind ago: this long before the time of the last record.
};

/// Reads "latest", a position ("120"), a time ("2026-01-01T00:00:10Z") or a duration back from the end ("-5m").
[[nodiscard]] Result<Moment> parse_moment(std::string_view text);

/// The position in this log that a moment means. Errors: not_found (beyond the end, or before the first record that is kept), and those of
/// the log.
[[nodiscard]] Result<Position> resolve(const Log& log, const Moment& moment);

/// The domain to look at: `wanted`, or the only one that the log has; "default" in an empty log. Errors: not_found (there is no such
/// domain), invalid (the log has several and none was named); both name the domains that there are.
[[nodiscard]] Result<std::string> choose_domain(const Log& log, std::string_view wanted);

}  // namespace hindsight::replay
