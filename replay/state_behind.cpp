#include "replay/state_behind.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace hindsight::replay {

StateBehind::~StateBehind() {
  give_up_ = true;
  if (made_.valid()) made_.wait();  // it reads the log
}

void StateBehind::prepare(Position target) {
  // One that is far behind by now helps nobody, and one that is ahead neither.
  if (!reaches(target)) make(target, nullptr);
}

bool StateBehind::reaches(Position target) const { return made_.valid() && at_ <= target && target - at_ <= 4 * distance; }

Result<void> StateBehind::go_to(std::unique_ptr<Past>& here, Position target) {
  if (target < here->position() && reaches(target)) {
    if (auto behind = made_.get()) {
      auto left = std::exchange(here, std::move(behind));
      ++short_ways_;
      auto done = here->fold_to(target);
      if (done) make(target, std::move(left));
      return done;
    }
  }
  prepare(target);  // at once: it is there when somebody who has just come goes back
  return here->go_to(target);
}

/// `done_with`: a state that nobody needs any more; to give back its memory takes a while, too.
void StateBehind::make(Position target, std::unique_ptr<Past> done_with) {
  if (made_.valid()) {  // nobody needs that one any more
    give_up_ = true;
    made_.wait();
    give_up_ = false;
  }
  at_ = target > distance ? target - distance : 0;
  auto work = [this, done_with = std::move(done_with)]() mutable -> std::unique_ptr<Past> {
    done_with.reset();
    try {
      auto past = std::make_unique<Past>(log_, domain_);
      const auto there = past->go_to(at_, [this] { return !give_up_; });
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
