#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "actors/actor_driver.hpp"
#include "events/log.hpp"
#include "events/record.hpp"
#include "replay/snapshots.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

struct RunnerOptions {
  std::string domain = "default";
  std::string release = "dev";
  std::string writer = "hindsight";                 ///< Host and process, for EpochStarted.
  std::function<Time()> clock;                      ///< Wall clock, or a virtual one.
  /// What the state wants of the world; called on the runner's thread after the decision was read back (rule 1). Must not block.
  std::function<void(std::vector<admission::Intent>)> on_intents;
  /// Every record after it was applied, on the runner's thread.
  std::function<void(const RecordView&)> on_record;
  std::function<void(const std::string&)> on_notice;
  std::size_t inbox_max = 4096;                     ///< Observations that wait; `observe` blocks beyond.
  bool decide_from_start = true;                    ///< Else only after `allow_decisions`.
  replay::SnapshotPolicy snapshots;
};

/// Runs one domain over a log: takes observations in, appends them, applies what was read back, decides, appends the decision, applies that. The
/// entities run as actors; the thread of this class is the only one that appends.
///
/// When an append fails and it is open whether it is in the log, a new epoch begins: read up to the end, decide again (rule 4).
/// When an entity fails, the domain is built again from snapshot and log, a few times; then the runner stops with an error.
class DomainRunner {
 public:
  DomainRunner(events::Log& log, RunnerOptions options);
  ~DomainRunner();

  /// Folds the log (from the newest snapshot), begins an epoch, starts the thread.
  [[nodiscard]] Result<void> start();
  /// Finishes what is under way and ends the thread; within seconds.
  void stop();

  /// From any thread but the runner's own; blocks while the inbox is full. False: the runner has stopped.
  bool observe(const Observation& o);
  /// Runs `work` on the runner's thread after all that was observed before has been applied. Does not wait.
  void call(std::function<void(admission::Entities&)> work);
  void allow_decisions();
  /// Time has moved (virtual clocks).
  void poke();

  struct Status {
    std::uint64_t position = 0, epoch = 0, decisions = 0, restarts = 0;
    std::size_t inbox = 0;
    bool caught_up = false, synced = false, at_rest = false;
    Time next_due;
    std::string error;   ///< Why it stopped; empty: it runs.
  };
  [[nodiscard]] Status status() const;
  /// Waits until nothing is left to take in or to decide, or the runner has stopped.
  void wait_until_rest();

 private:
  using Call = std::function<void(admission::Entities&)>;
  using Item = std::variant<std::vector<std::byte>, Call>;

  void run(std::stop_token stop);
  [[nodiscard]] Result<void> rebuild();
  [[nodiscard]] Result<void> begin_epoch();
  [[nodiscard]] Result<void> work_off(std::deque<Item> items);
  [[nodiscard]] Result<bool> decide_once();
  [[nodiscard]] Result<void> append(const std::vector<std::vector<std::byte>>& records);
  [[nodiscard]] Result<void> read_back();
  [[nodiscard]] std::vector<std::byte> encode(const Body& body, std::uint64_t sequence, std::uint64_t cause);
  [[nodiscard]] Result<void> recover(const Error& error, unsigned& failures, std::stop_token& stop);
  void take_intents();
  void snapshot_if_due();
  void publish(bool at_rest);
  [[nodiscard]] Time now() const;

  events::Log& log_;
  RunnerOptions options_;
  std::unique_ptr<actors::ActorDriver> driver_;
  events::Encoder encoder_;
  events::RecordReader reader_;
  replay::SnapshotWriter snapshots_;
  events::Position position_ = 0;      ///< Of the last applied record.
  std::uint64_t sequence_ = 0, epoch_ = 0, decisions_ = 0;
  Time last_time_;
  Time stamp_;                         ///< Of the records that are being written.
  bool synced_ = false;
  Time next_due_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;    ///< Inbox, clock, stop.
  std::condition_variable room_;
  std::condition_variable rested_;
  std::deque<Item> inbox_;
  bool poked_ = false, stopped_ = false, may_decide_ = true;
  std::uint64_t work_asked_ = 0, work_done_ = 0;   ///< For wait_until_rest.
  Status status_;
  std::jthread thread_;
};

}  // namespace hindsight::cli
