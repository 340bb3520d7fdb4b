#pragma once

#include <optional>

#include "cli/output.hpp"
#include "replay/audit.hpp"

namespace hindsight::cli {

/// What `audit -o json` prints. `added`: the checkpoint that was stored, if one was asked for.
[[nodiscard]] Json audit_document(const replay::AuditReport& report, bool keys_named, const std::optional<evidence::Checkpoint>& added,
                                  double seconds);

}  // namespace hindsight::cli
