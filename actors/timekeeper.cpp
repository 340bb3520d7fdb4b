#include "actors/timekeeper.hpp"

#include <algorithm>
#include <chrono>

#include "vocabulary/thread_name.hpp"

namespace hindsight::actors {

Timekeeper::Timekeeper(Clock& clock, std::function<void()> fire) : clock_(clock), fire_(std::move(fire)) {
  listener_ = clock_.listen([this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Timekeeper::stop() {
  clock_.forget(listener_);
  {
    const std::lock_guard lock(mutex_);
    thread_.request_stop();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Timekeeper::wait_for(Time due, Time applied) {
  const std::lock_guard lock(mutex_);
  if (fired_) return;  // the domain has not seen it yet, and would be told of the same moment twice
  due_ = due > applied ? due : Time::never();
  changed_.notify_all();
}

void Timekeeper::heard() {
  const std::lock_guard lock(mutex_);
  fired_ = false;
}

bool Timekeeper::pending() const {
  const std::lock_guard lock(mutex_);
  return fired_ || (due_.is_set() && due_ <= clock_.now());
}

void Timekeeper::run(const std::stop_token& stop) {
  name_this_thread("timekeeper");
  // A clock that is set is noticed after so long.
  constexpr std::chrono::microseconds longest_sleep = std::chrono::seconds(1);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Time now = clock_.now();
    if (!due_.is_set()) {
      changed_.wait(lock);
    } else if (now >= due_) {
      due_ = Time::never();
      fired_ = true;
      lock.unlock();
      fire_();
      lock.lock();
    } else if (clock_.runs()) {
      changed_.wait_for(lock, std::min(longest_sleep, std::chrono::microseconds((due_ - now).micros)));
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace hindsight::actors
