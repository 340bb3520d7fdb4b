#pragma once

#include "page/view.hpp"
#include "projections/how.hpp"
#include "replay/decided_again.hpp"

namespace hindsight::page {

/// GET decisions/{position}?workload= : how the decision at this position came about, as `hindsight how -o json` tells it. `workload`:
/// NAMESPACE/NAME or KIND/NAMESPACE/NAME, only what concerns this one. The decision is made once more, so the answer may take a while.
[[nodiscard]] Result<Json> decision_view(const Look& look, const Parameters& parameters);

/// What `how` is told of it. Refers to it.
[[nodiscard]] projections::Decided told_decision(const replay::DecidedAgain& again);

}  // namespace hindsight::page
