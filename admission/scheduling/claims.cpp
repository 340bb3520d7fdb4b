#include "admission/scheduling/claims.hpp"

#include <algorithm>

namespace hindsight::admission {

void Claims::note(std::string_view claimant, Symbol cluster_queue, Time now) {
  if (!is_known(claimant)) claims_.emplace(std::string(claimant), Claim{cluster_queue, now});
}

bool Claims::may_claim(std::string_view claimant, Time now, Duration span) const {
  if (claims_.empty()) return true;
  const auto it = claims_.find(claimant);
  return it == claims_.end() ? claims_.size() < claims_max : now < it->second.since + span;
}

/// The rest is as long as the claim was, so that what was withheld has its turn also where news never ends.
void Claims::news(Time now, Duration span) {
  if (claims_.empty()) return;
  std::erase_if(claims_, [&](const auto& c) { return now >= c.second.since + span + span; });
}

void Claims::forget(std::string_view claimant) {
  if (const auto it = claims_.find(claimant); it != claims_.end()) claims_.erase(it);
}

Time Claims::next_end(Time t, Duration span) const {
  Time first;
  for (const auto& [claimant, c] : claims_) {
    const Time end = c.since + span;
    if (end > t && (!first.is_set() || end < first)) first = end;
  }
  return first;
}

void Claims::add_to(StateHash& h) const {
  for (const auto& [claimant, c] : claims_) {
    h.add(std::string_view(claimant));
    h.add(c.cluster_queue);
    h.add(c.since);
  }
}

}  // namespace hindsight::admission
