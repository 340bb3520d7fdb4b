#pragma once

#include <atomic>
#include <cstddef>

namespace hindsight::connectors {

/// How much is on its way from the watches to a bridge that has a thread of its own: so many tasks, and so many bytes of objects in them,
/// of which each has up to 1.5 MiB. Beyond a bound the watches pause, and go on when half of that is left; so a flood slows the mirror and
/// not the memory. Thread-safe.
class Backlog {
 public:
  static constexpr std::size_t tasks_high = 20'000, tasks_low = 2'000;
  static constexpr std::size_t bytes_high = std::size_t{64} << 20, bytes_low = bytes_high / 2;

  /// Before the task is handed over.
  void add(std::size_t bytes) { bytes_ += bytes; }
  /// After it was done.
  void remove(std::size_t bytes) { bytes_ -= bytes; }
  /// True: whoever asks pauses. `tasks`: all that wait.
  [[nodiscard]] bool pauses(std::size_t tasks) {
    if (tasks < tasks_high && bytes_ < bytes_high) return false;
    paused_ = true;
    return true;
  }
  /// True, once for each pause: it is time to go on. Whoever pauses may do so just after the last task was done, so this is also to be
  /// asked now and then.
  [[nodiscard]] bool goes_on(std::size_t tasks) { return paused_ && tasks < tasks_low && bytes_ < bytes_low && paused_.exchange(false); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<bool> paused_ = false;
};

}  // namespace hindsight::connectors
