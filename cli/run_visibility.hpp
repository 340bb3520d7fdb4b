#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/live/visibility_service.hpp"
#include "operations/configuration.hpp"

namespace hindsight::cli {

/// What `run --visibility` and its companions ask for.
struct VisibilityRunOptions {
  bool serve = false;
  std::string address, service = "hindsight-visibility-server", folder;
};

void add_visibility_options(CLI::App& command, VisibilityRunOptions& options);

/// In addition to the configuration. Errors: invalid, for an address that is none.
[[nodiscard]] Result<VisibilityOptions> visibility_options(const VisibilityRunOptions& options,
                                                           const operations::Configuration& configuration);

}  // namespace hindsight::cli
