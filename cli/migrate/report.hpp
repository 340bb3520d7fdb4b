#pragma once

#include "cli/migrate/finding.hpp"
#include "projections/json.hpp"
#include "projections/table.hpp"

namespace hindsight::cli::migrate {

/// SEVERITY, OBJECT, FIELD, FOUND, WHAT HAPPENS, WHAT TO DO; with -o wide the rule too.
[[nodiscard]] projections::Table findings_table(const Findings& findings);

/// "2 block, 1 differs, 5 notes", and how many are not shown.
[[nodiscard]] std::string summary_of(const Findings& findings);

/// {"summary": {"blocks", "differs", "note"}, "leftOut": {rule: count}, "findings": [...]}.
[[nodiscard]] projections::Json findings_document(const Findings& findings);

}  // namespace hindsight::cli::migrate
