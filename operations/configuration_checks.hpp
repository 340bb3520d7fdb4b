#pragma once

#include <string_view>
#include <vector>

#include "connectors/manifests/schema.hpp"
#include "operations/feature_gates.hpp"

namespace hindsight::operations {

/// Appends what the schema cannot say about a configuration that fits it, defaults included: durations, addresses, selectors, names
/// that must be known, fields that exclude each other (base-api §11). `own_namespace`: where the process belongs.
void judge_configuration(const connectors::manifests::Json& configuration, std::string_view own_namespace,
                         std::vector<connectors::manifests::Problem>& problems);

/// What the configuration asks for and does not get: sections whose feature gate is off, job kinds that this release cannot manage.
[[nodiscard]] std::vector<std::string> configuration_warnings(const connectors::manifests::Json& configuration, const GateValues& gates);

}  // namespace hindsight::operations
