#include "page/views/extra_state.hpp"

#include <chrono>
#include <utility>

namespace hindsight::page {
namespace {

/// How soon somebody who waits notices that nobody waits for him any more.
constexpr std::chrono::milliseconds turn_asked_every{50};

std::timed_mutex& one_extra_state() {
  static std::timed_mutex mutex;
  return mutex;
}

tl::unexpected<Error> gave_up(const std::string& what) {
  return fail(ErrorKind::unavailable, what + "; ask again, or look at a stretch of the log that is shorter");
}

}  // namespace

Result<ExtraState> ExtraState::wait(const std::function<bool()>& is_over) {
  std::unique_lock<std::timed_mutex> turn(one_extra_state(), std::defer_lock);
  while (!turn.try_lock_for(turn_asked_every))
    if (is_over()) return gave_up("somebody else compares moments or has a decision made again, and the time for this answer is over");
  return ExtraState(std::move(turn));
}

Result<void> ExtraState::go_to(replay::Past& past, replay::Position target, const std::function<bool()>& is_over) {
  const auto there = past.go_to(target, [&] { return !is_over(); });
  if (!there) return tl::unexpected(there.error());
  if (!*there) return gave_up("the fold had come to record " + std::to_string(past.position()) + " when the time for this answer was over");
  return {};
}

}  // namespace hindsight::page
