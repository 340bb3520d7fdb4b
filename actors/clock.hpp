#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "vocabulary/time.hpp"

namespace hindsight::actors {

/// Where time comes from: the one place of a live system that asks for it. Thread-safe.
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
};

/// The time of day.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override;
  [[nodiscard]] bool runs() const override { return true; }
  [[nodiscard]] std::uint64_t listen(std::function<void()>) override { return 0; }
  void forget(std::uint64_t) override {}
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
