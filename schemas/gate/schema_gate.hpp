#pragma once

#include <string>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::schemas {

/// What a reader built from `current` would get wrong about records written under `released`: one sentence for each finding
/// that names table or enum, field or value. Sees what `flatc --conform` lets pass: anything renamed or taken away,
/// `required`, changed structs, another root or identifier, swapped members of a union. Both are paths of .fbs files.
/// Errors: not_found, invalid (does not parse).
[[nodiscard]] Result<std::vector<std::string>> incompatibilities(const std::string& released, const std::string& current);

/// Where a schema breaks the house rules that keep it changeable: tables only, no floats, nothing required, every enum has
/// a zero, fields have explicit ids. Errors: as above.
[[nodiscard]] Result<std::vector<std::string>> house_rule_breaches(const std::string& schema);

}  // namespace hindsight::schemas
