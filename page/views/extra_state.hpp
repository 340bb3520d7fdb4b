#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "events/log.hpp"
#include "replay/past.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page {

/// A second state of a domain, beside the one that a view looks at: for what compares moments, or decides again. A state may be large, so
/// there is one at a time in the whole process; who comes second waits.
class ExtraState {
 public:
  /// Waits for its turn. Errors: unavailable (`is_over` became true meanwhile).
  [[nodiscard]] static Result<ExtraState> wait(const std::function<bool()>& is_over);

  /// Brings `past` to the state after the record at `target`. Errors: those of a fold, and unavailable (`is_over` became true meanwhile).
  [[nodiscard]] static Result<void> go_to(replay::Past& past, replay::Position target, const std::function<bool()>& is_over);

 private:
  explicit ExtraState(std::unique_lock<std::timed_mutex> turn) : turn_(std::move(turn)) {}

  std::unique_lock<std::timed_mutex> turn_;
};

}  // namespace hindsight::page
