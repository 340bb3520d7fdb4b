#include "connectors/jobs/integrations.hpp"

#include <array>

namespace hindsight::connectors {

std::span<const JobIntegration* const> all_integrations() {
  static const std::array<const JobIntegration*, 4> all{&batch_job(), &job_set(), &ray_cluster(), &ray_job()};
  return all;
}

const JobIntegration* find_integration(std::string_view kind, std::string_view group) {
  for (const auto* integration : all_integrations())
    if (integration->kind() == kind && integration->group() == group) return integration;
  return nullptr;
}

}  // namespace hindsight::connectors
