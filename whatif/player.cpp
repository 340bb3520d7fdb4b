#include "whatif/player.hpp"

#include <algorithm>
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
constexpr std::size_t left_max = 1'000, batch_bytes = std::size_t{4} << 20;

std::string symbol_text(const Symbol& s) { return std::string(s.text()); }

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
  if (auto ok = begin(); !ok) return tl::unexpected(ok.error());
  make_changes();
  if (auto ok = walk(); !ok) return tl::unexpected(ok.error());
  go_beyond();
  if (error_) return tl::unexpected(*error_);
  if (auto ok = flush(); !ok) return tl::unexpected(ok.error());
  report_.end = now_;
  report_.modelled = world_->size();
  report_.estimated = world_->estimated();
  report_.endless = world_->endless();
  report_.silent_checks = world_->silent_checks();
  report_.without_pods = world_->without_pods();
  report_.state_hash = past_.driver().state_hash();
  return report_;
}

Result<void> Player::begin() {
  if (auto ok = past_.go_to(options_.from); !ok) return ok;
  for (const auto& q : changes_.quotas)
    if (auto ok = check(q, past_.driver()); !ok) return ok;
  if (auto ok = check(changes_.nodes, changes_.observations, past_.driver()); !ok) return ok;
  if (options_.out != nullptr)
    if (auto ok = copy_before(); !ok) return ok;
  Domain& domain = past_.driver().entities().domain();
  domain.pass_over({});  // these are numbers of the record; from here on records have others
  now_ = report_.begin = domain.now();
  recorded_sequence_ = domain.sequence();
  recorded_epoch_ = domain.epoch();
  world_ = std::make_unique<World>(past_.driver(), responses_, [this](const Observation& o) { tell(o); });
  otherwise_ = !changes_.empty() || options_.model_all;
  note_users();
  past_.driver().forget_touched();
  if (options_.on_begin) options_.on_begin(past_.driver());
  return {};
}

/// The result begins with all that the record has up to the moment.
Result<void> Player::copy_before() {
  const auto trimmed = log_.trimmed();
  if (!trimmed) return tl::unexpected(trimmed.error());
  if (*trimmed)
    return fail(ErrorKind::unsupported, "log " + std::string(log_.name()) +
                                            " has forgotten its beginning, and the result would be a log without one; keep no result");
  const auto last = options_.out->last();
  if (!last) return tl::unexpected(last.error());
  if (*last != 0)
    return fail(ErrorKind::conflict, "log " + std::string(options_.out->name()) + " has records already; allowed: an empty one");
  events::RecordBatch batch;
  for (Position at = 1; at <= options_.from;) {
    if (auto ok = log_.read(at, {}, batch); !ok) return ok;
    if (batch.empty()) break;
    for (const auto& stored : batch) {
      at = stored.offset + 1;
      if (stored.offset > options_.from) break;
      if (stored.domain == domain_) unwritten_.add(stored);
    }
    if (auto ok = flush(); !ok) return ok;
  }
  return {};
}

Result<void> Player::flush() {
  if (options_.out == nullptr || unwritten_.empty()) return {};
  auto written = options_.out->append(unwritten_.views(), std::nullopt);
  unwritten_.clear();
  if (!written) return tl::unexpected(written.error());
  return {};
}

// ---- records that it makes ------------------------------------------------------------------------------------------------------

