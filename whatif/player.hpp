#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/domain.hpp"
#include "events/log.hpp"
#include "events/record.hpp"
#include "replay/lookahead.hpp"
#include "replay/past.hpp"
#include "whatif/changes.hpp"
#include "whatif/course.hpp"
#include "whatif/responses.hpp"
#include "whatif/result_log.hpp"
#include "whatif/world.hpp"

namespace hindsight::whatif {

using events::Position;

/// A job, or a Workload without one, that left a domain for another one when trees of cohorts changed, and for which the model answered.
struct Departed {
  std::string subject;                               ///< Its uid.
  Time running_since;                                ///< Never: it does not run.
  std::vector<std::vector<std::byte>> observations;  ///< What there was of it, encoded; empty: nothing any more.
};

struct PlayOptions {
  Position from = 0;   ///< The state after this record is where it begins.
  Position until = 0;  ///< What is on record behind this one is not played.
  /// Without changes too, every answer of the world comes from the model: how far that is from what was says how much a forecast is worth.
  bool model_all = false;
  /// After the last record that is played it goes on until nothing is due any more, but at most for so long.
  Duration beyond;
  /// Where the records go: all of the domain up to `from`, then those that were played; null: nowhere. It must be empty.
  events::Log* out = nullptr;
  /// Of a domain that is played beside others: what is on record of them ends here, and so it is played up to here at least.
  std::optional<Time> end;
  /// Called for every record that was played, before `on_record`; an error ends the play.
  std::function<Result<void>(const events::EncodedRecord&)> on_encoded;
  /// Who tells another domain of one that goes there. Empty: it is gone.
  std::function<void(const std::string& domain, Departed)> on_departed;
  /// Called once, with the state at `from`, before anything is changed.
  std::function<void(const admission::LoopDriver&)> on_begin;
  /// Called for every record that was played, after it was applied.
  std::function<void(const RecordView&, const admission::LoopDriver&)> on_record;
  std::function<void(Position done, Position total)> progress;
  /// Asked before each record; true ends the play, with an error (unavailable). Empty: nobody ends it.
  std::function<bool()> is_over;
};

struct PlayReport {
  std::uint64_t records = 0, decisions = 0;  ///< That were played.
  std::uint64_t recorded = 0, same = 0;      ///< Of decisions on record that the world answers: all, and those that were made again.
  std::uint64_t others = 0;                  ///< Decisions of that kind that are not on record.
  std::size_t modelled = 0;                  ///< Jobs and Workloads for which the model answered, where the record ended.
  std::vector<std::string> left;             ///< Whose decisions became others, and when: the first of them.
  /// Changes on record whose object was another one by then, or in another state, and what came of each: when, what, and whether it was
  /// carried out.
  std::vector<std::string> contested;
  std::vector<std::string> notices;                                       ///< What a reader of the result should know.
  std::size_t timed = 0;                                                  ///< See World; `estimated` and `endless` are of these.
  std::set<std::string> estimated, endless, silent_checks, without_pods;  ///< See World.
  Time begin, end;
  std::uint64_t state_hash = 0;
};

/// Plays a domain of a log on from a moment, with changes.
///
/// Inputs come as recorded: arrivals, edits and deletions by users, configuration, nodes, foreign pods, and pauses without a decider.
/// Answers of the world come as recorded as long as the decisions about that object are those on record (Course); from then on the world is
/// modelled for it (World). Decisions are made anew: where the record made one, and, once anything is otherwise, whenever there is
/// something to decide.
class Player {
 public:
  Player(const events::Log& log, std::string domain, const Responses& responses, Changes changes, PlayOptions options);

  /// Errors: not_found and invalid (a change that finds nothing), corrupt, io, unsupported (the result cannot be kept), unavailable (it was
  /// ended by PlayOptions::is_over).
  [[nodiscard]] Result<PlayReport> play();

  // In steps, for whoever plays several domains as one world: `fold`, perhaps `change`, `start`, then `step` while it says true, `finish`.

  /// Brings the state to what it was at `from`. Errors: those of a fold.
  [[nodiscard]] Result<void> fold() { return past_.go_to(options_.from); }
  /// In place of the changes that it was made with.
  void change(Changes changes) { changes_ = std::move(changes); }
  /// Makes the changes. Errors: as above.
  [[nodiscard]] Result<void> start();
  /// What comes next: when, and as which record of the log; 0: it is none of these.
  struct Next {
    Time at;
    Position record = 0;
    friend auto operator<=>(const Next&, const Next&) = default;
  };
  /// Nothing: it is over.
  [[nodiscard]] std::optional<Next> next() const;
  /// Plays that; all records that it makes have that time. False: it was the last. Errors: corrupt, io, those of `on_encoded`.
  [[nodiscard]] Result<bool> step();
  /// This one comes here from another domain, and is as it was there.
  void expect(Departed departed);
  [[nodiscard]] Result<PlayReport> finish();

  [[nodiscard]] const admission::LoopDriver& driver() const { return past_.driver(); }

