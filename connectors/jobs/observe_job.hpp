#pragma once

#include <optional>

#include <simdjson.h>

#include "connectors/jobs/job_integration.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// Reads a job: what all kinds have in common, then what its integration reads. `managed` stays true: the mirror walks the owners.
/// The result lives as long as the arena. Errors: invalid.
[[nodiscard]] Result<JobObserved> observe_job(const JobIntegration& integration, simdjson::dom::element job, Arena& arena,
                                              const JobContext& context);

/// Why it would not read the job; nothing: it would.
[[nodiscard]] std::optional<Refusal> refusal_of_job(const JobIntegration& integration, simdjson::dom::element job, Arena& arena);

/// What can be read of a job that cannot be read: who it is and whether it runs (JobIntegration::outline). Nothing: not even that.
[[nodiscard]] std::optional<JobObserved> observe_outline(const JobIntegration& integration, simdjson::dom::element job, Arena& arena);

}  // namespace hindsight::connectors
