#pragma once

#include <string>

#include "operations/configuration.hpp"
#include "runtime/visibility_service.hpp"

namespace hindsight::runtime {

/// What `run --visibility` and its companions ask for.
struct VisibilityRunOptions {
  bool serve = false;
  std::string address, service = "hindsight-visibility-server", folder;
};

/// In addition to the configuration. Errors: invalid, for an address that is none.
[[nodiscard]] Result<VisibilityOptions> visibility_options(const VisibilityRunOptions& options,
                                                           const operations::Configuration& configuration);

}  // namespace hindsight::runtime
