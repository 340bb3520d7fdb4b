#include "replay/state_behind.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace hindsight::replay {

StateBehind::~StateBehind() {
  end_ = true;
  if (made_.valid()) made_.wait();  // it reads the log
}

Result<void> StateBehind::go_to(std::unique_ptr<Past>& here, Position target) {
  if (target >= here->position()) {
    auto done = here->go_to(target);
    // One that is far behind by now helps nobody.
    if (done && (!made_.valid() || at_ + 4 * distance < target)) make(target, nullptr);
    return done;
  }
  if (made_.valid() && at_ <= target && target - at_ <= 4 * distance) {
    if (auto behind = made_.get()) {
      auto left = std::exchange(here, std::move(behind));
      ++short_ways_;
      auto done = here->fold_to(target);
      if (done) make(target, std::move(left));
      return done;
    }
  }
  auto done = here->go_to(target);
  if (done) make(target, nullptr);
  return done;
}

/// `done_with`: a state that nobody needs any more; to give back its memory takes a while, too.
void StateBehind::make(Position target, std::unique_ptr<Past> done_with) {
  if (made_.valid()) made_.wait();
  at_ = target > distance ? target - distance : 0;
  auto work = [this, done_with = std::move(done_with)]() mutable -> std::unique_ptr<Past> {
    done_with.reset();
    try {
      auto past = std::make_unique<Past>(log_, domain_);
      const auto there = past->go_to(at_, [this] { return !end_; });
      return there && *there ? std::move(past) : nullptr;
    } catch (const std::bad_alloc&) {
      return nullptr;  // there is no room for another state
    }
  };
  try {
    made_ = std::async(std::launch::async, std::move(work));
  } catch (const std::system_error&) {
    made_ = {};  // no thread can be made: each way is as long as without it
  }
}

}  // namespace hindsight::replay
