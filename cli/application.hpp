#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session.hpp"

namespace hindsight::cli {

/// All commands of this build.
[[nodiscard]] std::unique_ptr<CLI::App> make_application(Session& session);

/// What the user typed to get here, by the name of the file that was called: "kubectl kueue" for kubectl-kueue, else "hindsight".
[[nodiscard]] std::string program_of(std::string_view called_as);

/// Reads the arguments (without the program's name), carries out the command, reports errors; the exit code.
[[nodiscard]] int run_application(Session& session, std::vector<std::string> arguments);

}  // namespace hindsight::cli
