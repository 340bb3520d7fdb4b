#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/appender.hpp"
#include "actors/attempt_times.hpp"
#include "actors/day_clock.hpp"
#include "admission/domain/entities.hpp"
#include "admission/model/intents.hpp"
#include "events/log.hpp"

namespace hindsight::actors {

/// What a node does for its domain. All but `whole` share the log with others, and readers number the records.
enum class Role : std::uint8_t {
  whole,      ///< Everything; the only writer of the domain.
  connector,  ///< Takes observations and tells intents, follows the decisions of others and makes none.
  decider,    ///< Decides in epochs of its own, once a connector has seen the whole world; observes nothing but the time.
};

struct NodeOptions {
  std::string domain = "default";
  Role role = Role::whole;
  std::string writer = "hindsight";  ///< Host and process, for EpochStarted.
  /// Another controller decides. This node follows what that one makes of the world, notes what it would decide itself (DecisionsNoted),
  /// and tells no intents. For role `whole` only.
  bool observes = false;
  /// A node that observes may look without a pause, before it applies what the other controller decided, as often at once as takes so long,
  /// and a fifth of the time over longer (actors/onlooker.hpp). Zero: never.
  std::chrono::steady_clock::duration unpaced_looks_max = std::chrono::seconds(2);
  /// The log may be one that a node wrote which decided, where this one observes, or the other way round.
  bool switches_mode = false;
  std::string release = "dev";
  admission::Domain::SettingsReader settings_reader;
  std::shared_ptr<Clock> clock = std::make_shared<DayClock>();

  // ---- what happens, told on the sequencer's thread; must not block, must not call functions of the node that wait -----------------

  /// What the state wants of the world: of the whole state when the node may decide first in an epoch, then of what has changed. Only
  /// after the records that it follows from were read back, and only while this node has the domain (design rules 1 and 4).
  std::function<void(std::vector<admission::Intent>)> on_intents;
  /// Every record after it was applied, also while the log is folded at the start.
  std::function<void(const RecordView&, events::Position)> on_record;
  /// Between two records, after a batch of them was applied: the place to take snapshots.
  std::function<void(const admission::Entities&, events::Position, Time)> on_batch;
  /// The node has the domain: its epoch was read back, and `position` is where. Again after each epoch that it has to begin anew. Never of
  /// a connector.
  std::function<void(std::uint64_t epoch, events::Position position)> on_lead;
  /// There is credit again after Credit::pause. Any thread.
  std::function<void()> on_credit;
  /// Something that an operator should read (a restart, an append that failed). Any thread.
  std::function<void(const std::string&)> on_notice;
  /// The node has stopped by itself; `Node::wait` gives the same. Any thread.
  std::function<void(const Error&)> on_failure;

  // ---- snapshots ------------------------------------------------------------------------------------------------------------------

  /// Fills fresh entities from a snapshot and returns its position; 0: there is none, fold from the beginning. After an error it is asked
  /// again with new entities and the next number (0, 1, ...), to offer an older one; after not_found there is nothing that the domain
  /// could be folded from, and the node ends with that error.
  std::function<Result<events::Position>(admission::Entities&, unsigned attempt)> restore;

  // ---- limits -----------------------------------------------------------------------------------------------------------------------

  std::size_t credit_records = 4096;  ///< Observations under way before `observe` says pause.
  std::size_t credit_bytes = std::size_t{32} << 20;
  std::size_t shells_max = 10'000;   ///< Workload parents with an actor at the same time.
  std::size_t inline_receivers = 4;  ///< Rounds with so few receivers need no actors.
  std::size_t threads = 0;           ///< 0: one a core.
  unsigned restarts_max = 5;         ///< Of the domain within `restart_window`, then the node stops.
  std::chrono::seconds restart_window{60};
  /// In a row, with pauses that grow to a second; then the node stops. A log that is out of reach is waited for.
  unsigned append_failures_max = 30;
  std::chrono::milliseconds stop_timeout{5000};
  bool decide_from_start = true;  ///< Else neither decisions nor intents before `allow_decisions`.
  bool claim_from_start = true;   ///< Else it stands by, following the decisions of another, before `claim`. Nothing to a connector.

  /// The command that sets aside the record at a position of the log of this name, as whoever runs this node would type it: for the
  /// message with which the node gives up because of a record.
  std::function<std::string(std::string_view log, events::Position)> quarantine_command;

