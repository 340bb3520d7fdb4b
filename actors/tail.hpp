#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "events/log.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::actors {

/// Records as they were read, in order.
class RecordsRead {
 public:
  events::RecordBatch batch;
};

/// Reads what stands in the log, and goes on reading as it grows: one thread. It hands over at most `ahead` batches that were not taken
/// yet, so a slow sequencer slows the reading, not the memory. Thread-safe.
class Tail {
 public:
  struct Options {
    events::ReadLimits limits{1024, std::size_t{2} << 20};
    std::size_t ahead = 2;
  };
  using Deliver = std::function<void(std::shared_ptr<const RecordsRead>)>;
  /// The log cannot be read: corrupt or unsupported at once, other kinds after trying for a while. Reading has ended.
  using Failed = std::function<void(const Error&)>;

  Tail(const events::Log& log, Failed failed) : Tail(log, std::move(failed), Options()) {}
  Tail(const events::Log& log, Failed failed, Options options);
  ~Tail() { stop(); }

  /// From now on what stands behind `position` goes to `deliver`, nothing to the one before. Not from inside `deliver`.
  void follow(events::Position position, Deliver deliver);
  /// A batch was worked through.
  void taken();
  /// How long ago everything was taken that was in the log at that time. Grows while it cannot be read.
  [[nodiscard]] Duration behind() const;
  /// Ends the thread.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void ends_at(events::Position position);
  [[nodiscard]] bool pause_after(const Error& error, unsigned& failures, const std::stop_token& stop);

  const events::Log& log_;
  const Failed failed_;
  const Options options_;

  /// The log ended here at this time.
  struct End {
    events::Position position = 0;
    std::chrono::steady_clock::time_point seen_at;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  events::Position position_ = 0;                                                        ///< Of the last record handed over.
  std::uint64_t follows_ = 0;                                                            ///< Counts calls of follow().
  std::size_t handed_over_ = 0;                                                          ///< Batches not taken yet.
  std::deque<events::Position> last_of_batches_;                                         ///< Of these.
  std::optional<End> end_;                                                               ///< The one that is to be reached next.
  std::chrono::steady_clock::time_point reached_at_ = std::chrono::steady_clock::now();  ///< When the last one was seen that was reached.
  Deliver deliver_;
  bool delivering_ = false;  ///< A copy of it is being called.
  std::jthread thread_;
};

}  // namespace hindsight::actors
