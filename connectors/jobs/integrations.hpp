#pragma once

#include <span>
#include <string_view>

#include "connectors/jobs/job_integration.hpp"

namespace hindsight::connectors {

/// All job kinds that this build knows, in the order of base-api §7.2.
[[nodiscard]] std::span<const JobIntegration* const> all_integrations();

/// nullptr: no integration for this kind.
[[nodiscard]] const JobIntegration* find_integration(std::string_view kind, std::string_view group);

/// The integrations themselves, one a file.
[[nodiscard]] const JobIntegration& batch_job();
[[nodiscard]] const JobIntegration& job_set();
[[nodiscard]] const JobIntegration& ray_cluster();
[[nodiscard]] const JobIntegration& ray_job();

}  // namespace hindsight::connectors
