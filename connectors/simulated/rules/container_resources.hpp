#pragma once

#include <set>
#include <string>

#include "connectors/simulated/rules/finding.hpp"

namespace hindsight::connectors::simulated {

/// Requests and limits of a container as the API server keeps them: rounded up to milli-units, in the shortest text (MR-18, MR-19).
void normalise_resources(Json& container);

/// E3 to E10 of 5440 §2.2. `claims`: the names in the pod's resourceClaims; `path`: the container's field.
void check_container_resources(const Json& container, const std::set<std::string>& claims, const std::string& path, Findings& findings);

}  // namespace hindsight::connectors::simulated
