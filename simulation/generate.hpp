#pragma once

#include <string>
#include <string_view>

#include "simulation/load.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::simulation {

/// Draws the jobs that a description in YAML or JSON asks for (docs/generate.md): how many, when they come, how long they run, what they
/// request, and to whom they belong. Equal texts give equal jobs, everywhere. Jobs whose queue names no namespace are in `namespace_`.
/// Errors: invalid, with file, line, field, what was found and what is allowed; more than `load_jobs_max` jobs, or `load_span_max` passed.
[[nodiscard]] Result<Load> generate_load(std::string_view text, const std::string& file, const std::string& namespace_);

}  // namespace hindsight::simulation
