#pragma once

#include <string>
#include <string_view>

#include "operations/logging.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::operations {

/// One line of the log before it is written.
struct LogLine {
  Time time;
  LogLevel level = LogLevel::info;
  std::string_view message;
  LogFields fields;
};

/// {"time":"2026-01-01T00:00:00.000000Z","level":"info","message":"…","key":"value"}, without a line feed.
[[nodiscard]] std::string json_line(const LogLine& line);

/// 2026-01-01T00:00:00.000000Z INFO  message key=value, without a line feed. `color`: the level is coloured for a terminal.
[[nodiscard]] std::string text_line(const LogLine& line, bool color);

}  // namespace hindsight::operations
