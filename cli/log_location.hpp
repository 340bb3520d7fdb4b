#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "events/sqlite_log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Opens what --log names: "sqlite:FILE", or the file itself. Errors: invalid for other schemes, and those of SqliteLog::open.
[[nodiscard]] inline Result<std::unique_ptr<events::SqliteLog>> open_log(const std::string& location,
                                                                         events::SqliteLogOptions options = {}) {
  std::string path = location;
  if (path.starts_with("sqlite:"))
    path = path.substr(7);
  else if (const auto colon = path.find(':'); colon != std::string::npos && path.find('/') > colon)
    return fail(ErrorKind::invalid, "--log: found " + location + "; allowed: sqlite:FILE or a file's path");
  if (path.empty()) return fail(ErrorKind::invalid, "--log: found no file; allowed: sqlite:FILE or a file's path");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorKind::invalid, "--log: found " + path + ", which is a folder; allowed: sqlite:FILE or a file's path");
  return events::SqliteLog::open(path, options);
}

}  // namespace hindsight::cli
