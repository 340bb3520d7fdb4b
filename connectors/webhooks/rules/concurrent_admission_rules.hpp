#pragma once

#include <string>
#include <vector>

#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {

/// What only webhooks can judge of a ClusterQueue with concurrent admission, in either form (8691 §2.11: V1 to V4, V8, V10). Nothing while
/// the gate is off. The definitions judge the rest (V5 to V8); the policy may change at any time (V11).
void check_concurrent_admission(const Json& spec, const Surroundings& around, Findings& findings);

/// What is allowed and probably not meant (V9), for the writer to read.
[[nodiscard]] std::vector<std::string> concurrent_admission_warnings(const Json& spec, const Surroundings& around);

/// Flavors that a Workload holds stay allowed, in either form (V13). Nothing while the gate is off.
void check_flavor_constraints(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings);

}  // namespace hindsight::connectors::webhooks
