#pragma once

#include <string>
#include <vector>

#include "connectors/manifests/schema.hpp"

namespace hindsight::operations {

/// Rewrites a configuration of config.kueue.x-k8s.io/v1beta1 in the words of v1beta2 (base-api §4), apiVersion included. Fields that only
/// v1beta2 has are problems; fields that it has no more are judged, dropped and warned of. Gives whether waitForPodsReady is on, which
/// v1beta2 says by a feature gate only.
[[nodiscard]] bool convert_configuration_v1beta1(connectors::manifests::Json& configuration,
                                                 std::vector<connectors::manifests::Problem>& problems, std::vector<std::string>& warnings);

}  // namespace hindsight::operations
