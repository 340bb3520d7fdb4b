#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "events/kafka/client.hpp"
#include "vocabulary/result.hpp"

namespace RdKafka {
class Producer;
class Topic;
}  // namespace RdKafka

namespace hindsight::events::kafka {

/// A message on its way. `fill` writes `size` bytes; without it the message is a tombstone.
struct Outgoing {
  std::string_view key;
  std::size_t size = 0;
  std::int64_t timestamp = 0;  ///< Milliseconds; 0: now.
  std::function<void(std::byte*)> fill;
};

/// Writes messages to one partition, idempotently and in order. Not thread-safe.
///
/// One request is on the wire at a time, a message never expires by itself, and after any failure the client is thrown away: so what
/// gets into the partition is always a prefix of what was sent. A next send makes a new client; what the old one had on the wire may still
/// arrive, which is why the caller begins a new epoch.
class Producer {
 public:
  Producer(const Access& access, LastWords& words, std::string topic, std::int32_t partition);
  ~Producer();

  /// Makes the client, if there is none, and asks the brokers for the topic, at most a second long. It takes the client up to a second to
  /// get its identity, and as long to learn of the leader of a topic that nobody has asked for: the next send would wait for both.
  /// Errors: invalid, io.
  Result<void> connect();

  /// Sends the messages and waits until all replicas in sync have them. The offsets are those of the messages that are known to be in
  /// the partition: all of them unless `error` says what happened. Kinds: invalid (a message was refused as such), denied, not_found,
  /// unsupported, unavailable, io; of all but the messages with offsets it is not known whether they get in.
  struct Outcome {
    std::vector<std::int64_t> offsets;
    Result<void> error;
  };
  [[nodiscard]] Outcome send(std::span<const Outgoing> messages);

  /// Clients made so far.
  [[nodiscard]] std::uint64_t clients() const { return clients_; }
  /// The present client, for tests that make it fail; none before the first send or connect.
  [[nodiscard]] RdKafka::Producer* client() { return client_.get(); }

 private:
  class Reports;
  void throw_away();

  const Access& access_;
  LastWords& words_;
  const std::string topic_;
  const std::int32_t partition_;
  std::unique_ptr<Reports> reports_;  // outlives the client, which calls it
  std::unique_ptr<RdKafka::Producer> client_;
  std::unique_ptr<RdKafka::Topic> topic_handle_;  // as long as there is one, the client keeps an eye on the topic's leaders
  std::uint64_t clients_ = 0;
};

}  // namespace hindsight::events::kafka
