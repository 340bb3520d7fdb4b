#pragma once

#include "connectors/cluster.hpp"

namespace hindsight::connectors::types {

// What the process itself needs around the visibility API that it serves; never watched.
inline constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};
inline constexpr ResourceType api_service{"APIService", "apiregistration.k8s.io", "v1", "apiservices", false};

}  // namespace hindsight::connectors::types
