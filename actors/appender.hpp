#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "actors/clock.hpp"
#include "admission/domain/domain.hpp"
#include "events/log.hpp"
#include "events/record.hpp"

namespace hindsight::actors {

/// What the giver of observations should do next.
enum class Credit {
  more,     ///< Go on.
  pause,    ///< It was taken, but enough is under way: wait for `resume` (NodeOptions) or with `wait_for_credit`.
  stopped,  ///< It was not taken: the node does not run (any more).
};

/// Puts records into the log: one thread, which appends in one go whatever has gathered while it was appending before (group commit).
/// Observations that no decision waits for gather for a while: thousands of pods that leave their gates one after another would
/// else cost as many syncs of the disk, which the API server's own store often shares.
///
/// It is closed until the sequencer has folded the log to its end and opens it with a new epoch; what comes earlier waits. When
/// an append fails it closes itself: then nobody knows what is in the log. Decisions are dropped, for they must not be written blindly
/// again; observations stay, for a repeated one changes nothing (design rule 4). Thread-safe.
class Appender {
 public:
  struct Options {
    std::string domain;
    bool shared = false;                            ///< Others write too: readers number the records (vocabulary/record_order.hpp).
    std::size_t records_max = 4096;                 ///< Credit: more than so many records taken and not applied: pause.
    std::size_t bytes_max = std::size_t{32} << 20;  ///< The same in bytes.
    std::chrono::milliseconds patience{50};         ///< So long at most an observation waits for others that can wait.
    std::function<void()> resume;                   ///< There is credit again after `pause`. Must not block.
    std::function<void(const Error&)> lost;         ///< It has closed itself. Must not block.
  };

  Appender(events::Log& log, const Clock& clock, Options options);
  ~Appender() { stop(); }

  // ---- anybody ----------------------------------------------------------------------------------------------------------------

  /// Takes observations, encoded at once: the views may end with the call. Their time is now.
  [[nodiscard]] Credit observe(std::span<const Observation> observations);
  /// True: there is credit. False: time is over, or nothing is taken any more.
  [[nodiscard]] bool wait_for_credit(std::chrono::milliseconds timeout);
  struct Load {
    std::uint64_t taken = 0;    ///< Observations ever taken.
    std::uint64_t applied = 0;  ///< Those of them that came back and were applied.
    std::size_t records = 0;    ///< Under way: taken, but not applied.
    std::size_t bytes = 0;
    bool open = false;
  };
  [[nodiscard]] Load load() const;

  // ---- the sequencer ------------------------------------------------------------------------------------------------------------

  /// The log's end, as the domain knows it.
  struct End {
    std::uint64_t sequence = 0;
    events::Position position = 0;
    Time time;  ///< No record gets an earlier one, whatever the clock says.
  };
  /// Begins an epoch: EpochStarted goes first, then what has waited. `pause`: not before so much time has passed (after failures).
  void open(const End& end, std::uint64_t epoch, const EpochStarted& started, std::chrono::milliseconds pause);
  /// For observations alone, which need no epoch in a shared log.
  void open(const End& end, std::chrono::milliseconds pause);
  /// One step, decided in the epoch that it was opened with. False: it is closed; the step is lost.
  [[nodiscard]] bool decide(const admission::Domain::Step& step);
  /// What would be decided; lost likewise.
  [[nodiscard]] bool note(const DecisionsNoted& note);
  /// This record, and with it everything before, was read back and applied.
  void applied(events::StoredRecord record);
  /// Closes, drops decisions, and waits for the append that is under way.
  void close();
  /// Nothing is taken any more; what was taken is written on.
  void refuse();
  /// Drops what has not been written and ends the thread.
  void stop();

 private:
  enum class Kind : std::uint8_t { observation, decision, epoch };

  struct Queue {
    events::RecordBatch records;
    std::vector<Kind> kinds;         ///< Parallel to `records`, as the next.
    std::uint64_t first_serial = 0;  ///< The others count on from it.
    void clear() {
      records.clear();
      kinds.clear();
    }
  };
  /// Serials are sequences, where this is the only writer; else they only count our own records.
  struct Written {
    std::uint64_t serial = 0;
    std::size_t bytes = 0;
    std::uint64_t checksum = 0;
    Kind kind = Kind::observation;
  };

  void run(const std::stop_token& stop);
  std::size_t put(Queue& queue, Kind kind, const Body& body, std::uint64_t cause, Time time);
  std::size_t put_again(Queue& queue, const events::StoredRecord& record);
  void begin(const End& end, std::uint64_t epoch, const EpochStarted* started, std::chrono::milliseconds pause);
  [[nodiscard]] bool put_own(const Body& body, std::uint64_t base);
  void came_back(const Written& written);
  void keep_observations(Queue& from, Queue& to);
  void write(std::unique_lock<std::mutex>& lock);
  void give_up_writing();
  void give_credit(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool has_credit() const { return in_flight_records_ <= options_.records_max && in_flight_bytes_ <= options_.bytes_max; }

  events::Log& log_;
  const Clock& clock_;
  const Options options_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;    ///< The thread: there is something to write.
  std::condition_variable credit_;  ///< Givers that block.
  std::condition_variable idle_;    ///< close(): the append has ended.
  bool open_ = false, appending_ = false, refusing_ = false, paused_ = false;
  std::chrono::steady_clock::time_point not_before_;
  std::optional<std::chrono::steady_clock::time_point> write_by_;  ///< What is in the queue; nothing: at once.
  std::uint64_t next_serial_ = 1, epoch_ = 0;
  events::Position position_ = 0;
  Time latest_;  ///< Of all records so far.
  Queue queue_, writing_;
  std::deque<Written> written_;  ///< In the log, or on the way there; not applied yet.
  std::uint64_t certain_ = 0;    ///< Own records up to this serial are in the log.
  std::uint64_t came_back_ = 0;  ///< Of the append under way: up to this serial they are in the log, whatever `append` will say.
  std::size_t in_flight_records_ = 0, in_flight_bytes_ = 0;
  std::uint64_t taken_ = 0, applied_ = 0;
  events::Encoder encoder_;
  events::RecordReader reader_;
  std::jthread thread_;
};

}  // namespace hindsight::actors