 private:
  struct Followed {
    Course course;
    std::optional<UserPart> user;  ///< Of its job, as the last observation on record has it.
    bool may_be_started = false;   ///< On record, since its form was seen: what is seen now may be that of its admission.
    bool stopping = false;         ///< A stop of its job was seen on record, whose end was not.
    bool deleting = false;         ///< Its job is being deleted on record, and all that belongs to it.
    std::map<std::string, UserPart, std::less<>> workloads;  ///< Of its Workloads, by uid on record.
    std::set<std::string, std::less<>> going;                ///< Of these, such as go by our decision, or whose deletion was seen.
    bool finished = false;                                   ///< On record.
    bool dropped = false;
    std::optional<Time> differing;  ///< Its place in `differing_`.
  };

  /// What comes next on record, or as the end of a part of the play.
  struct Coming {
    Time at;
    Position offset = 0;
    const RecordView* record = nullptr;
  };
  enum class Part : std::uint8_t { record, to_end, beyond, over };
  struct Due {
    Time at;
    bool says = false;    ///< The world does.
    bool leaves = false;  ///< One whose course differs does not wait any longer for the decision on record.
  };

  [[nodiscard]] Result<void> begin();
  void make_changes();
  void drop();
  void change_quotas();
  void bring_objects();
  void add_nodes();
  void look_ahead();
  [[nodiscard]] bool next_record();
  void leave_the_record();
  [[nodiscard]] Due next_due() const;
  [[nodiscard]] bool may_decide_before(Time t) const;
  [[nodiscard]] bool play_one_due_before(Time t);
  void decide_to_rest();
  bool decide_once();
  bool append_pending();
  void see(const RecordView& r);
  void see(const Observation& o, const RecordView& r);
  void see_decisions(const Decisions& d);
  [[nodiscard]] std::string subject_of(const Observation& o);
  [[nodiscard]] std::string subject_of(const Event& e) const;
  [[nodiscard]] std::string subject_of_uid(std::string_view uid) const;
  void follow(const std::string& subject, const Observation& o, const RecordView& r);
  void follow_modelled(const std::string& subject, const Observation& o);
  void follow_user(const std::string& subject, Followed& followed, const JobObserved& o);
  void follow_user(const std::string& subject, Followed& followed, const WorkloadObserved& o);
  void follow_deletion(const std::string& subject, std::string_view uid, std::string_view namespace_, std::string_view name);
  static void forget_workload(Followed& followed, std::string_view uid);
  void note_users();
  void contest(const std::string& what, Standing then, const Edited& edited);
  void contest(const std::string& text);
  void leave(const std::string& subject, bool differs = true);
  void depart(const std::string& subject, const std::string& domain);
  void take_in(const std::string& subject);
  void note_course(const std::string& subject);
  [[nodiscard]] bool is_dropped(const Observation& o) const;
  [[nodiscard]] Observation adapted(const Observation& o);
  [[nodiscard]] bool is_over();
  void append(Body body, std::uint64_t epoch, std::uint64_t cause);
  void tell(const Observation& o) { append(o, 0, 0); }
  void note_running(const RecordView& r);
  [[nodiscard]] std::uint64_t own_sequence(std::uint64_t recorded) const;

  const events::Log& log_;
  const std::string domain_;
  const Responses& responses_;
  Changes changes_;
  const PlayOptions options_;
  replay::Past past_;
  std::unique_ptr<World> world_;
  std::optional<ResultLog> result_;
  PlayReport report_;

  std::optional<replay::Lookahead> records_;
  std::set<std::uint64_t> set_aside_;         ///< Sequences.
  std::optional<Coming> coming_;              ///< Nothing: it is over.
  Part part_ = Part::record;                  ///< Of which `coming_` is.
  std::optional<std::uint64_t> decided_for_;  ///< Sequence of the record that the last decision was made behind.
  std::uint64_t looked_at_ = 0;               ///< Records.
  /// Sequences at which there was nothing to decide, and nothing to decide about the timer that is due.
  std::optional<std::uint64_t> at_rest_, in_vain_;

  /// Decided where the record decided, to be recorded where the record has its decision: observations may come between.
  std::optional<admission::Domain::Step> pending_;
  bool otherwise_ = false;               ///< Something is not as it was.
  std::optional<std::size_t> modelled_;  ///< Where the record ended; behind it the model answers for everybody.
  bool paused_ = false;                  ///< Nobody decided at that time.
  Time now_;
  std::uint64_t recorded_sequence_ = 0, recorded_epoch_ = 0;
  std::uint64_t own_epochs_ = 0;                      ///< Begun here: epochs on record come by so much later.
  std::map<std::uint64_t, std::uint64_t> sequences_;  ///< Recorded → own, where the distance changes.
  std::map<std::string, Followed, std::less<>> followed_;
  std::set<std::pair<Time, std::string>> differing_;            ///< Whose course differs, since when.
  std::map<std::string, std::string, std::less<>> belongs_to_;  ///< Uid of a Workload, pod or child → uid of what it belongs to.
  std::map<std::string, Time, std::less<>> running_since_;      ///< Jobs that run, by uid.
  std::set<std::pair<ObjectKind, std::string>> replaced_;       ///< Objects that a change brought: "namespace/name".
  std::map<std::string, Departed, std::less<>> arriving_;       ///< From other domains, by uid.
  Arena arena_;
  events::Encoder encoder_;
  events::RecordReader reader_;
  std::optional<Error> error_;
};

}  // namespace hindsight::whatif
