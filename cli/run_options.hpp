#pragma once

#include <CLI/CLI.hpp>

#include "runtime/run_options.hpp"

namespace hindsight::cli {

/// The options of `hindsight run`, with what the help says of each.
void add_run_options(CLI::App& command, runtime::RunOptions& options);

}  // namespace hindsight::cli
