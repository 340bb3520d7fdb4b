#pragma once

#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/scheduling/repeated_preemptions.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::projections {

using admission::StateView;

/// "default/back 3 times in a row": whom, and how often. An object that has gone is told by its uid.
[[nodiscard]] std::string preempted_how_often(const StateView& state, const admission::RepeatedPreemptions::Count& count);

/// One line for each preemption of this record after which the preemptor leaves its victim alone (D13). `after`: the state with the
/// record applied.
[[nodiscard]] std::vector<std::string> repeated_preemption_notices(const RecordView& record, const StateView& after);

}  // namespace hindsight::projections
