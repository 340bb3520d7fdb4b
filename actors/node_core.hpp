#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/log_clock.hpp"
#include "actors/node.hpp"
#include "actors/tail.hpp"
#include "actors/timekeeper.hpp"

namespace hindsight::actors {

/// Work for the sequencer that waits its turn (Node::call, Node::inspect).
struct Job {
  explicit Job(std::shared_ptr<std::atomic<std::size_t>> jobs) : open(std::move(jobs)) { ++*open; }
  ~Job() { --*open; }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::shared_ptr<std::atomic<std::size_t>> open;  ///< How many of the node's jobs are neither done nor lost.
  bool looks = false;                              ///< Changes nothing: there is nothing to decide after it that was not there before.
  bool leading = false;                            ///< Not before the node has the domain.
  std::uint64_t after = 0;                         ///< Not before so many observations have been applied.
  std::atomic<bool> done = false;                  ///< Set when it begins.
  std::function<void(admission::Entities&)> work;
};

/// What the node, its threads and its actors share. Everything in it is thread-safe or does not change.
class NodeCore {
 public:
  NodeCore(events::Log& log, NodeOptions options);
  ~NodeCore();
  NodeCore(const NodeCore&) = delete;
  NodeCore& operator=(const NodeCore&) = delete;

  events::Log& log;
  const NodeOptions options;
  const std::shared_ptr<LogClock> clock;  ///< Whose time the records get.
  const std::shared_ptr<std::atomic<std::size_t>> open_jobs = std::make_shared<std::atomic<std::size_t>>(0);
  std::atomic<std::uint64_t> claimed_epoch = 0;  ///< The newest that this node began or was about to begin.
  std::atomic<bool> mode_checked = false;        ///< The log may be used in this mode (actors/log_mode.hpp).

  /// What the sequencer is at, for who has to say where it failed: the record that it applies, or, while it decides, the newest record of
  /// an object.
  std::atomic<events::Position> at_record = 0, newest_object = 0;
  std::atomic<bool> deciding = false;
  /// "hindsight log quarantine 12 --log sqlite:log.db"
  [[nodiscard]] std::string quarantine_command(events::Position record) const;

  /// Who has the domain now; null between two lives of the sequencer.
  void set_sequencer(SequencerActor actor);
  [[nodiscard]] SequencerActor sequencer() const;

  /// The node cannot go on: remembered, told, and the end of everything. Only the first one counts.
  void give_up(Error error);
  [[nodiscard]] std::optional<Error> given_up() const;
  /// All actors have ended.
  void end();
  /// Waits until all actors have ended.
  void wait_for_end();
  [[nodiscard]] bool wait_for_end(std::chrono::milliseconds timeout);

  /// Remembers a job over the lives of the sequencer, until it is done.
  void keep(JobPtr job);
  void forget(const JobPtr& job);
  /// What was kept and not forgotten, oldest first.
  [[nodiscard]] std::vector<JobPtr> kept() const;

  void notice(const std::string& text) const;
  /// Has the log say, if the node writes it just now, that a clock was set.
  void mark(const ClockStep& step);
  /// Tells once, and has the log say, that it is ahead of the clock.
  void tell_ahead();

  /// Changes what `status` shows.
  void report(const std::function<void(NodeStatus&)>& change);
  [[nodiscard]] NodeStatus status() const;
  /// The sequencer has nothing to do after so many observations.
  void rest(std::uint64_t observations);
  void unrest();
  Result<void> wait_until_rest();

  [[nodiscard]] bool decisions_allowed() const;
  void allow_decisions();
  [[nodiscard]] bool may_claim() const;
  void allow_claim();

  /// Ends the three threads; what was not written yet is dropped.
  void end_threads();

  std::unique_ptr<Appender> appender;
  std::unique_ptr<Timekeeper> timekeeper;
  std::unique_ptr<Tail> tail;

 private:
  void send_error(const Error& error);

  std::uint64_t steps_heard_ = 0;  ///< Number of the clock's listener.
  std::atomic<bool> told_ahead_ = false;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  SequencerActor sequencer_;
  std::optional<Error> error_;
  bool ended_ = false, allowed_ = false, may_claim_ = false;
  std::vector<JobPtr> kept_;
  std::optional<std::uint64_t> rests_;  ///< After so many observations.
  NodeStatus status_;
};

}  // namespace hindsight::actors
