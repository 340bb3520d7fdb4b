// What waits before it is planned, or sent: for one of the writes that the cluster takes at a time, for room for a large body, for the
// budget of the statuses of queues, or behind what lets work go on. Whatever it waits for, it is planned anew when its turn comes: much of
// it has become true or was overtaken.

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/want_names.hpp"

namespace hindsight::connectors {
namespace {

/// Nobody who stops one job after another keeps those of others from their start.
constexpr std::size_t urgent_in_a_row_max = 8;

}  // namespace

bool Bridge::reports_wait() const {
  return reports_in_flight_ >= options_.reports_in_flight_max ||
         (others_in_flight_ > 0 && others_since_report_ < options_.writes_for_each_report);
}

void Bridge::send_reports() {
  while (!reports_.empty() && !reports_wait()) {
    const auto key = reports_.pop();
    const auto it = wants_.find(*key);
    if (it == wants_.end()) continue;
    it->second.queued = false;
    advance(*key);
  }
}

void Bridge::wait_for_turn(const std::string& key, Want& want) {
  const auto turn = gives_back(want.intent) ? Turn::urgent : Turn::ready;
  if (want.turn == Turn::urgent || (want.turn != Turn::none && turn != Turn::urgent)) return;
  want.turn = turn;
  (turn == Turn::urgent ? urgent_ : ready_).push(namespace_of(want.intent), key);
}

/// Of one that was in several places, or has gone and come again, the first turn is as good as the next.
void Bridge::take_turn(const std::string& key) {
  const auto it = wants_.find(key);
  if (it == wants_.end()) return;
  it->second.turn = Turn::none;
  advance(key);
}

void Bridge::send_ready() {
  while (others_in_flight_ < cluster_.writes_at_once()) {
    const bool is_urgent = !urgent_.empty() && (ready_.empty() || urgent_in_a_row_ < urgent_in_a_row_max);
    urgent_in_a_row_ = is_urgent ? urgent_in_a_row_ + 1 : 0;
    const auto key = is_urgent ? urgent_.pop() : ready_.pop();
    if (!key) return;
    take_turn(*key);
  }
}

bool Bridge::spares(const admission::Intent& intent) const {
  return options_.spares_queue_statuses && options_.now && std::holds_alternative<admission::QueueStatusIntent>(intent);
}

void Bridge::send_statuses() {
  for (auto most = statuses_.size(); most > 0 && budget_.has_one(options_.now(), statuses_.size()); --most)
    if (const auto key = statuses_.pop()) take_turn(*key);
}

void Bridge::send_large() {
  while (others_in_flight_ < cluster_.writes_at_once()) {
    const auto key = large_.next();
    if (!key) return;
    take_turn(*key);
  }
}

}  // namespace hindsight::connectors
