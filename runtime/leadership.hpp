#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace hindsight::runtime {

/// Whether this process leads, for those who wait for it. Thread-safe.
class Leadership {
 public:
  void change(bool leads) {
    const std::lock_guard lock(mutex_);
    leads_ = leads;
    if (!leads && led_) lost_ = true;
    led_ |= leads;
    changed_.notify_all();
  }
  /// Something that leading needs has failed.
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }
  /// Until we lead (true), or are told to stop.
  bool wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return leads_; });
  }
  /// Until the lease is lost (true), something has failed, or we are told to stop.
  bool wait_for_loss(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return lost_ || failed_; });
    return lost_;
  }
  [[nodiscard]] bool leads() const {
    const std::lock_guard lock(mutex_);
    return leads_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool leads_ = false, led_ = false, lost_ = false, failed_ = false;
};

}  // namespace hindsight::runtime
