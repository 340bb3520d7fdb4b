#include "connectors/kubernetes/http/in_flight_limit.hpp"

#include <algorithm>

namespace hindsight::connectors::kubernetes {
namespace {

/// So many answers say what a write takes; more where more are under way.
constexpr std::size_t answers_min = 8;
constexpr std::chrono::seconds measured_every{10};

}  // namespace

InFlightLimit::InFlightLimit(Options options)
    : options_(options), limit_(options.fixed ? options.most : std::min(least, std::max<std::size_t>(1, options.most))) {}

void InFlightLimit::sent(std::size_t under_way, bool others_wait) {
  most_under_way_ = std::max(most_under_way_, under_way);
  reached_ = reached_ || (others_wait && under_way >= limit_);
}

void InFlightLimit::set(std::size_t limit, Clock::time_point now) {
  limit_ = std::clamp<std::size_t>(limit, 1, std::max<std::size_t>(1, options_.most));
  since_ = now;
  reached_ = false;
  most_under_way_ = 0;
  took_.clear();
}

void InFlightLimit::refused(Clock::time_point sent_at, Clock::time_point now) {
  if (options_.fixed || sent_at < since_) return;  // of those that were too many together, one counts
  starting_ = false;
  back_.reset();
  set(limit_ / 2, now);
}

void InFlightLimit::answered(Clock::time_point sent_at, Clock::time_point now) {
  if (options_.fixed || sent_at < since_) return;  // it says what another limit does
  took_.push_back(now - sent_at);
  if (took_.size() < std::max(answers_min, limit_)) return;
  const auto middle = took_.begin() + static_cast<std::ptrdiff_t>(took_.size() / 2);
  std::nth_element(took_.begin(), middle, took_.end());
  judge(*middle, now);
}

void InFlightLimit::judge(Clock::duration median, Clock::time_point now) {
  if (most_under_way_ <= floor()) {  // so few were all that was asked for, or all that was given
    base_ = median;
    measured_at_ = now;
  }
  if (!reached_) return set(limit_, now);  // nobody waited for us, and the limit is neither too low nor too high
  if (back_) {
    set(*back_, now);
    return back_.reset();
  }
  if (!base_ || now - measured_at_ >= measured_every) {
    back_ = limit_;
    return set(floor(), now);
  }
  if (10 * median < 18 * *base_) return set(limit_ + (starting_ ? limit_ : std::max<std::size_t>(1, limit_ / 8)), now);
  starting_ = false;
  const bool is_too_much = 10 * median > 22 * *base_;
  set(is_too_much ? std::max(floor(), std::min(limit_ - 1, limit_ * 7 / 8)) : limit_, now);
}

}  // namespace hindsight::connectors::kubernetes
