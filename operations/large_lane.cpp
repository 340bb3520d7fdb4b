#include "operations/large_lane.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::operations {

std::size_t LargeLane::held_by(const std::string& peer) const {
  return static_cast<std::size_t>(std::count_if(holders_.begin(), holders_.end(), [&](const auto& one) { return one.second == peer; }));
}

bool LargeLane::enter(std::uint64_t id, const std::string& peer, std::function<void()> go) {
  if (holders_.size() < places_) {
    holders_.emplace(id, peer);
    return true;
  }
  wishes_.push_back({id, peer, std::move(go)});
  return false;
}

void LargeLane::leave(std::uint64_t id) {
  std::erase_if(wishes_, [id](const Wish& one) { return one.id == id; });
  if (holders_.erase(id) == 0 || wishes_.empty()) return;
  const auto next =
      std::min_element(wishes_.begin(), wishes_.end(), [this](const Wish& a, const Wish& b) { return held_by(a.peer) < held_by(b.peer); });
  const Wish chosen = std::move(*next);
  wishes_.erase(next);
  holders_.emplace(chosen.id, chosen.peer);
  chosen.go();
}

}  // namespace hindsight::operations
