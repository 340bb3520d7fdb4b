#include "actors/day_clock.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "vocabulary/thread_name.hpp"

namespace hindsight::actors {
namespace {

constexpr Duration opinion_stretch = Duration::seconds(120);
constexpr Duration opinion_pause = Duration::seconds(8);
/// So near to ours a clock that was told of counts as being back.
constexpr Duration agreement = Duration::seconds(2);
/// Below this the reckoning is not moved, so that rounding loses nothing of the tenth.
constexpr Duration move_min = Duration::millis(1);

Duration read_clock(clockid_t id) {
  timespec t{};
  (void)clock_gettime(id, &t);
  return {static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1'000};
}

DayClock::Sources of_the_system() {
  return {.wall = [] { return Time{read_clock(CLOCK_REALTIME).micros}; },
          .steady = [] { return read_clock(CLOCK_BOOTTIME); },  // a machine that slept has not been set
          .looks = true};
}

Duration magnitude(Duration d) { return {d.micros < 0 ? -d.micros : d.micros}; }

}  // namespace

DayClock::DayClock() : DayClock(of_the_system()) {}

DayClock::DayClock(Sources sources) : sources_(std::move(sources)) {}

DayClock::~DayClock() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

// ---- what time it is ----------------------------------------------------------------------------------------------------------------

/// With the lock held: the middle one of what was heard; of two the one that is nearer to the clock of this machine.
std::optional<Time> DayClock::opinion(Duration steady, Time wall) const {
  if (heard_.empty() || Duration{steady.micros - heard_.back().at.micros} > opinion_life) return std::nullopt;
  std::vector<Duration> offsets;
  for (const auto& h : heard_) offsets.push_back(h.offset);
  std::ranges::sort(offsets);
  const auto at = [&](std::size_t i) { return Time{offsets[i].micros + steady.micros}; };
  const Time low = at((offsets.size() - 1) / 2), high = at(offsets.size() / 2);
  return magnitude(wall - low) < magnitude(wall - high) ? low : high;
}

/// With the lock held: did an answer agree with the clock of this machine?
bool DayClock::is_confirmed(Duration steady, Time wall) const {
  return std::ranges::any_of(
      heard_, [&](const Heard& h) { return magnitude(Duration{wall.micros - (h.offset.micros + steady.micros)}) <= step_min; });
}

/// With the lock held: what the clock of the day says that counts.
Time DayClock::day(Duration steady, Time wall) const {
  const auto second = opinion(steady, wall);
  return second && !is_confirmed(steady, wall) ? *second : wall;
}

/// With the lock held.
Time DayClock::reckon(Duration steady) const {
  const Duration passed{std::max<std::int64_t>(0, steady.micros - at_steady_.micros)};
  const Time even = at_ + passed;
  const Duration error = day(steady, sources_.wall()) - even;
  const std::int64_t most = passed.micros / slew;
  const Time out = even + Duration{std::clamp(error.micros, -most, most)};
  if (passed >= move_min) {
    at_ = out;
    at_steady_ = steady;
  }
  return out;
}

Time DayClock::now() const {
  const std::lock_guard lock(mutex_);
  const Duration steady = sources_.steady();
  return held_ ? reckon(steady) : day(steady, sources_.wall());
}

void DayClock::hold() {
  const std::lock_guard lock(mutex_);
  if (held_) return;
  held_ = true;
  at_steady_ = sources_.steady();
  at_ = day(at_steady_, sources_.wall());
  if (!sources_.looks) return;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    name_this_thread("day-clock");
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock sleeping(mutex);
    while (!never.wait_for(sleeping, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); })) look();
  });
}

void DayClock::hear(Time date) {
  const std::lock_guard lock(mutex_);
  const Duration steady = sources_.steady();
  const Duration offset{date.micros - steady.micros};
  // Many answers within some seconds are as good as one, or they would crowd out what other servers said.
  if (!heard_.empty() && Duration{steady.micros - heard_.back().at.micros} < opinion_pause &&
      magnitude(Duration{offset.micros - heard_.back().offset.micros}) <= step_min) {
    heard_.back().offset = std::max(heard_.back().offset, offset);
    return;
  }
  heard_.push_back({offset, steady});
  while (heard_.size() > opinions_max || Duration{steady.micros - heard_.front().at.micros} > opinion_stretch) heard_.pop_front();
}

// ---- clocks that were set -------------------------------------------------------------------------------------------------------------

/// With the lock held: what is to be told of a clock now.
std::optional<ClockStep> DayClock::watch(Watched& clock, Time ours, Time its, Duration steady, const std::string& source) {
  const Duration off = its - ours;
  const bool told = clock.told != Duration{};
  const bool same_side = (off.micros < 0) == (clock.told.micros < 0);
  const bool further = magnitude(off) > step_min && (!same_side || magnitude(off).micros > magnitude(clock.told).micros + step_min.micros);
  const bool over = told && magnitude(off) <= agreement;
  // What it nears us by, or we it, is no news; where it is now is what the next step is measured from.
  if (told && same_side && magnitude(off) < magnitude(clock.told) && !over && magnitude(off) > step_min) clock.told = off;
  if (!further && !over) return std::nullopt;
  if (clock.told_at && Duration{steady.micros - clock.told_at->micros} < told_again_after) return std::nullopt;
  clock.told = over ? Duration{} : off;
  clock.told_at = steady;
  if (!over) ++steps_;
  return ClockStep{ours, its, source, over};
}

void DayClock::look() {
  std::vector<ClockStep> steps;
  {
    const std::lock_guard lock(mutex_);
    if (!held_) return;
    const Duration steady = sources_.steady();
    const Time ours = reckon(steady), wall = sources_.wall();
    if (auto step = watch(machine_, ours, wall, steady, "the clock of this machine")) steps.push_back(std::move(*step));
    if (const auto second = opinion(steady, wall))
      if (auto step = watch(api_server_, ours, *second, steady, "the clock of the API server")) steps.push_back(std::move(*step));
  }
  if (steps.empty()) return;
  const std::lock_guard telling(telling_);
  for (const auto& step : steps)
    for (const auto& [id, told] : listeners_) told(step);
}

std::uint64_t DayClock::on_step(std::function<void(const ClockStep&)> told) {
  const std::lock_guard telling(telling_);
  listeners_.emplace(++listeners_made_, std::move(told));
  return listeners_made_;
}

void DayClock::forget_steps(std::uint64_t listener) {
  const std::lock_guard telling(telling_);
  listeners_.erase(listener);
}

DayClock::Standing DayClock::standing() const {
  const std::lock_guard lock(mutex_);
  const Duration steady = sources_.steady();
  const Time wall = sources_.wall();
  const Time ours = held_ ? reckon(steady) : day(steady, wall);
  Standing out{wall - ours, std::nullopt, steps_};
  if (const auto second = opinion(steady, wall)) out.api_server = *second - ours;
  return out;
}

}  // namespace hindsight::actors
