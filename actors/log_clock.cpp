#include "actors/log_clock.hpp"

#include <algorithm>
#include <utility>

#include "actors/day_clock.hpp"

namespace hindsight::actors {
namespace {

bool near(Time a, Time b) { return std::max(a, b) - std::min(a, b) <= LogClock::trusted_within; }

}  // namespace

LogClock::LogClock(std::shared_ptr<Clock> clock, bool counts_on) : clock_(std::move(clock)), counts_on_(counts_on) {}

/// With the lock held: what time it is when the clock says this.
Time LogClock::at(Time clock) const {
  const Time own = clock + shift_;
  if (!reached_.is_set()) return own;
  const Duration passed = clock - reached_at_;
  return std::max(own, reached_ + Duration{passed.micros - passed.micros / DayClock::slew});
}

void LogClock::begin(Time last) {
  if (!clock_->runs()) return;
  clock_->hold();
  const std::lock_guard lock(mutex_);
  const Time clock = clock_->now();
  const bool first = !std::exchange(begun_, true);
  if (first && last.is_set() && counts_on_ && !near(last, clock)) shift_ = last - clock;
  if (last.is_set() && last > at(clock)) {
    reached_ = last;
    reached_at_ = clock;
  }
}

void LogClock::reached(Time time, bool others) {
  if (!clock_->runs() || !time.is_set()) return;
  const std::lock_guard lock(mutex_);
  const Time clock = clock_->now();
  if (others && shift_ != Duration{} && near(time, clock)) {  // its word counts again; what it has said must not be taken back
    time = std::max(time, at(clock));
    shift_ = Duration{};
  }
  if (time <= at(clock)) return;
  reached_ = time;
  reached_at_ = clock;
}

Duration LogClock::ahead() const {
  const std::lock_guard lock(mutex_);
  const Time clock = clock_->now();
  return at(clock) - clock;
}

Time LogClock::now() const {
  const std::lock_guard lock(mutex_);
  return at(clock_->now());
}

}  // namespace hindsight::actors
