#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "events/log.hpp"

namespace hindsight::events {

/// An append that waits for its turn. A caller that waits keeps the records alive; one that does not hands over a batch.
struct WaitingAppend {
  RecordBatch batch;
  std::vector<EncodedRecord> views;
  std::span<const EncodedRecord> records;
  std::optional<Position> expected;
  AppendDone done;
};

/// Appends of many callers on their way to the one thread of a log that writes them, which takes all that has gathered at once (group
/// commit). Where nobody waits and nothing is being written, a caller may write himself. Thread-safe.
class AppendQueue {
 public:
  void put(WaitingAppend waiting);
  void put(RecordBatch batch, std::optional<Position> expected, AppendDone done);
  /// Puts and waits for the outcome.
  [[nodiscard]] Result<Position> put_and_wait(std::span<const EncodedRecord> records, std::optional<Position> expected);

  /// The thread has written the group before. Waits for the next one; empty: stopped, and everything that was asked for has been given
  /// out.
  [[nodiscard]] std::vector<WaitingAppend> next_group();

  /// True: the caller is the only one, and writes himself until `end_alone`. This saves two hand-overs between threads.
  [[nodiscard]] bool begin_alone();
  void end_alone();
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable queued_;
  std::deque<WaitingAppend> queue_;
  bool writing_ = false;    ///< Somebody is.
  bool group_out_ = false;  ///< And it is the thread.
  bool stopping_ = false;
};

}  // namespace hindsight::events
