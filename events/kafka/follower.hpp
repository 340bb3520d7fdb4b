#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "events/domain_tails.hpp"
#include "events/kafka/message.hpp"
#include "events/kafka/reader.hpp"
#include "events/log.hpp"

namespace hindsight::events::kafka {

/// Reads a partition of records as it grows, in a thread of its own: knows where its end and every domain stand, wakes who waits, and keeps
/// the newest records in memory, so that those who read along ask no broker. Thread-safe.
class Follower {
 public:
  /// `recent_bytes` bounds the memory of the newest records.
  Follower(const Access& access, LastWords& words, std::size_t recent_bytes);
  ~Follower();

  /// Begins behind `from`, where the domains stood as `from` says. Once.
  [[nodiscard]] Result<void> start(const DomainsAt& from);
  [[nodiscard]] bool started() const;

  /// What is in the partition as far as it was read.
  struct Standing {
    Position position = 0;          ///< Of the last record.
    Position counted = 0;           ///< Of the last record that counted (vocabulary/record_order.hpp).
    std::vector<DomainTail> tails;  ///< Of the records that counted.
  };
  /// Errors: what ended the reading.
  [[nodiscard]] Result<Standing> standing() const;
  [[nodiscard]] Position position() const;

  /// Waits until `target` was read. Errors: what ended the reading; unavailable when nothing comes for `patience`.
  [[nodiscard]] Result<void> reach(Position target, std::chrono::milliseconds patience) const;
  /// Waits until the end lies beyond `position`, at most `timeout`; the end either way.
  [[nodiscard]] Result<Position> wait_beyond(Position position, std::chrono::microseconds timeout) const;

  /// Fills `out` if record `from` is in memory.
  [[nodiscard]] bool read(Position from, const ReadLimits& limits, RecordBatch& out) const;

 private:
  /// Some of the newest records, one behind another.
  struct Piece {
    Position first = 0;
    RecordBatch records;
  };
  void run(const std::stop_token& stop);
  [[nodiscard]] Result<void> take(const RawMessage& message);
  void remember(const StoredRecord& record);
  void end(Error error);

  const Access& access_;
  LastWords& words_;
  const std::size_t recent_bytes_;
  std::unique_ptr<Reader> reader_;

  mutable std::mutex mutex_;
  mutable std::condition_variable grown_;
  Standing standing_;  // its tails are in tails_
  DomainTails tails_;
  std::deque<Piece> recent_;
  std::size_t recent_size_ = 0;
  std::optional<Error> error_;
  bool started_ = false;
  std::jthread thread_;
};

/// The record of a message, or an error that names partition and offset and what is wrong: damage, or records missing before it.
[[nodiscard]] Result<StoredRecord> record_of(const Access& access, const RawMessage& message, Position expected);

}  // namespace hindsight::events::kafka
