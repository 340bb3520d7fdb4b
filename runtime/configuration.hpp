#pragma once

#include <string>

#include "operations/config_file.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// What `run --config FILE --feature-gates A=true` says; empty texts: not given, the defaults hold. What has no effect is told in the
/// process log. Errors: invalid or not_found, naming file, line, field, what was found and what is allowed.
[[nodiscard]] Result<operations::Configuration> run_configuration(const std::string& file, const std::string& feature_gates);

}  // namespace hindsight::runtime
