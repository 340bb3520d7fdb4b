#pragma once

#include <string_view>
#include <vector>

#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::manifests {

/// Rewrites an object of kueue.x-k8s.io/v1beta1 in the words of v1beta2 (base-api §4), apiVersion included. What says the same thing
/// twice in both ways is a problem.
void convert_v1beta1(std::string_view kind, Json& object, std::vector<Problem>& problems);

}  // namespace hindsight::connectors::manifests
