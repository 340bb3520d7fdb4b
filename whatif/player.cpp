#include "whatif/player.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/rules.hpp"
#include "admission/workload/workload_parent.hpp"
#include "replay/scan.hpp"
#include "vocabulary/record_order.hpp"
#include "whatif/object_key.hpp"
#include "whatif/subject.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

/// Once anything is otherwise, what there is to decide is decided before time goes on by more than this: the record decided as soon.
constexpr Duration deciding_within = Duration::millis(100);
/// Of decisions at one moment; more mean that the state does not come to rest.
constexpr int steps_max = 1'000'000;
constexpr std::size_t left_max = 1'000;

bool is_of_a_job(ObjectKind kind) { return kind == ObjectKind::job || kind == ObjectKind::workload || kind == ObjectKind::pod; }

}  // namespace

Player::Player(const events::Log& log, std::string domain, const Responses& responses, Changes changes, PlayOptions options)
    : log_(log),
      domain_(std::move(domain)),
      responses_(responses),
      changes_(std::move(changes)),
      options_(std::move(options)),
      past_(log, domain_) {}

Result<PlayReport> Player::play() {
  if (auto ok = fold(); !ok) return tl::unexpected(ok.error());
  if (auto ok = start(); !ok) return tl::unexpected(ok.error());
  for (;;) {
    const auto more = step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return finish();
  }
}

Result<void> Player::start() {
  if (auto ok = begin(); !ok) return ok;
  make_changes();
  if (!error_) look_ahead();
  if (error_) return tl::unexpected(*error_);
  return {};
}

Result<void> Player::begin() {
  for (const auto& q : changes_.quotas)
    if (auto ok = check(q, past_.driver()); !ok) return ok;
  if (auto ok = check(changes_.nodes, changes_.observations, past_.driver()); !ok) return ok;
  if (options_.out != nullptr) {
    result_.emplace(*options_.out);
    if (auto ok = result_->copy(log_, std::span(&domain_, 1), options_.from); !ok) return ok;
  }
  Domain& domain = past_.driver().entities().domain();
  domain.pass_over({});  // these are numbers of the record; from here on records have others
  now_ = report_.begin = domain.now();
  recorded_sequence_ = domain.sequence();
  recorded_epoch_ = domain.epoch();
  const auto quarantined = log_.quarantined();
  if (!quarantined) return tl::unexpected(quarantined.error());
  for (const auto& q : *quarantined)
    if (q.domain == domain_) set_aside_.insert(q.sequence);
  records_.emplace(log_, domain_, options_.from, recorded_sequence_, recorded_epoch_, domain.context().decided_base, set_aside_);
  world_ = std::make_unique<World>(past_.driver(), responses_, [this](const Observation& o) { tell(o); });
  otherwise_ = !changes_.empty() || options_.model_all;
  note_users();
  past_.driver().forget_touched();
  if (options_.on_begin) options_.on_begin(past_.driver());
  return {};
}

Result<PlayReport> Player::finish() {
  if (result_)
    if (auto ok = result_->flush(); !ok) return tl::unexpected(ok.error());
  report_.end = now_;
  report_.modelled = modelled_.value_or(world_->size());
  report_.timed = world_->timed();
  report_.estimated = world_->estimated();
  report_.endless = world_->endless();
  report_.silent_checks = world_->silent_checks();
  report_.without_pods = world_->without_pods();
  report_.state_hash = past_.driver().state_hash();
  return report_;
}

// ---- records that it makes ------------------------------------------------------------------------------------------------------

/// It was asked to end, now or before; then there is an error.
bool Player::is_over() {
  if (!error_ && options_.is_over && options_.is_over()) error_ = Error{ErrorKind::unavailable, "the play was ended before its end"};
  return error_.has_value();
}

void Player::append(Body body, std::uint64_t epoch, std::uint64_t cause) {
  if (is_over()) return;
  LoopDriver& driver = past_.driver();
  RecordView r;
  r.envelope = {domain_, driver.domain().sequence() + 1, epoch != 0 ? epoch + own_epochs_ : driver.domain().epoch(), now_, cause};
  r.body = std::move(body);
  // What was made here lives in arenas that may be used again while it is applied: it is read back as everybody else would.
  const auto encoded = encoder_.encode(r);
  const std::vector<std::byte> bytes(encoded.begin(), encoded.end());
  events::RecordReader reader;
  const auto read = reader.read(bytes);
  if (!read) {
    error_ = read.error();
    return;
  }
  if (auto ok = replay::apply_record(driver, **read); !ok) {
    error_ = ok.error();
    return;
  }
  ++report_.records;
  const events::EncodedRecord made{domain_, r.envelope.sequence, r.envelope.epoch, now_, bytes};
  if (result_)
    if (auto ok = result_->add(made); !ok) error_ = ok.error();
  if (options_.on_encoded)
    if (auto ok = options_.on_encoded(made); !ok) error_ = ok.error();
  note_running(**read);
  if (const auto* d = std::get_if<Decisions>(&(*read)->body)) {
    ++report_.decisions;
    for (const Event& e : d->events) {
      const auto essence = essence_of(e);
      const std::string subject = essence ? subject_of(e) : std::string();
      if (subject.empty() || world_->answers_for(subject)) continue;
      if (followed_[subject].course.decided(*essence, now_))
        ++report_.same;
      else
        ++report_.others;
      note_course(subject);
    }
  }
  each_touched(driver, [&](const std::string& subject) {
    if (world_->answers_for(subject)) world_->look_at(subject);
  });
  if (options_.on_record) options_.on_record(**read, driver);
}

