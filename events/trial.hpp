#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "admission/domain/entities.hpp"
#include "events/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events {

/// What a state leads to if nobody else does anything: the steps that its domain would decide one after another.
struct Trial {
  std::vector<std::shared_ptr<const Record>> steps;  ///< Decisions, as they would be recorded.
  bool at_rest = true;                               ///< Nothing would follow on them; else there were more than were asked for.
};

/// A trial ends after so many steps, whatever would follow.
inline constexpr std::size_t trial_steps_max = 256;

/// Decides on a copy of the state, and applies there what was decided, until the copy is at rest. The state itself does not change, nothing
/// is recorded, and nobody carries anything out; so what has to be seen before the next step (a job that has stopped, a Workload that was
/// made) does not come about, and what depends on it is not decided. A function of the state alone: whoever has folded the same records
/// finds the same. Between records only. Errors: those of a snapshot and of a fold, which are bugs.
[[nodiscard]] Result<Trial> try_out(const admission::Entities& state, const admission::Domain::SettingsReader& settings_reader,
                                    std::string_view domain, std::size_t steps_max = trial_steps_max);

}  // namespace hindsight::events
