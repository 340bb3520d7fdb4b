#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"

namespace hindsight::cli {

/// All commands of this build.
[[nodiscard]] std::unique_ptr<CLI::App> make_application(Session& session);

/// Reads the arguments (without the program's name), carries out the command, reports errors; the exit code.
[[nodiscard]] int run_application(Session& session, std::vector<std::string> arguments);

}  // namespace hindsight::cli
