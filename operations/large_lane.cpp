#include "operations/large_lane.hpp"

#include <new>
#include <tuple>
#include <utility>

namespace hindsight::operations {

std::size_t LargeLane::held_by(const std::string& peer) const {
  return static_cast<std::size_t>(
      std::count_if(holders_.begin(), holders_.end(), [&](const auto& one) { return one.second.peer == peer; }));
}

bool LargeLane::has_place_for(const Who& who) const {
  if (holders_.size() >= places_) return false;
  if (who.proven) return true;
  const auto strangers = std::count_if(holders_.begin(), holders_.end(), [](const auto& one) { return !one.second.proven; });
  return static_cast<std::size_t>(strangers) < strangers_max_;
}

bool LargeLane::enter(std::uint64_t id, const std::string& peer, bool proven, std::function<void()> go) {
  Who who{peer, proven};
  if (has_place_for(who)) {
    holders_.emplace(id, std::move(who));
    return true;
  }
  wishes_.push_back({id, std::move(who), std::move(go)});
  return false;
}

std::vector<LargeLane::Wish>::iterator LargeLane::next() {
  const auto key = [this](const Wish& wish) { return std::tuple(!wish.who.proven, held_by(wish.who.peer)); };
  auto best = wishes_.end();
  for (auto wish = wishes_.begin(); wish != wishes_.end(); ++wish)
    if (has_place_for(wish->who) && (best == wishes_.end() || key(*wish) < key(*best))) best = wish;
  return best;
}

void LargeLane::leave(std::uint64_t id) {
  std::erase_if(wishes_, [id](const Wish& one) { return one.id == id; });
  if (holders_.erase(id) == 0) return;
  for (auto best = next(); best != wishes_.end(); best = next()) {
    try {
      holders_.emplace(best->id, best->who);
    } catch (const std::bad_alloc&) {  // it waits for the next one that leaves, or until its time is over
      return;
    }
    const Wish chosen = std::move(*best);
    wishes_.erase(best);
    chosen.go();
  }
}

}  // namespace hindsight::operations