void Player::note_running(const RecordView& r) {
  const auto* o = std::get_if<Observation>(&r.body);
  const auto* job = o == nullptr ? nullptr : std::get_if<JobObserved>(o);
  if (job == nullptr) return;
  if (job->suspended || job->finished)
    running_since_.erase(std::string(job->meta.uid));
  else
    running_since_.emplace(std::string(job->meta.uid), now_);
}

bool Player::append_pending() {
  if (!pending_) return false;
  const auto step = std::exchange(pending_, std::nullopt);
  append(Decisions{step->base, step->kind, step->events}, 0, step->base);
  return !error_;
}

bool Player::decide_once() {
  if (append_pending()) return true;
  const auto step = past_.driver().decide();
  if (!step) return false;
  append(Decisions{step->base, step->kind, step->events}, 0, step->base);
  return !error_;
}

void Player::decide_to_rest() {
  if (paused_) return;
  for (int steps = 0; steps < steps_max && decide_once(); ++steps) {}
}

// ---- the record -------------------------------------------------------------------------------------------------------------------

/// Goes on to what comes next; nothing, when all was played.
void Player::look_ahead() {
  coming_.reset();
  if (part_ == Part::record) {
    if (next_record()) return;
    if (error_) return;
    part_ = Part::to_end;
    paused_ = false;
    if (options_.end && now_ < *options_.end) {
      coming_ = Coming{*options_.end};
      return;
    }
  }
  if (part_ == Part::to_end) {
    part_ = Part::beyond;
    if (options_.beyond.micros > 0) {
      leave_the_record();
      coming_ = Coming{std::max(now_, options_.end.value_or(now_)) + options_.beyond};
      return;
    }
  } else if (part_ == Part::beyond) {
    decide_to_rest();
  }
  part_ = Part::over;
}

/// Reads the next record that counts. Where it stands decides when a decision is made: behind the record that the next one on record is
/// based on.
bool Player::next_record() {
  for (; !error_; ++looked_at_) {
    if (options_.progress && looked_at_ % 1024 == 0) options_.progress(records_->read_to() - options_.from, options_.until - options_.from);
    if (const auto decision = records_->next_decision();
        decision && decision->base == recorded_sequence_ && decided_for_ != decision->base && decision->offset <= options_.until) {
      decided_for_ = decision->base;
      paused_ = false;
      (void)append_pending();
      pending_ = past_.driver().decide();
    }
    const auto stored = records_->next();
    if (!stored || stored->offset > options_.until) break;
    if (record_order(recorded_sequence_, recorded_epoch_, stored->sequence, stored->epoch) == RecordOrder::passed_over) continue;
    ++recorded_sequence_;
    recorded_epoch_ = std::max(recorded_epoch_, stored->epoch);
    if (set_aside_.contains(recorded_sequence_)) continue;
    const auto record = reader_.read(stored->bytes);
    if (!record) {
      error_ = replay::at_record(log_, stored->offset, record.error()).value();
      return false;
    }
    paused_ = std::holds_alternative<EpochStarted>((*record)->body);  // nobody decided between the record before it and this one
    coming_ = Coming{stored->time, stored->offset, *record};
    ++looked_at_;
    return true;
  }
  if (error_) return false;
  if (records_->error() && records_->read_to() < options_.until) {
    error_ = *records_->error();
    return false;
  }
  if (options_.progress) options_.progress(options_.until - options_.from, options_.until - options_.from);
  return false;
}

/// Nothing on record follows: from here on the model answers for everybody.
void Player::leave_the_record() {
  otherwise_ = true;
  modelled_ = world_->size();
  std::vector<std::string> rest;
  for (std::uint32_t i = 0; i < past_.driver().domain().parent_count(); ++i) {
    const auto* parent = past_.driver().parent(i);
    if (parent == nullptr || parent->empty()) continue;
    const std::string subject(whatif::subject_of(*parent));
    if (!subject.empty() && !belongs_to_.contains(subject) && !world_->answers_for(subject)) rest.push_back(subject);
  }
  for (const auto& subject : rest) leave(subject, false);
}

