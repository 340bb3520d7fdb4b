#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "vocabulary/time.hpp"

namespace hindsight::actors {

/// A clock was found elsewhere than where time should be, or back again.
struct ClockStep {
  Time from;           ///< By our reckoning.
  Time to;             ///< By the clock.
  std::string source;  ///< Whose clock, for people.
  bool over = false;   ///< It agrees with ours again.
};

/// Where time comes from. Thread-safe.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Time now() const = 0;
  /// Does time pass without anybody's doing? If not, `listen` tells when it was moved.
  [[nodiscard]] virtual bool runs() const = 0;
  /// `moved` is called after each move of a clock that does not run; returns a number for `forget`.
  [[nodiscard]] virtual std::uint64_t listen(std::function<void()> moved) = 0;
  /// After it returns `moved` is not called any more.
  virtual void forget(std::uint64_t listener) = 0;

  /// From the first call on the time of a clock that runs goes evenly, whatever the clock of the day is set to.
  virtual void hold() {}
  /// `told` hears of clocks that were set while time went evenly; returns a number for `forget_steps`.
  [[nodiscard]] virtual std::uint64_t on_step(std::function<void(const ClockStep&)> /*told*/) { return 0; }
  virtual void forget_steps(std::uint64_t /*listener*/) {}
};

/// Time that stands until somebody moves it: tests, simulations.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Time start) : now_(start) {}

  /// Moves on; an earlier time changes nothing.
  void advance_to(Time t);

  [[nodiscard]] Time now() const override;
  [[nodiscard]] bool runs() const override { return false; }
  [[nodiscard]] std::uint64_t listen(std::function<void()> moved) override;
  void forget(std::uint64_t listener) override;

 private:
  mutable std::mutex mutex_;
  Time now_;
  std::uint64_t listeners_made_ = 0;
  std::mutex telling_;  ///< Held while listeners are called, so that `forget` waits for them.
  std::map<std::uint64_t, std::function<void()>> listeners_;
};

}  // namespace hindsight::actors
