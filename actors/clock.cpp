#include "actors/clock.hpp"

namespace hindsight::actors {

void VirtualClock::advance_to(Time t) {
  {
    const std::lock_guard lock(mutex_);
    if (t <= now_) return;
    now_ = t;
  }
  const std::lock_guard telling(telling_);
  for (const auto& [id, moved] : listeners_) moved();
}

Time VirtualClock::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::uint64_t VirtualClock::listen(std::function<void()> moved) {
  const std::lock_guard telling(telling_);
  listeners_.emplace(++listeners_made_, std::move(moved));
  return listeners_made_;
}

void VirtualClock::forget(std::uint64_t listener) {
  const std::lock_guard telling(telling_);
  listeners_.erase(listener);
}

}  // namespace hindsight::actors
