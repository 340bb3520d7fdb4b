#include "operations/connection_table.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace hindsight::operations {
namespace {

/// A peer that has no more than one of so many parts of the places has few: of those who have few the slow ones go first, whoever they are.
constexpr std::size_t modest_part = 16;

std::size_t strangers_in(const std::vector<HttpConnection*>& all) {
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const HttpConnection* one) { return one->is_stranger(); }));
}

}  // namespace

ConnectionTable::ConnectionTable(HttpShared& shared, std::size_t connections_max, std::size_t per_peer_max)
    : shared_(shared),
      connections_max_(connections_max),
      per_peer_max_(per_peer_max),
      strangers_max_(std::max<std::size_t>(1, connections_max / 2)),
      strangers_per_peer_max_(
          std::max<std::size_t>(1, strangers_max_ * std::min(per_peer_max, connections_max) / std::max<std::size_t>(1, connections_max))),
      modest_max_(static_cast<std::ptrdiff_t>(std::max<std::size_t>(2, connections_max / modest_part))) {}

void ConnectionTable::add(const std::shared_ptr<HttpConnection>& connection) {
  const auto added = connections_.emplace(connection->id(), connection).first;
  try {
    peers_[connection->peer()].push_back(connection.get());
  } catch (...) {
    connections_.erase(added);
    if (const auto peer = peers_.find(connection->peer()); peer != peers_.end() && peer->second.empty()) peers_.erase(peer);
    throw;
  }
  if (connection->is_stranger()) shared_.strangers.fetch_add(1, std::memory_order_relaxed);
  shared_.connections.store(connections_.size(), std::memory_order_relaxed);
}

void ConnectionTable::forget(std::uint64_t id) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  const HttpConnection& one = *it->second;
  const auto peer = peers_.find(one.peer());
  std::erase(peer->second, &one);
  if (peer->second.empty()) peers_.erase(peer);
  if (one.is_stranger()) shared_.strangers.fetch_sub(1, std::memory_order_relaxed);
  gone_.insert(connections_.extract(it));
  shared_.connections.store(connections_.size(), std::memory_order_relaxed);
}

// ---- connections ------------------------------------------------------------------------------------------------------------------

bool ConnectionTable::make_room_for(const std::string& peer) {
  if (const auto of = peers_.find(peer); of != peers_.end()) {
    const std::size_t strange = strangers_in(of->second);
    if (of->second.size() >= per_peer_max_) return close_least(&peer, strange > per_peer_max_ / strangers_part);
    // What waits for a thread gives no way, so nobody may have all places of strangers.
    if (strange >= strangers_per_peer_max_) return close_least(&peer, true);
  }
  if (shared_.strangers.load(std::memory_order_relaxed) >= strangers_max_) {
    auto* least = least_missed(nullptr, true);
    while (least != nullptr && !least->give_way()) least = least_missed(nullptr, true);
    if (least == nullptr) return false;
    shared_.evicted.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  return connections_.size() < connections_max_ || close_one();
}

bool ConnectionTable::close_one() {
  return close_least(nullptr, shared_.strangers.load(std::memory_order_relaxed) > connections_max_ / strangers_part);
}

/// Of strangers, or the others; where none of these can go, of the rest.
bool ConnectionTable::close_least(const std::string* only_of, bool strangers) {
  for (const bool of_strangers : {strangers, !strangers})
    while (auto* least = least_missed(only_of, of_strangers))
      if (least->give_way()) {
        shared_.evicted.fetch_add(1, std::memory_order_relaxed);
        return true;
      }
  return false;
}

/// Of strangers those come first who have shown nothing with another connection either; then whoever has many; then what is missed least,
/// and of that whose peer has most: however many come and go, who is new has a moment to say what he wants.
HttpConnection* ConnectionTable::least_missed(const std::string* only_of, bool strangers) const {
  const auto now = HttpConnection::Clock::now();
  using Key = std::tuple<Standing, bool, std::ptrdiff_t, int, std::ptrdiff_t, HttpConnection::Clock::time_point>;
  HttpConnection* least = nullptr;
  Key least_key;
  const auto look_at = [&](const OfPeer& all) {
    const std::size_t strange = strangers_in(all);
    const auto own = static_cast<std::ptrdiff_t>(strangers ? strange : all.size() - strange);
    const auto many = std::max(own, modest_max_);
    for (auto* one : all) {
      if (one->is_stranger() != strangers) continue;
      const auto rank = one->rank(now);
      if (!rank) continue;
      const Key key{one->standing(), strangers && strange < all.size(), -many, *rank, -own, one->since()};
      if (least != nullptr && !(key < least_key)) continue;
      least = one;
      least_key = key;
    }
  };
  if (only_of == nullptr) {
    for (const auto& [peer, all] : peers_) look_at(all);
  } else if (const auto of = peers_.find(*only_of); of != peers_.end()) {
    look_at(of->second);
  }
  return least;
}

// ---- memory -----------------------------------------------------------------------------------------------------------------------

void ConnectionTable::make_answer_room() {
  if (!close_slow_answers(true)) (void)close_slow_answers(false);
}

bool ConnectionTable::close_slow_answers(bool strangers) {
  const auto now = HttpConnection::Clock::now();
  std::vector<std::shared_ptr<HttpConnection>> most;
  std::size_t held_by_most = 0;
  for (const auto& [peer, all] : peers_) {
    std::size_t held = 0;
    std::vector<std::shared_ptr<HttpConnection>> slow;
    for (auto* one : all) {
      if (one->is_stranger() != strangers) continue;
      held += one->answer_memory();
      if (one->answer_memory() > 0 && one->rank(now) == 1) slow.push_back(one->shared_from_this());
    }
    if (slow.empty() || held <= held_by_most) continue;
    most = std::move(slow);
    held_by_most = held;
  }
  for (const auto& one : most) {
    shared_.evicted.fetch_add(1, std::memory_order_relaxed);
    one->close();
  }
  return !most.empty();
}

void ConnectionTable::make_request_room() {
  while (const auto of_strangers = shared_.memory.whose_is_too_much()) {
    auto* least = least_missed_request(*of_strangers);
    if (least == nullptr && shared_.memory.is_full()) least = least_missed_request(!*of_strangers);
    if (least == nullptr) return;  // what there is is being answered
    (void)least->give_up_request();
  }
}

/// Of whoever holds most: what has not come as a whole goes before what waits for a thread, and the slowest first.
HttpConnection* ConnectionTable::least_missed_request(bool strangers) const {
  using Key = std::tuple<Standing, std::ptrdiff_t, int, HttpConnection::Clock::time_point>;
  HttpConnection* least = nullptr;
  Key least_key;
  for (const auto& [peer, all] : peers_) {
    std::ptrdiff_t held = 0;
    for (const auto* one : all)
      if (one->is_stranger() == strangers) held += static_cast<std::ptrdiff_t>(one->request_memory());
    for (auto* one : all) {
      const auto rank = one->is_stranger() == strangers ? one->request_rank() : std::nullopt;
      if (!rank) continue;
      const Key key{one->standing(), -held, *rank, one->since()};
      if (least != nullptr && !(key < least_key)) continue;
      least = one;
      least_key = key;
    }
  }
  return least;
}

}  // namespace hindsight::operations
