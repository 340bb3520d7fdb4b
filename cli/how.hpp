#pragma once

#include <string_view>

#include "admission/domain/state_view.hpp"
#include "cli/session.hpp"
#include "events/log.hpp"
#include "projections/how.hpp"
#include "replay/decided_again.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Adds to `filter` whom these words mean: a workload or its job, or clusterqueue/NAME. Of jobs `state` says which Workload they have.
/// Errors: invalid (they mean neither), not_found (there is no such job).
[[nodiscard]] Result<void> add_to_filter(const admission::StateView& state, std::string_view word, std::string_view default_namespace,
                                         projections::HowFilter& filter);

/// How the decision came about; where it does not come out as recorded, that, and no trace.
[[nodiscard]] std::string how_text(const replay::DecidedAgain& again, const projections::HowOptions& options);
[[nodiscard]] projections::Json how_json(const replay::DecidedAgain& again, const projections::HowFilter& filter);

/// What stands behind `how` in the debugger: "[HEADS] [WORKLOAD | clusterqueue/NAME]". Errors: invalid.
[[nodiscard]] Result<projections::HowOptions> read_how(const admission::StateView& state, std::string_view words);

inline constexpr std::size_t how_heads_max = 10'000;

}  // namespace hindsight::cli
