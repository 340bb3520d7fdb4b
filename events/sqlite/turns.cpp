#include "events/sqlite/turns.hpp"

namespace hindsight::events::sqlite {

void Turns::lock() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = asked_++;
  next_.wait(lock, [&] { return left_ == mine; });
}

void Turns::unlock() {
  {
    const std::lock_guard lock(mutex_);
    ++left_;
  }
  next_.notify_all();  // only one of them is next; there are never more than a few
}

std::uint64_t Turns::present() const {
  const std::lock_guard lock(mutex_);
  return asked_ - left_;
}

}  // namespace hindsight::events::sqlite
