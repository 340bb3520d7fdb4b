#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace hindsight::connectors::kubernetes::testing {

/// How long a test waits for what must come before it fails. Nothing is measured by it.
inline constexpr auto patience = std::chrono::seconds(60);

/// A value that one thread changes and another waits for.
template <class T>
class Watched {
 public:
  template <class Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(value_);
    changed_.notify_all();
  }
  template <class Condition>
  [[nodiscard]] bool wait(const Condition& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return condition(value_); });
  }
  [[nodiscard]] T get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  T value_{};
};

}  // namespace hindsight::connectors::kubernetes::testing
