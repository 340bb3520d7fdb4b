#pragma once

#include <chrono>
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
  enum class Kind { latest, position, time, ago, local, clock };
  Kind kind = Kind::latest;
  Position position = 0;  ///< kind position: the state after this record; 0: before the first.
  Time time;              ///< kind time: the state after all records up to and including this time.
  Duration ago;           ///< kind ago: this long before the time of the last record.
  /// kind local: midnight of this day in the time zone of the process, and `of_day` after it. kind clock: the newest moment of the log at
  /// which a clock there showed `of_day`.
  std::chrono::year_month_day day;
  Duration of_day;
};

/// Reads "latest" or "now", a position ("120"), a time ("2026-01-01T00:00:10Z"), one of the time zone of the process ("2026-01-06 14:03",
/// "2026-01-06", "14:03") or a duration back from the end ("-5m", "-1d12h", "-2w").
[[nodiscard]] Result<Moment> parse_moment(std::string_view text);

/// The position in this log that a moment means. Errors: not_found (beyond the end, or before the first record that is kept), and those of
/// the log.
[[nodiscard]] Result<Position> resolve(const Log& log, const Moment& moment);

/// The same of a moment as people type it. Errors: also those of parse_moment.
[[nodiscard]] Result<Position> resolve(const Log& log, std::string_view text);

/// The first record at or after a moment, for whoever reads on from there; one behind the last record if there is none. A position means
/// its record, and the end the last one. Errors: invalid (it is no moment), not_found (a position behind the next record), those of the
/// log.
[[nodiscard]] Result<Position> first_record(const Log& log, std::string_view text);

/// Where a moment lies in a log.
struct Located {
  Position position = 0;
  Time time;  ///< To which ages count: the time that was asked for. Never: a position, or the end; then it is that of the record.
};
/// The same with the time. Errors: as above.
[[nodiscard]] Result<Located> locate(const Log& log, const Moment& moment);

/// The domain to look at: `wanted`, or the only one that the log has; "default" in an empty log. Errors: not_found (there is no such
/// domain), invalid (the log has several and none was named); both name the domains that there are.
[[nodiscard]] Result<std::string> choose_domain(const Log& log, std::string_view wanted);

}  // namespace hindsight::replay
