#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "vocabulary/result.hpp"

namespace hindsight::operations {

// The process has one log. Lines go to standard error: as text when that is a terminal, otherwise one JSON object a line. Time is UTC.
// Nothing here throws: a line that cannot be written is counted and lost.

/// From the most talkative on. `off` says nothing at all.
enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, critical, off };

[[nodiscard]] std::string_view log_level_name(LogLevel level);
/// Errors: invalid, with the names that are allowed. "warn" is taken for "warning".
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view text);

enum class LogFormat : std::uint8_t {
  automatic,  ///< Text on a terminal, JSON otherwise.
  text,
  json,
};

struct LogOptions {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::automatic;
  /// Takes each finished line with its line feed, in place of standard error. For tests; may be called from any thread, one at a time.
  std::function<void(std::string_view)> sink;
};

/// Sets the log up; called once at the start, again only by tests. Until then lines of level info and above go to standard error as text.
/// Afterwards spdlog's default logger is this log too, whatever code writes to it.
void set_up_logging(LogOptions options);

[[nodiscard]] LogLevel log_level() noexcept;
/// May be called from any thread at any time.
void set_log_level(LogLevel level) noexcept;
/// As set_log_level, with a line in the log that says so and who wanted it ("HTTP", "SIGUSR1"); heard wherever one of the two levels is.
void change_log_level(LogLevel level, std::string_view by) noexcept;
/// One level more talkative, up to trace.
[[nodiscard]] LogLevel louder(LogLevel level) noexcept;
/// One level less, down to critical; `off` must be asked for by name.
[[nodiscard]] LogLevel quieter(LogLevel level) noexcept;

/// What belongs to a line beside its message: "workload", "ns/a". In JSON they are members of the object, in text they follow the message
/// as key=value. A name that the line itself uses (time, level, message) gets an underscore.
using LogFields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Writes a line. Bytes that are no UTF-8 are replaced and control characters are escaped, so that one call is one line.
void log(LogLevel level, std::string_view message, LogFields fields = {}) noexcept;
[[nodiscard]] bool would_log(LogLevel level) noexcept;

/// Lines that could not be written (disk full, reader gone).
[[nodiscard]] std::uint64_t lost_log_lines() noexcept;

void flush_log() noexcept;

/// From now on the log is flushed when the process exits, and an exception that nobody catches is logged before the terminate handler that
/// was there is called.
void flush_log_on_exit();

}  // namespace hindsight::operations
