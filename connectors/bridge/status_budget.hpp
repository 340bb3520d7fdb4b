#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "vocabulary/time.hpp"

namespace hindsight::connectors {

/// How often the status of a queue may be written. On a busy cluster each admission and each end changes the counts of a ClusterQueue and a
/// LocalQueue, and a write for each would be half of all our writes: so of what comes faster the last is written. A few at a time go at
/// once, ten a second follow; of very many queues that change so many that each is written within half a minute. Not thread-safe.
class StatusBudget {
 public:
  static constexpr std::int64_t a_second = 10, at_once = 20, seconds_for_all = 25;

  /// Whether one may be written now. `waiting`: how many wait.
  [[nodiscard]] bool has_one(Time now, std::size_t waiting) {
    if (waiting >= most_waited_ || !since_.is_set() || now < since_ || now - since_ >= Duration::seconds(seconds_for_all)) {
      most_waited_ = waiting;
      since_ = now;
    }
    const auto rate = std::max(a_second, static_cast<std::int64_t>(most_waited_) / seconds_for_all);
    const auto most = std::max(at_once, rate) * one;
    if (filled_.is_set() && filled_ < now) left_ += std::min(now.micros - filled_.micros, most / rate) * rate;
    if (!filled_.is_set() || filled_ < now) filled_ = now;
    left_ = std::min(left_, most);
    return left_ >= one;
  }
  /// It is written.
  void take() { left_ -= one; }

 private:
  static constexpr std::int64_t one = 1'000'000;  ///< Of micros times writes a second.

  std::int64_t left_ = at_once * one;
  Time filled_ = Time::never();
  std::size_t most_waited_ = 0;  ///< In the last `seconds_for_all`.
  Time since_ = Time::never();
};

}  // namespace hindsight::connectors
