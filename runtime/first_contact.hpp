#pragma once

#include <chrono>
#include <stop_token>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// Waits until the API server has answered once with credentials that it takes; what it answers does not matter. Nothing when told to stop
/// before. Errors: denied (it refuses the credentials), unavailable (it cannot be reached for so long; 0: it waits for ever).
[[nodiscard]] Result<void> first_contact(connectors::kubernetes::KubernetesCluster& cluster, std::chrono::seconds limit,
                                         const std::stop_token& stop);

}  // namespace hindsight::runtime
