#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "actors/node_core.hpp"
#include "actors/onlooker.hpp"
#include "actors/step_engine.hpp"
#include "events/record.hpp"

namespace hindsight::actors {

/// The sequencer of one domain: applies what is read back, decides when there is nothing to apply, and hands the decision to the appender.
///
/// It first follows the log to where it ended when it asked; then it claims the domain by an epoch of its own; when that is
/// read back it leads: only then it decides and tells intents. A connector has nothing to claim: it observes. One that stands by
/// follows on until it is told to claim. While a decision is being
/// written records may come back and be applied, but nothing is decided before the decision came back. An append that failed means to
/// follow and claim again.
class Sequencer {
 public:
  Sequencer(caf::scheduled_actor* self, std::shared_ptr<NodeCore> core);

  /// Reads the snapshot and begins to follow the log.
  void begin();
  void end_round();
  void records(RecordsPtr records);
  void append_failed(const Error& error);
  void add(JobPtr job);
  /// The log may be within reach again, or the domain may be claimed now.
  void look_again();
  void drain();

 private:
  /// A connector goes from following to observing, all others to claiming and leading, some by way of standing by.
  enum class Phase : std::uint8_t { following, observing, standing_by, claiming, leading, ended };

  void go_on();
  [[nodiscard]] bool do_job();
  [[nodiscard]] bool next_record();
  void record_applied();
  void batch_applied();
  [[nodiscard]] bool ask();
  void answered();
  [[nodiscard]] bool may_decide() const { return phase_ == Phase::leading && core_->decisions_allowed(); }
  /// Of a node that only looks on, in place of asking. Nothing is under way afterwards.
  void look_on();
  void look(bool unpaced);
  void look_before(const RecordView& record);
  [[nodiscard]] Time next_due();
  [[nodiscard]] Result<void> check_mode();
  void at_rest();
  void follow_to_the_end();
  void find_the_end();
  void caught_up();
  [[nodiscard]] Time time_of_log();
  void observe();
  void stand_by();
  void claim();
  void epoch_began(const Envelope& envelope, const EpochStarted& started);
  /// Work that changes the world may be done.
  [[nodiscard]] bool acts() const { return phase_ == Phase::leading || phase_ == Phase::observing; }
  void tell_intents();
  void measure(const admission::Domain::Step& step);
  void tell_circles(const admission::Domain::Step& step);
  /// Calls who looks on; what they throw is their own matter.
  void tell(const char* what, const std::function<void()>& call);
  void tell_that_it_waits(const std::string& why);
  void append_succeeded();
  void give_up(Error error);
  void finish();
  [[nodiscard]] Result<void> apply(const RecordView& record);
  [[nodiscard]] admission::Domain& domain() { return engine_->entities().domain(); }

  caf::scheduled_actor* self_;
  std::shared_ptr<NodeCore> core_;
  std::unique_ptr<StepEngine> engine_;

  Phase phase_ = Phase::following;
  bool draining_ = false;
  bool told_all_ = false;                   ///< What the whole state wants was told since this node has the domain.
  events::Position position_ = 0;           ///< Of the last applied record.
  std::optional<events::Position> target_;  ///< Following: where the log ended; nothing: it cannot be reached now.
  std::uint64_t own_epoch_ = 0;             ///< Claimed or had.
  unsigned failures_ = 0;                   ///< Appends in a row that failed.
  bool told_that_it_waits_ = false;         ///< For the log, since an append succeeded last.
  std::chrono::milliseconds pause_{0};      ///< Before the next claim.

  std::deque<RecordsPtr> batches_;
  std::size_t next_in_batch_ = 0;
  /// The memory of the record that is being applied.
  struct Reading {
    RecordsPtr records;
    events::RecordReader reader;
  };
  std::shared_ptr<Reading> reading_ = std::make_shared<Reading>();
  const RecordView* applying_ = nullptr;            ///< The record whose step is under way.
  events::StoredRecord stored_;                     ///< The same as it stands in the log.
  bool asking_ = false;                             ///< A question is under way,
  std::chrono::steady_clock::time_point asked_at_;  ///< since then.
  bool nothing_to_decide_ = false;                  ///< Since the last record.
  std::optional<std::uint64_t> in_flight_;          ///< Base of the decision that was not read back yet.
  std::unique_ptr<Onlooker> onlooker_;              ///< Of a node that decides nothing; else null.
  bool look_comes_ = false;                         ///< It comes back for its next look.
  std::deque<JobPtr> jobs_;
  std::set<std::string> told_circles_;  ///< Uids of jobs and Workloads of which it was said that they only repeat themselves.
};

SequencerActor::behavior_type sequencer_actor(SequencerActor::stateful_pointer<std::unique_ptr<Sequencer>> self,
                                              std::shared_ptr<NodeCore> core);

}  // namespace hindsight::actors
