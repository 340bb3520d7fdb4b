#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "events/kafka/reader.hpp"
#include "events/log.hpp"

namespace hindsight::events::kafka {

/// Readers of the records at different places of the partition: whoever reads on where somebody has read before gets the same client
/// again. Thread-safe.
class Cursors {
 public:
  Cursors(const Access& access, LastWords& words) : access_(access), words_(words) {}

  /// Adds records from `from` on to `out`, which is empty, none beyond `end`. As Log::read; beside its errors: not_found (the record is
  /// not kept any more), unavailable.
  [[nodiscard]] Result<void> read(Position from, Position end, const ReadLimits& limits, RecordBatch& out);

  /// Asks the brokers.
  [[nodiscard]] Result<Extent> extent();
  [[nodiscard]] Result<Position> last();
  /// Position of the first record whose message has this timestamp in milliseconds or a later one; none: std::nullopt.
  [[nodiscard]] Result<std::optional<Position>> position_at(std::int64_t timestamp);
  /// Whether the brokers put their own time in place of the record's, so that position_at knows nothing of our time.
  [[nodiscard]] bool broker_time() const;

 private:
  struct Cursor {
    std::unique_ptr<Reader> reader;
    RecordBatch held;  ///< A record that was read, but went beyond somebody's limits.
    [[nodiscard]] Position next() const;
  };
  [[nodiscard]] Result<Cursor> take(Position from);
  void give_back(Cursor cursor);
  [[nodiscard]] Result<void> fill(Cursor& cursor, Position from, Position end, const ReadLimits& limits, RecordBatch& out);

  const Access& access_;
  LastWords& words_;
  mutable std::mutex mutex_;
  std::vector<Cursor> idle_;  // the one that was given back last at the end
  bool broker_time_ = false;
};

}  // namespace hindsight::events::kafka
