#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "page/server/home_thread.hpp"
#include "page/server/own_snapshots.hpp"
#include "page/server/quiet_turns.hpp"
#include "page/view.hpp"

namespace hindsight::page {

struct PastStatesOptions {
  std::size_t states_max = 4;  ///< At least 1.
  /// Of states, as far as can be estimated (state_bytes.hpp): where another one would take more, one goes. `quiet`: of all together, since
  /// whoever decides has one of his own, but a single state may take more; else of those beside the largest, which has to be there.
  std::size_t states_bytes_max = std::size_t{128} * 1024 * 1024;
  std::size_t snapshots_bytes_max = std::size_t{96} * 1024 * 1024;  ///< Of snapshots in memory.
  std::string release;                                              ///< Whose snapshots they are.
  bool quiet = false;                 ///< The states are made behind the back of somebody who decides in this process.
  std::shared_ptr<QuietTurns> turns;  ///< In which states are made and looked at; null: as they are asked for.
};

/// A domain of a log, as states are made of it.
class PastSource {
 public:
  PastSource(std::shared_ptr<const events::Log> log, std::string domain, std::shared_ptr<SnapshotMemory> memory)
      : log_(std::move(log), std::move(memory)), domain_(std::move(domain)) {}

  [[nodiscard]] const events::Log& log() const { return log_; }
  [[nodiscard]] LogWithOwnSnapshots& log_to_remember() { return log_; }
  [[nodiscard]] const std::string& domain() const { return domain_; }
  /// Whether this was the end of the log when somebody looked last.
  [[nodiscard]] bool is_present(replay::Position at) const { return at >= end_.load(std::memory_order_relaxed); }
  void see_end(replay::Position last) { end_.store(last, std::memory_order_relaxed); }

 private:
  LogWithOwnSnapshots log_;
  const std::string domain_;
  std::atomic<replay::Position> end_ = std::numeric_limits<replay::Position>::max();
};

struct PastStatesStatistics {
  std::uint64_t looks = 0;
  std::uint64_t folded = 0;  ///< Records, for those looks.
  std::uint64_t spares = 0;  ///< States that were made in advance.
  std::size_t states = 0;    ///< There are now.
  std::size_t bytes = 0;     ///< About what they take.
};

/// States at several moments for several people, a bounded number of them. Who asks for a moment gets the nearest state at or before it
/// and folds on from there: one record forward costs one record. For who goes back, a thread makes another state a little behind him, and
/// remembers a snapshot of it, so that a step back costs some thousand records and never the way from a snapshot of the log. The newest
/// state follows the log as long as anybody looks. They are this process's own: nothing that decides is locked or asked. Thread-safe.
class PastStates {
 public:
  /// A state that nobody else uses meanwhile, and the log that it is of.
  using Use = std::function<Result<Json>(const events::Log& log, const replay::Past& past)>;

  explicit PastStates(PastStatesOptions options);
  /// Nobody looks any more.
  ~PastStates();
  PastStates(const PastStates&) = delete;
  PastStates& operator=(const PastStates&) = delete;

  [[nodiscard]] std::shared_ptr<PastSource> source(std::shared_ptr<const events::Log> log, std::string domain) const;
  /// Calls `use` with the state after the record at `at`. Errors: unavailable (`is_over` said so before the state was there: what was
  /// folded is kept), and those of Past::go_to and of `use`.
  [[nodiscard]] Result<Json> look(const std::shared_ptr<PastSource>& source, replay::Position at, const std::function<bool()>& is_over,
                                  const Use& use);
  /// Lets go of its states.
  void forget(const std::shared_ptr<PastSource>& source);
  [[nodiscard]] PastStatesStatistics statistics() const;

  /// A state a little behind lies at a multiple of this, in records: what is folded in less than a tenth of a second.
  static constexpr replay::Position window = 5'000;

 private:
  using Clock = std::chrono::steady_clock;
  using Position = replay::Position;
  using SourcePtr = std::shared_ptr<PastSource>;

  using Ending = std::shared_ptr<std::binary_semaphore>;

  struct Slot {
    explicit Slot(bool quiet);
    ~Slot() { (void)let_go(); }

    /// The state, made if need be; on `home`.
    [[nodiscard]] replay::Past& state();
    /// Of the state, which ends on `home`; released when it has. Null: there is none to wait for.
    Ending let_go();

    HomeThread home;  ///< Where all is done with the state. It ends last.
    SourcePtr of;
    std::unique_ptr<replay::Past> past;  ///< Of whoever holds the slot, while it is busy. Null: it is not made yet.
    Position at = 0;                     ///< Where it stands; while it is busy, where it will.
    Clock::time_point used;
    std::size_t bytes = 0;          ///< About what it takes.
    std::uint64_t measured_at = 0;  ///< Records that it had folded then.
    bool busy = false;
    bool forgotten = false;
  };
  using Slots = std::vector<std::unique_ptr<Slot>>;

  /// A slot that is held; given back at the end.
  class Held {
   public:
    Held(PastStates& all, Slot& slot) : all_(&all), slot_(&slot) {}
    Held(Held&& other) noexcept : all_(other.all_), slot_(std::exchange(other.slot_, nullptr)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
      if (slot_ != nullptr) all_->give_back(*slot_);
    }
    [[nodiscard]] Slot& slot() const { return *slot_; }

   private:
    PastStates* all_;
    Slot* slot_;
  };

  [[nodiscard]] std::optional<Held> hold(const SourcePtr& source, Position at, const std::function<bool()>& is_over);
  [[nodiscard]] Result<bool> go_and_remember(Slot& slot, Position at, QuietTurns::Turn& turn, const std::function<bool()>& go_on) const;
  [[nodiscard]] static Result<void> begin(Slot& slot, Position at);
  [[nodiscard]] std::vector<Position> stops(const Slot& slot, Position at) const;
  [[nodiscard]] Slot* choose(const SourcePtr& source, Position at, Position snapshot);
  [[nodiscard]] Slot* to_replace(const SourcePtr& source, bool only_idle);
  void let_go_of_too_many(std::vector<Ending>& endings);
  [[nodiscard]] bool has_room(const SourcePtr& source) const;
  [[nodiscard]] std::size_t bytes_of_all() const;
  [[nodiscard]] std::size_t counted(std::size_t all, std::size_t largest) const;
  [[nodiscard]] Slot* new_slot(const SourcePtr& source);
  void take(Slot& slot, const SourcePtr& source, Position at);
  void give_back(Slot& slot);
  [[nodiscard]] bool is_newest(const Slot& slot) const;
  [[nodiscard]] bool is_redundant(const Slot& slot) const;
  [[nodiscard]] static Result<bool> go(Slot& slot, Position at, QuietTurns::Turn& turn, const std::function<bool()>& go_on);

  void work();
  void follow_logs();
  void make_spare(const SourcePtr& source, Position looked_at);
  void remember(const Slot& slot) const;

  const PastStatesOptions options_;
  const std::shared_ptr<SnapshotMemory> memory_ = std::make_shared<SnapshotMemory>(options_.snapshots_bytes_max);
  mutable std::mutex mutex_;  ///< Guards all below but what a holder has.
  std::condition_variable changed_;
  Slots slots_;
  std::optional<std::pair<SourcePtr, Position>> wish_;  ///< Where somebody looked last: a state behind it may be needed soon.
  Clock::time_point looked_;
  std::size_t waiting_ = 0;
  std::size_t largest_ = 0;  ///< About what the largest state has taken.
  PastStatesStatistics statistics_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace hindsight::page
