#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "admission/domain/state_view.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::explorer {

/// What is promised of slices of elastic jobs in every state (77 EJ-159), reckoned from specs, admissions and requests alone: none of it
/// asks the code that decides about slices. How many there are, and what two of them hold together, Invariants looks at.
class SliceRules {
 public:
  /// To be told of every record after it was applied. Empty, or what is wrong: a queue's usage is not the sum of what its Workloads hold,
  /// or a slice took other flavors than the one that it replaces.
  [[nodiscard]] std::string after(const admission::StateView& state, const RecordView& record);

  /// When there is nothing left to decide. `settled`: is everybody in the tree awake who was to be woken? Empty, or what is wrong: a slice
  /// has another size than its job, or a replacement waits though its difference fits, or for another reason than its difference gives.
  [[nodiscard]] std::string check_rest(const admission::StateView& state, const std::function<bool(const Symbol& root)>& settled);

  /// When besides all is told and written. Empty, or what is wrong: a job runs without an admitted slice, or does not run with one.
  [[nodiscard]] std::string check_quiet(const admission::StateView& state);

  /// How often there was something to look at.
  struct Figures {
    std::size_t usages = 0, flavors = 0, sizes = 0, waiting = 0, exceeding = 0, running = 0, stopped = 0;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  Figures figures_;
};

}  // namespace hindsight::explorer
