#include "page/server/quiet_turns.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

namespace hindsight::page {
namespace {

constexpr std::chrono::milliseconds own_time{10}, look_again_for_turn{50};

/// What a control group allows, in whole cores; `otherwise` where it allows any, or nobody says.
unsigned cores_of_group(unsigned otherwise) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return otherwise;
  return static_cast<unsigned>(std::clamp(quota / period, 1.0, 4096.0));
}

}  // namespace

unsigned QuietTurns::all_cores_but_one() {
  const unsigned machine = std::max(1U, std::thread::hardware_concurrency());
  return std::max(2U, std::min(machine, cores_of_group(machine))) - 1;
}

bool QuietTurns::Turn::take(const std::function<bool()>& is_over) {
  if (!turns_ || has_) return true;
  has_ = turns_->wait(is_over);
  since_ = std::chrono::steady_clock::now();
  return has_;
}

void QuietTurns::Turn::give() {
  if (!has_) return;
  has_ = false;
  turns_->leave();
}

void QuietTurns::Turn::pass_on() {
  if (!has_ || std::chrono::steady_clock::now() - since_ < own_time || !turns_->somebody_waits()) return;
  give();
  take();
}

bool QuietTurns::wait(const std::function<bool()>& is_over) {
  std::unique_lock lock(mutex_);
  const auto me = waiting_.insert(waiting_.end(), 0);
  const auto is_mine = [&] { return running_ < at_once_ && waiting_.begin() == me; };
  while (!is_mine()) {
    lock.unlock();
    const bool over = is_over && is_over();
    lock.lock();
    if (over) {
      waiting_.erase(me);
      changed_.notify_all();
      return false;
    }
    changed_.wait_for(lock, look_again_for_turn, is_mine);
  }
  waiting_.erase(me);
  ++running_;
  changed_.notify_all();
  return true;
}

void QuietTurns::leave() {
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

bool QuietTurns::somebody_waits() const {
  const std::lock_guard lock(mutex_);
  return !waiting_.empty();
}

}  // namespace hindsight::page
