#pragma once

#include <deque>
#include <functional>

#include "events/log.hpp"
#include "events/record_batch.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events {

/// Reads records as Log::read does.
using ReadRecords = std::function<Result<void>(Position from, const ReadLimits& limits, RecordBatch& out)>;

/// The log must outlive it.
[[nodiscard]] inline ReadRecords reads_of(const Log& log) {
  return [&log](Position from, const ReadLimits& limits, RecordBatch& out) { return log.read(from, limits, out); };
}

/// Reads a log once for several who read it at about the same pace: what one has read is kept until all have gone past it. Not thread-safe.
class SharedReads {
 public:
  /// The log must outlive it.
  explicit SharedReads(const Log& log) : log_(log) {}
  SharedReads(const SharedReads&) = delete;
  SharedReads& operator=(const SharedReads&) = delete;

  /// As Log::read does; what was read before it gives again. Errors: those of Log::read.
  [[nodiscard]] Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out);
  /// It must outlive what it gives.
  [[nodiscard]] ReadRecords reader() {
    return [this](Position from, const ReadLimits& limits, RecordBatch& out) { return read(from, limits, out); };
  }
  /// Nobody asks for records before this position any more; who does all the same has them read again.
  void forget_before(Position position);

  /// Records that were read from the log, over all calls.
  [[nodiscard]] std::uint64_t read_from_log() const { return read_from_log_; }

 private:
  const Log& log_;
  std::deque<RecordBatch> kept_;  ///< In order of position, each right behind the one before or further on.
  std::uint64_t read_from_log_ = 0;
};

}  // namespace hindsight::events
