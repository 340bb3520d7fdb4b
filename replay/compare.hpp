#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "vocabulary/decisions.hpp"

namespace hindsight::replay {

/// Where two steps part.
struct StepDifference {
  std::size_t event = 0;   ///< Number of the event in the record, from 0.
  std::string event_kind;  ///< "QuotaReserved"; of the recorded one where both have one. Empty: `field` is of the step itself.
  std::string field;       ///< "assignments[0].count"; "event" when one side has no such event or one of another kind.
  std::string recorded, computed;
};

/// The first field in which two steps differ, in the order of events and of their fields; nothing when they are equal. The base is
/// not looked at.
[[nodiscard]] std::optional<StepDifference> first_difference(const Decisions& recorded, const Decisions& computed);

}  // namespace hindsight::replay