Player::Due Player::next_due() const {
  const bool vain = in_vain_ == past_.driver().domain().sequence();
  const Time timer = otherwise_ && !vain ? past_.driver().domain().next_due() : Time::never();
  Due due{world_->next_due()};
  due.says = due.at.is_set() && (!timer.is_set() || due.at <= timer);
  if (!due.says) due.at = timer;
  if (differing_.empty() || !otherwise_ || paused_) return due;
  // Nobody's recorded answers wait for a decision that does not come.
  const Time patient_until = differing_.begin()->first + Course::patience;
  due.leaves = !due.at.is_set() || patient_until < due.at;
  if (due.leaves) due.at = std::max(now_, patient_until);
  return due;
}

/// Whether there is time before `t` for decisions that were not looked for yet.
bool Player::may_decide_before(Time t) const {
  return otherwise_ && !paused_ && t - now_ > deciding_within && (pending_ || at_rest_ != past_.driver().domain().sequence());
}

std::optional<Player::Next> Player::next() const {
  if (!coming_) return std::nullopt;
  const Due due = next_due();
  const bool before = due.at.is_set() && due.at < coming_->at;
  const Time at = before ? due.at : coming_->at;
  if (may_decide_before(at)) return Next{now_};
  return Next{std::max(now_, at), before ? 0 : coming_->offset};
}

Result<bool> Player::step() {
  if (!error_ && coming_ && !play_one_due_before(coming_->at) && !error_) {
    const Coming reached = *coming_;
    paused_ = false;
    if (reached.record != nullptr) {
      now_ = std::max(now_, reached.at);
      see(*reached.record);
      if (const std::uint64_t own = past_.driver().domain().sequence(); own != own_sequence(recorded_sequence_))
        sequences_[recorded_sequence_] = own;
    }
    if (!error_) look_ahead();
  }
  if (error_) return tl::unexpected(*error_);
  return coming_.has_value();
}

/// One thing that the model says, a timer, or decisions for which there is time before `t`. False: there is nothing more, or an error.
bool Player::play_one_due_before(Time t) {
  const Due due = next_due();
  const bool before = due.at.is_set() && due.at < t;
  if (may_decide_before(before ? due.at : t)) {
    decide_to_rest();
    at_rest_ = past_.driver().domain().sequence();
    return !error_;  // other things may be due now
  }
  if (!before) return false;
  now_ = std::max(now_, due.at);
  if (due.leaves) {
    const std::string subject = differing_.begin()->second;
    differing_.erase(differing_.begin());
    if (past_.driver().domain().find_parent(subject)) leave(subject);
    return !error_;
  }
  if (due.says) {
    world_->say_next();
    return !error_;
  }
  tell(Observation{TimerFired{}});
  if (past_.driver().domain().next_due() != due.at) return !error_;
  // It is decided about, not taken away by being told.
  const auto sequence = past_.driver().domain().sequence();
  decide_to_rest();
  if (past_.driver().domain().sequence() == sequence) in_vain_ = sequence;
  return !error_;
}

std::uint64_t Player::own_sequence(std::uint64_t recorded) const {
  const auto it = sequences_.upper_bound(recorded);
  if (it == sequences_.begin()) return recorded;
  const auto& [at, own] = *std::prev(it);
  return own + (recorded - at);
}

void Player::see(const RecordView& r) {
  if (const auto* d = std::get_if<Decisions>(&r.body)) {
    (void)append_pending();
    see_decisions(*d);
  } else if (const auto* o = std::get_if<Observation>(&r.body)) {
    see(*o, r);
  } else if (const auto* started = std::get_if<EpochStarted>(&r.body)) {
    EpochStarted epoch = *started;
    if (changes_.current_rules) epoch.rules = rules_version;
    append(epoch, r.envelope.epoch, 0);
  }
}

void Player::see_decisions(const Decisions& d) {
  for (const Event& e : d.events) {
    if (const auto* off = std::get_if<WorkloadDeactivated>(&e)) {  // by us: no user's edit when it is seen
      auto& workloads = followed_[subject_of(e)].workloads;
      if (const auto it = workloads.find(off->workload.uid); it != workloads.end()) it->second.active = false;
    }
    if (const auto* removed = std::get_if<WorkloadRemoved>(&e)) followed_[subject_of(e)].going.emplace(removed->workload.uid);
    const auto essence = essence_of(e);
    if (!essence) continue;
    ++report_.recorded;
    const std::string subject = subject_of(e);
    if (std::holds_alternative<QuotaReserved>(e) && !subject.empty()) followed_[subject].may_be_started = true;
    if (subject.empty() || world_->answers_for(subject)) continue;
    Followed& followed = followed_[subject];
    if (followed.dropped) continue;
    if (followed.course.recorded(*essence, now_)) {
      ++report_.same;
      --report_.others;  // it was made here before the record came to it
    }
    note_course(subject);
  }
}

