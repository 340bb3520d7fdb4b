#pragma once

#include <optional>

#include "admission/domain/loop_driver.hpp"
#include "replay/compare.hpp"

namespace hindsight::replay {

/// What a decision on record is to the step that its base leads to.
struct Judgement {
  std::optional<StepDifference> difference;
  bool repeats = false;  ///< There is one, and it only is that a build that did not look for circles recorded a step once more.
};

/// `driver`: before the record is applied. `made_again`: nothing: the base leads to no step.
[[nodiscard]] Judgement judge(const admission::LoopDriver& driver, const Decisions& recorded,
                              const std::optional<admission::Domain::Step>& made_again);

}  // namespace hindsight::replay
