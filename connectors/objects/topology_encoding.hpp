#pragma once

#include "admission/model/topology_assignment.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/node.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

// status.admission.podSetAssignments[].topologyAssignment of v1beta2: domains in slices, in which what their names have in common stands
// once (2724 §2.4).

/// In as few bytes as the rules of the API make of it: one slice, or one for each prefix that several host names share.
[[nodiscard]] Json encode_topology(const admission::TopologyAssignment& assignment);
/// Of any encoding that the API allows; empty for everything else, and beyond limits::topology_domains.
[[nodiscard]] admission::TopologyAssignment decode_topology(const Json& assignment);
/// The same while an object is read. Refused: lists of another length than domainCount, and what is beyond a limit.
void read_topology_assignment(const Node& assignment, PodSetAssignmentFacts& out);

}  // namespace hindsight::connectors