  /// For tests of supervision: sees each message before its entity; what it throws counts as thrown by the entity.
  std::function<void(const admission::Message&)> hook;
};

struct NodeStatus {
  events::Position position = 0;  ///< Of the last applied record in the log.
  std::uint64_t sequence = 0, epoch = 0;
  bool caught_up = false;    ///< It has the domain: its own epoch was read back. A connector: it has read what was in the log.
  bool standing_by = false;  ///< It has read what was in the log and goes on reading; another node has the domain.
  bool synced = false;
  bool at_rest = false;         ///< Nothing is under way and nothing left to decide.
  std::uint64_t decisions = 0;  ///< Steps decided and read back by this node.
  std::uint64_t stale_decisions = 0;
  std::uint64_t notes = 0;  ///< Records of what would be decided, read back by this node.
  std::uint64_t looks = 0;  ///< How often it found out what would be decided.
  /// How often a job or Workload would have decided what it had decided before, with nothing having happened to it since. Nothing of that
  /// is recorded.
  std::uint64_t repeated_steps = 0;
  std::uint64_t restarts = 0;      ///< Of the domain, after an entity failed.
  std::uint64_t epochs_begun = 0;  ///< By this node: more than one with restarts and failed appends.
  std::uint64_t observations = 0;  ///< Taken so far.
  std::size_t in_flight_records = 0, in_flight_bytes = 0;
  std::size_t shells = 0;
  std::uint64_t rounds = 0;
  Time next_due;
  AttemptTimes attempts;      ///< Of the cycles that this node recorded.
  Duration behind;            ///< How long ago it had last applied all that was in the log.
  Duration ahead;             ///< The log's time less that of the clock; negative: behind it (actors/log_clock.hpp).
  std::string waits_for_log;  ///< Why the log takes no records just now: it is full, or out of reach; empty: it does.
  std::string error;          ///< Why it stopped by itself; empty: it runs, or was stopped.
};

/// Runs one domain over a log: takes observations, appends them, applies what is read back, decides, appends the decision, applies that.
///
/// Life cycle: `start` folds the log and takes the domain with a new epoch in the background (`NodeStatus::caught_up`); `stop` finishes
/// what is under way. An entity that throws takes the domain down, and it is built anew from snapshot and log; after too many times the
/// node stops with an error. A log that fails leads to a new epoch. All functions may be called from any thread that is not inside a
/// callback of the options; `observe`, `call`, `status` from callbacks too.
class Node {
 public:
  /// The log must outlive the node. Errors: invalid (options).
  [[nodiscard]] static Result<std::unique_ptr<Node>> start(events::Log& log, NodeOptions options);
  /// Stops.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // ---- observations -----------------------------------------------------------------------------------------------------------------

  /// Takes observations; the views may end with the call. Never blocks; see Credit for what to do next.
  [[nodiscard]] Credit observe(std::span<const Observation> observations);
  /// Takes one and waits for credit first. False: the node has stopped.
  bool observe_and_wait(const Observation& observation);
  /// True: there is credit. False: time is over, or the node has stopped.
  [[nodiscard]] bool wait_for_credit(std::chrono::milliseconds timeout);

  // ---- control ----------------------------------------------------------------------------------------------------------------------

  void allow_decisions();
  /// Takes the domain with a new epoch, for a node that stands by. From then on it is as any other; a second call changes nothing.
  void claim();
  /// Finishes what is under way and ends all threads. Errors: unavailable (something did not end in time), or why the node had stopped
  /// by itself before.
  Result<void> stop();
  /// Waits until the node has stopped. Error: it stopped by itself.
  Result<void> wait();
  /// Waits until all observations are applied, everything is decided, and no timer is due. Errors: the node has stopped.
  Result<void> wait_until_rest();
  /// For a virtual clock: moves it from one due time to the next up to `t`, at rest each time.
  Result<void> advance_to(VirtualClock& clock, Time t);

  // ---- reading ----------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] NodeStatus status() const;
  /// Calls `look` between two records and waits for it, also while the log is being folded. Errors: unavailable (the node has stopped).
  Result<void> inspect(std::function<void(const admission::StateView&)> look);
  [[nodiscard]] Result<std::uint64_t> state_hash();
  /// Does `work` between two records, once the node has the domain and all observations that were taken before have been applied. Does
  /// not wait. Work that the end of the node comes before is lost.
  void call(std::function<void(admission::Entities&)> work);

 private:
  class Impl;
  explicit Node(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight::actors