void Player::append(Body body, std::uint64_t epoch, std::uint64_t cause) {
  if (error_) return;
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
  if (options_.out != nullptr) {
    unwritten_.add({domain_, r.envelope.sequence, r.envelope.epoch, now_, bytes});
    if (unwritten_.bytes() > batch_bytes)
      if (auto ok = flush(); !ok) error_ = ok.error();
  }
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

Result<void> Player::walk() {
  const auto quarantined = log_.quarantined();
  if (!quarantined) return tl::unexpected(quarantined.error());
  std::set<std::uint64_t> set_aside;
  for (const auto& q : *quarantined)
    if (q.domain == domain_) set_aside.insert(q.sequence);
  replay::Lookahead records(log_, domain_, options_.from, recorded_sequence_, recorded_epoch_,
                            past_.driver().domain().context().decided_base, set_aside);
  std::uint64_t decided_for = 0;  // sequence of the record that the last decision was made behind
  bool any = false;
  for (std::uint64_t n = 0; !error_; ++n) {
    if (options_.progress && n % 1024 == 0) options_.progress(records.read_to() - options_.from, options_.until - options_.from);
    if (const auto coming = records.next_decision();
        coming && coming->base == recorded_sequence_ && (!any || decided_for != coming->base) && coming->offset <= options_.until) {
      decided_for = coming->base;
      any = true;
      paused_ = false;
      (void)append_pending();
      pending_ = past_.driver().decide();
    }
    const auto stored = records.next();
    if (!stored || stored->offset > options_.until) break;
    if (record_order(recorded_sequence_, recorded_epoch_, stored->sequence, stored->epoch) == RecordOrder::passed_over) continue;
    ++recorded_sequence_;
    recorded_epoch_ = std::max(recorded_epoch_, stored->epoch);
    if (set_aside.contains(recorded_sequence_)) continue;
    const auto record = reader_.read(stored->bytes);
    if (!record) return replay::at_record(log_, stored->offset, record.error());
    paused_ = std::holds_alternative<EpochStarted>((*record)->body);  // nobody decided between the record before it and this one
    if (!play_due_before(stored->time)) continue;
    paused_ = false;
    now_ = std::max(now_, stored->time);
    see(**record);
    if (const std::uint64_t own = past_.driver().domain().sequence(); own != own_sequence(recorded_sequence_))
      sequences_[recorded_sequence_] = own;
  }
  if (records.error() && records.read_to() < options_.until) return tl::unexpected(*records.error());
  if (options_.progress) options_.progress(options_.until - options_.from, options_.until - options_.from);
  return {};
}

/// What the model says, timers, and decisions for which there is time before `t`. False: an error.
bool Player::play_due_before(Time t) {
  while (!error_) {
    const Time timer = otherwise_ ? past_.driver().domain().next_due() : Time::never();
    Time next = world_->next_due();
    const bool says = next.is_set() && (!timer.is_set() || next <= timer);
    if (!says) next = timer;
    // Nobody's recorded answers wait for a decision that does not come.
    const bool leaves =
        !differing_.empty() && otherwise_ && !paused_ && (!next.is_set() || differing_.begin()->first + Course::patience < next);
    if (leaves) next = std::max(now_, differing_.begin()->first + Course::patience);
    const bool before = next.is_set() && next < t;
    if (otherwise_ && (before ? next : t) - now_ > deciding_within) {
      const auto sequence = past_.driver().domain().sequence();
      decide_to_rest();
      if (past_.driver().domain().sequence() != sequence) continue;  // other things are due now
    }
    if (!before) return !error_;
    now_ = std::max(now_, next);
    if (leaves) {
      const std::string subject = differing_.begin()->second;
      differing_.erase(differing_.begin());
      if (past_.driver().domain().find_parent(subject)) leave(subject);
      continue;
    }
    if (says)
      world_->say_next();
    else
      tell(Observation{TimerFired{}});
    if (!says && past_.driver().domain().next_due() == timer) {  // it is decided about, not taken away by being told
      const auto sequence = past_.driver().domain().sequence();
      decide_to_rest();
      if (past_.driver().domain().sequence() == sequence) return !error_;
    }
  }
  return false;
}

void Player::go_beyond() {
  paused_ = false;
  if (options_.beyond.micros <= 0 || error_) return;
  const Time until = now_ + options_.beyond;
  otherwise_ = true;  // nothing on record follows
  std::vector<std::string> rest;
  for (std::uint32_t i = 0; i < past_.driver().domain().parent_count(); ++i) {
    const auto* parent = past_.driver().parent(i);
    if (parent == nullptr || parent->empty()) continue;
    const std::string subject(whatif::subject_of(*parent));
    if (!subject.empty() && !belongs_to_.contains(subject) && !world_->answers_for(subject)) rest.push_back(subject);
  }
  for (const auto& subject : rest) leave(subject, false);
  (void)play_due_before(until);
  decide_to_rest();
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
    const auto* parent = past_.driver().parent(*index);
    const auto& workloads = parent->workloads();
    std::string name = subject;
    if (parent->job())
      name = symbol_text(parent->job()->kind) + " " + symbol_text(parent->job()->namespace_) + "/" + parent->job()->name.text();
    else if (!workloads.empty())
      name = "Workload " + symbol_text(workloads.front().namespace_) + "/" + workloads.front().name.text();
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
