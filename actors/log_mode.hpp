#pragma once

#include <string>

#include "admission/domain/domain.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::actors {

/// May a node go on in this log, which has been folded into `state`, as one that `observes`, or as one that decides?
///
/// In a log with decisions the state holds what was decided there and not written yet. Beside a controller that goes on alone, that would
/// hide what the other one writes, so who observes takes no such log. And a log of notes is that of somebody who looks on beside another
/// controller: who decides there acts beside it. Errors: conflict.
[[nodiscard]] Result<void> check_log_mode(const events::Log& log, const admission::Domain& state, const std::string& domain, bool observes);

}  // namespace hindsight::actors
