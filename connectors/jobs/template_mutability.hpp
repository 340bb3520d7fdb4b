#pragma once

#include <string_view>

#include "connectors/jobs/job_integration.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// When an API server lets the template of a suspended Job be changed, by what it says at /version (5440 §2.1, MR-52). 1.35 counts as
/// without its two feature gates: with them on, what is done for a server without is allowed as well. Errors: invalid, when the text tells
/// no version.
[[nodiscard]] Result<TemplateMutability> template_mutability_of(std::string_view version);

}  // namespace hindsight::connectors