void Player::see(const Observation& o, const RecordView& r) {
  if (std::holds_alternative<TimerFired>(o) && otherwise_) return;  // it has timers of its own
  if (std::holds_alternative<RecordQuarantined>(o)) return;         // that record is not played, and nobody has its number
  const auto key = key_of(o);
  const std::string subject = subject_of(o);
  if (is_dropped(o)) {
    followed_[subject].dropped = true;  // with all that belongs to it
    return;
  }
  if (!subject.empty()) return follow(subject, o, r);
  if (key && replaced_.contains(*key)) {
    if (key->first != configuration_key().first) contest("a change of " + key->second + ", which is another one here: not carried out");
    return;
  }
  arena_.clear();
  append(adapted(o), r.envelope.epoch, own_sequence(r.envelope.cause));
}

/// Uid of the job or Workload that it is about, and for which the world answers; empty: it is about none.
std::string Player::subject_of(const Observation& o) {
  const auto belongs = [&](std::string_view uid, std::string_view to) {
    if (to.empty()) return subject_of_uid(uid);
    belongs_to_[std::string(uid)] = std::string(to);
    return subject_of_uid(to);
  };
  if (const auto* job = std::get_if<JobObserved>(&o)) return belongs(job->meta.uid, job->owner_uid);
  if (const auto* w = std::get_if<WorkloadObserved>(&o)) return belongs(w->meta.uid, w->owner_uid);
  if (const auto* pod = std::get_if<PodObserved>(&o)) return belongs(pod->meta.uid, pod->owner_uid);
  if (const auto* gone = std::get_if<ObjectDeleted>(&o)) return is_of_a_job(gone->kind) ? subject_of_uid(gone->uid) : std::string();
  if (const auto* refused = std::get_if<WriteRefused>(&o)) return is_of_a_job(refused->kind) ? subject_of_uid(refused->uid) : std::string();
  if (const auto* q = std::get_if<ObjectQuarantined>(&o)) return is_of_a_job(q->kind) ? subject_of_uid(q->uid) : std::string();
  return {};
}

std::string Player::subject_of_uid(std::string_view uid) const {
  std::string at(uid);
  for (int depth = 0; depth < 16; ++depth) {
    const auto it = belongs_to_.find(at);
    if (it == belongs_to_.end()) break;
    at = it->second;
  }
  if (const auto index = past_.driver().domain().find_parent(at)) {
    const auto* parent = past_.driver().parent(*index);
    if (const std::string_view subject = parent == nullptr ? std::string_view() : whatif::subject_of(*parent); !subject.empty())
      return std::string(subject);
  }
  return at;
}

std::string Player::subject_of(const Event& e) const {
  return std::visit(
      [&](const auto& event) {
        std::string_view uid;
        if constexpr (requires { event.workload; }) uid = event.workload.uid;
        if constexpr (requires { event.job; })
          if (uid.empty()) uid = event.job.uid;
        return uid.empty() ? std::string() : subject_of_uid(uid);
      },
      e);
}

void Player::note_course(const std::string& subject) {
  Followed& followed = followed_[subject];
  if (followed.differing) differing_.erase({*followed.differing, subject});
  followed.differing.reset();
  if (!followed.course.differs() || followed.dropped) return;
  followed.differing = followed.course.differs_since();
  differing_.emplace(*followed.differing, subject);
}

/// From now on the model answers for it.
void Player::leave(const std::string& subject, bool differs) {
  otherwise_ = true;
  if (const auto index = past_.driver().domain().find_parent(subject); index && differs && report_.left.size() < left_max) {
    const std::string known = name_of_subject(*past_.driver().parent(*index));
    const std::string& name = known.empty() ? subject : known;
    report_.left.push_back(format_rfc3339_micro(now_) + " " + name);
  }
  if (Followed& followed = followed_[subject]; followed.differing) {
    differing_.erase({*followed.differing, subject});
    followed.differing.reset();
  }
  Time since = Time::never();
  if (const auto it = running_since_.find(subject); it != running_since_.end()) since = it->second;
  if (const auto index = past_.driver().domain().find_parent(subject); index && !since.is_set()) {
    for (const auto& w : past_.driver().parent(*index)->workloads())
      if (w.admitted() && !w.finished() && !w.is_made_as_option()) since = w.find(ConditionType::admitted)->last_transition;
  }
  world_->take_over(subject, since);
}

}  // namespace hindsight::whatif
