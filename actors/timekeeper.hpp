#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "actors/clock.hpp"

namespace hindsight::actors {

/// Says once that the moment has come which the domain waits for; time enters the log only so (design rule 3). Thread-safe.
class Timekeeper {
 public:
  /// `fire` is called on the timekeeper's thread.
  Timekeeper(Clock& clock, std::function<void()> fire);
  ~Timekeeper() { stop(); }

  /// The domain has applied everything up to the time `applied` and wants to be woken at `due`; never: not at all. A due time that is not
  /// after `applied` was already there when the domain looked last, and wakes nobody.
  /// While what it said last is on its way to the domain it does not listen.
  void wait_for(Time due, Time applied);
  /// What it said has been applied.
  void heard();
  /// Is it about to fire, or has it fired without having been heard?
  [[nodiscard]] bool pending() const;
  /// Ends the thread.
  void stop();

 private:
  void run(const std::stop_token& stop);

  Clock& clock_;
  const std::function<void()> fire_;
  std::uint64_t listener_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Time due_;
  bool fired_ = false;
  std::jthread thread_;
};

}  // namespace hindsight::actors
