#include "operations/caller_shares.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "operations/http.hpp"

namespace hindsight::operations {

class CallerShares::State {
 public:
  explicit State(const CallerLimits& limits) : limits_(limits) {}

  [[nodiscard]] bool enter(const std::string& peer, bool known, Time now) {
    const std::lock_guard lock(mutex_);
    if (known ? known_under_way_ >= limits_.known_at_once : !may_enter(peer, now)) return false;
    ++(known ? known_under_way_ : strangers_under_way_);
    return true;
  }
  void leave(bool known) {
    const std::lock_guard lock(mutex_);
    --(known ? known_under_way_ : strangers_under_way_);
  }

 private:
  /// What is left of an allowance that grows again.
  struct Allowance {
    double left = 0;
    Time at;

    [[nodiscard]] double at_time(Time now, double per_second, double burst) const {
      return std::min(burst, left + std::max(0.0, std::chrono::duration<double>(now - at).count() * per_second));
    }
    [[nodiscard]] bool take(Time now, double per_second, double burst) {
      left = at_time(now, per_second, burst);
      at = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    }
  };

  /// Of strangers. The mutex is held.
  [[nodiscard]] bool may_enter(const std::string& peer, Time now) {
    if (strangers_under_way_ >= limits_.at_once) return false;
    const double rate = limits_.per_second / 4, burst = std::max(1.0, limits_.burst / 4);
    auto it = by_peer_.find(peer);
    if (it == by_peer_.end()) {
      if (by_peer_.size() >= limits_.peers_max)
        std::erase_if(by_peer_, [&](const auto& one) { return one.second.at_time(now, rate, burst) >= burst; });
      if (by_peer_.size() >= limits_.peers_max) return false;
      it = by_peer_.emplace(peer, Allowance{burst, now}).first;
    }
    return it->second.take(now, rate, burst) && strangers_.take(now, limits_.per_second, limits_.burst);
  }

  const CallerLimits limits_;
  std::mutex mutex_;  ///< Guards all below.
  std::size_t known_under_way_ = 0, strangers_under_way_ = 0;
  Allowance strangers_{limits_.burst, {}};
  std::map<std::string, Allowance> by_peer_;
};

CallerShares::CallerShares(const CallerLimits& limits) : state_(std::make_shared<State>(limits)) {}

CallerShares::Place CallerShares::enter(const std::string& ip, bool known, Time now) {
  // Made before the place is taken: what it needs may not be there.
  const auto place = std::make_shared<bool>(false);
  Place out(place.get(), [state = state_, known, place](const void*) {
    if (*place) state->leave(known);
  });
  *place = state_->enter(peer_of(ip), known, now);
  return *place ? out : nullptr;
}

}  // namespace hindsight::operations
