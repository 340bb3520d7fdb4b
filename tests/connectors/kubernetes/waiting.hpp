#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace hindsight::connectors::kubernetes::testing {

/// How long a test waits for what must come before it fails. Nothing is measured by it.
inline constexpr auto patience = std::chrono::seconds(60);

/// A value that one thread changes and another waits for. Copies share the value: whoever may be called after the test has given up waiting
/// (an answer, a handler of a server) holds a copy, never a reference to a variable of the test.
template <class T>
class Watched {
 public:
  template <class Change>
  void change(const Change& change) const {
    const std::lock_guard lock(shared_->mutex);
    change(shared_->value);
    shared_->changed.notify_all();
  }
  void set(T value) const {
    change([&](T& v) { v = std::move(value); });
  }
  template <class Condition>
  [[nodiscard]] bool wait(const Condition& condition) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, patience, [&] { return condition(shared_->value); });
  }
  [[nodiscard]] T get() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->value;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    T value{};
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// For a condition that has no better way to be waited for.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace hindsight::connectors::kubernetes::testing
