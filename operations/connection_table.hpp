#pragma once

// Of the server alone: whoever includes this compiles Boost.Asio.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "operations/http_connection.hpp"

namespace hindsight::operations {

/// The connections of one server, and which of them give way when there are too many, or when they hold too much. Nobody is to have more
/// because he knocks more often, or from more addresses. Of the thread that waits for all bytes.
class ConnectionTable {
 public:
  ConnectionTable(HttpShared& shared, std::size_t connections_max, std::size_t per_peer_max);
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  /// Makes room for one more of a peer. False: there is none, all that might give way are being answered.
  [[nodiscard]] bool make_room_for(const std::string& peer);
  /// Closes the one that is missed least, whose descriptor is needed. False: as above.
  [[nodiscard]] bool close_one();
  /// What it throws leaves everything as it was.
  void add(const std::shared_ptr<HttpConnection>& connection);
  /// It may be at work just now: it lasts until `bury`. Does not throw.
  void forget(std::uint64_t id);
  /// Lets go of those that were forgotten. Not to be called by one of them.
  void bury() { gone_.clear(); }

  /// Closes answers that are being taken slowly: of the peer that holds most, strangers first.
  void make_answer_room();
  /// Gives up requests until the others have room.
  void make_request_room();

  [[nodiscard]] bool empty() const { return connections_.empty(); }
  [[nodiscard]] bool has_nothing_left() const { return connections_.empty() && gone_.empty(); }

  template <class F>
  void for_each(F f) {
    std::vector<std::shared_ptr<HttpConnection>> all;  // they leave the table meanwhile
    all.reserve(connections_.size());
    for (const auto& [id, one] : connections_) all.push_back(one);
    for (const auto& one : all) f(*one);
  }

 private:
  using Connections = std::map<std::uint64_t, std::shared_ptr<HttpConnection>>;
  using OfPeer = std::vector<HttpConnection*>;

  [[nodiscard]] bool close_least(const std::string* only_of, bool strangers);
  [[nodiscard]] HttpConnection* least_missed(const std::string* only_of, bool strangers) const;
  [[nodiscard]] HttpConnection* least_missed_request(bool strangers) const;
  [[nodiscard]] bool close_slow_answers(bool strangers);

  HttpShared& shared_;
  const std::size_t connections_max_, per_peer_max_, strangers_max_, strangers_per_peer_max_;
  const std::ptrdiff_t modest_max_;
  Connections connections_, gone_;
  std::unordered_map<std::string, OfPeer> peers_;
};

}  // namespace hindsight::operations
