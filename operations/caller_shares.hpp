#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace hindsight::operations {

/// How much of something scarce, as the time of the API server, callers may use up by asking us.
struct CallerLimits {
  std::size_t at_once = 2;        ///< Under way for strangers.
  std::size_t known_at_once = 2;  ///< And for those who are none.
  double per_second = 10;         ///< For strangers; a quarter of that for one peer.
  double burst = 20;
  std::size_t peers_max = 1024;  ///< Strangers whose haste is measured.
};

/// Who may use it next. Strangers in great number do not keep those out who are known. Thread-safe.
class CallerShares {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A place among those under way, given back with its last copy, which may outlive the shares.
  using Place = std::shared_ptr<const void>;

  explicit CallerShares(const CallerLimits& limits);

  /// Null: not now. `ip` is the caller's address; those that count as one share (peer_of).
  [[nodiscard]] Place enter(const std::string& ip, bool known, Time now);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hindsight::operations
