#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "events/kafka/client.hpp"

namespace RdKafka {
class KafkaConsumer;
}

namespace hindsight::events::kafka {

/// Who of a group of nodes has which partitions of the topic of records, as Kafka's consumer groups arrange it. Only that: nothing is read
/// by it, and nobody's right to decide hangs on it. Two nodes may take themselves for the owner of a partition for a while; the epochs in
/// the log say which of them is (design rule 4).
class Membership {
 public:
  struct Options {
    std::string group;  ///< Of nodes that share the partitions.
    std::string
        member;  ///< Static membership: back under this name within `session_timeout`, a node gets its partitions again. Empty: none.
    std::chrono::milliseconds session_timeout{6'000};  ///< A silent member's partitions go to others after this time.
    /// All partitions that are ours now, ascending; called when that has changed. While the group is being arranged anew nothing is told,
    /// so that the owners of partitions that stay go on.
    std::function<void(const std::vector<std::int32_t>&)> on_assigned;
    /// It has ended by itself: another has our name, or the brokers refuse us.
    std::function<void(const Error&)> on_failure;
  };

  /// Errors: invalid (settings), denied.
  [[nodiscard]] static Result<std::unique_ptr<Membership>> join(const Access& access, Options options);
  /// Leaves the group; a static member's partitions stay its own until `session_timeout` is over.
  ~Membership();
  /// How many share the partitions now, this one included, as the brokers say within `timeout`; 0: they do not say.
  [[nodiscard]] int members(std::chrono::milliseconds timeout) const;
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  class Arrangements;
  Membership(const Access& access, Options options);
  void run(const std::stop_token& stop);

  const Access access_;
  const Options options_;
  std::shared_ptr<LastWords> words_ = std::make_shared<LastWords>();
  std::shared_ptr<Arrangements> arrangements_;
  std::shared_ptr<RdKafka::KafkaConsumer> consumer_;
  std::jthread thread_;
};

}  // namespace hindsight::events::kafka
