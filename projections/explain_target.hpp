#pragma once

#include <functional>

#include "projections/lookup.hpp"
#include "projections/play.hpp"
#include "projections/trail.hpp"
#include "projections/why.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::projections {

/// Makes the stage on which the remedies of a Workload that waits are played: `Stage::of_tree` of the state that it is in.
using StageMaker = std::function<Stage(const WorkloadAt&)>;

/// The answer of `hindsight why`, of whatever the log knows about a target: a Workload that is there; a job that a gate holds back; an
/// object that was set aside; a Workload that is gone. `trail`, which is of the same target, has seen the records up to `state`. Without
/// `stage` no remedies are played; it is called for those that wait, since they alone have remedies. `listener.facts` is told whatever
/// there is to explain, also where no Workload is. Errors: those of `find_workload`, where nothing of this is so.
[[nodiscard]] Result<Why> explain_target(const StateView& state, const Target& target, const Trail& trail, const StageMaker& stage = {},
                                         const WhyListener& listener = {});

}  // namespace hindsight::projections
