#pragma once

#include "connectors/simulated/rules/finding.hpp"

namespace hindsight::connectors::simulated {

/// What holds for the built-in kinds other than Job: pods, nodes, priority classes.
void check_core_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings);

}  // namespace hindsight::connectors::simulated
