#pragma once

#include <string>
#include <vector>

#include "connectors/manifests/scenario.hpp"
#include "connectors/webhooks/surroundings.hpp"

namespace hindsight::simulation {

/// What keeps the requests for topologies of a scenario's jobs from being served, one text each: an annotation that stands where nobody
/// reads it or that is misspelled, a feature gate that is off, what webhooks would refuse (TAS-38 to TAS-45), and flavors, Topologies and
/// nodes that no manifest has. At most `topology_notices_max` are told one by one. Jobs that no LocalQueue takes are left out. `gates`:
/// those that were switched.
[[nodiscard]] std::vector<std::string> topology_notices(const connectors::manifests::Scenario& scenario,
                                                        const connectors::webhooks::GateValues& gates);

inline constexpr std::size_t topology_notices_max = 10;

}  // namespace hindsight::simulation
