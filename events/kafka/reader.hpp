#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/kafka/client.hpp"
#include "events/log.hpp"

struct rd_kafka_message_s;
namespace RdKafka {
class Consumer;
class Topic;
}  // namespace RdKafka

namespace hindsight::events::kafka {

/// A message as it lies in a partition. A value of null is a tombstone.
struct RawMessage {
  std::int64_t offset = 0;
  std::string_view key;
  std::span<const std::byte> value;
  bool tombstone = false;
};

/// First and last position that a partition holds; the last before the first: it is empty.
struct Extent {
  Position first = 1;
  Position last = 0;
};

/// Reads one partition of one topic from offset to offset, with a client of its own and without a group. Not thread-safe. Closing it
/// waits for nobody: it never belonged to a group.
class Reader {
 public:
  struct Options {
    unsigned kilobytes_ahead = 4096;  ///< Bounds what is fetched and not read yet.
    /// How long a broker without news keeps a request. While one is kept, a new start waits for its end.
    std::chrono::milliseconds keep{50};
    /// The end of the partition moves `at` over messages that a compaction took away.
    bool sees_end = false;
  };
  /// Errors: invalid (settings), io.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> open(const Access& access, LastWords& words, std::string topic,
                                                            std::int32_t partition, const Options& options);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// From now on `next` gives messages from this offset on.
  [[nodiscard]] Result<void> start(std::int64_t offset);
  /// Asks the brokers for nothing until `next` is called again, which goes on from here: else a reader at the end of its partition would
  /// ask for news as often as `keep` lets it, for ever.
  void rest();
  /// The offset behind the last message that was given, or where it was started; -1: nowhere yet.
  [[nodiscard]] std::int64_t at() const { return at_; }

  /// Gives the next message to `take`, if one comes within `timeout`; false: none came. What passes by itself (a broker is away) is no
  /// error. Errors: not_found (the offset is not kept any more), unavailable (the brokers do not know the
  /// partition, now), denied, corrupt, io.
  [[nodiscard]] Result<bool> next(std::chrono::milliseconds timeout, const std::function<void(const RawMessage&)>& take);

  [[nodiscard]] Result<Extent> extent(std::chrono::milliseconds patience);
  /// Position of the last message; 0: there is none.
  [[nodiscard]] Result<Position> last(std::chrono::milliseconds patience);
  /// Offset of the first message with this timestamp in milliseconds or a later one; none: std::nullopt.
  [[nodiscard]] Result<std::optional<std::int64_t>> offset_at(std::int64_t timestamp, std::chrono::milliseconds patience);
  /// Whether the last message had the time of the broker instead of the record's.
  [[nodiscard]] bool broker_time() const { return broker_time_; }

 private:
  Reader(const Access& access, LastWords& words, std::string topic, std::int32_t partition);
  void stop();
  [[nodiscard]] Result<void> fetch();
  [[nodiscard]] const rd_kafka_message_s* hand_over(std::chrono::milliseconds timeout);
  void drop_handed();
  [[nodiscard]] Result<std::int64_t> ask_offset(std::int64_t what, std::chrono::milliseconds patience);

  const Access& access_;
  LastWords& words_;
  const std::string topic_name_;
  const std::int32_t partition_;
  std::unique_ptr<RdKafka::Consumer> consumer_;  // before the topic, which goes first
  std::unique_ptr<RdKafka::Topic> topic_;
  std::int64_t at_ = -1;
  std::vector<rd_kafka_message_s*> handed_;  ///< Taken from librdkafka together, since each call costs as much as a short message.
  std::size_t next_handed_ = 0;
  bool fetching_ = false;
  bool broker_time_ = false;
};

}  // namespace hindsight::events::kafka
