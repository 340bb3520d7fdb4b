#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "runtime/run_options.hpp"

namespace hindsight::cli {

/// The options of `hindsight run`, with what the help says of each.
void add_run_options(CLI::App& command, runtime::RunOptions& options);

/// What was given beside --quickstart and has no meaning there: it is on no cluster, serves nothing, and ends by itself. Nothing: all is
/// well. The text names both options and says what is allowed.
[[nodiscard]] std::optional<std::string> refused_with_quickstart(const CLI::App& command);

/// The same of what was given and the role does not read.
[[nodiscard]] std::optional<std::string> refused_with_role(const CLI::App& command, const std::string& role);

/// The same of what has no meaning for a run that only looks on (--observe).
[[nodiscard]] std::optional<std::string> refused_with_observe(const CLI::App& command, const std::string& role);

}  // namespace hindsight::cli
