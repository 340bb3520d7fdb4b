#pragma once

#include "connectors/simulated/rules/finding.hpp"

namespace hindsight::connectors::simulated {

/// The validation rules that Kueue's CustomResourceDefinitions carry beyond their tables (base-api §2, those that hold without webhooks),
/// and those of the JobSet definition. `before` does not exist on creation. Both agree with their tables.
void check_crd_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings);

}  // namespace hindsight::connectors::simulated
