#include "actors/sequencer.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <spdlog/spdlog.h>
#include <caf/all.hpp>

#include "actors/defaults.hpp"
#include "actors/delivery.hpp"
#include "actors/log_mode.hpp"
#include "admission/rules.hpp"
#include "events/quarantine.hpp"

namespace hindsight::actors {

namespace {

std::chrono::milliseconds pause_after(unsigned failures) {
  return std::chrono::milliseconds(std::min(1000U, 10U << std::min(failures, 7U)));
}

constexpr std::chrono::milliseconds out_of_reach_pause{1000};

EngineOptions engine_options(const NodeOptions& o) {
  EngineOptions e;
  e.shells_max = o.shells_max;
  e.inline_receivers = o.inline_receivers;
  e.hook = o.hook;
  return e;
}

}  // namespace

Sequencer::Sequencer(caf::scheduled_actor* self, std::shared_ptr<NodeCore> core) : self_(self), core_(std::move(core)) {}

// ---- following and claiming ----------------------------------------------------------------------------------------------------------

void Sequencer::begin() {
  const NodeOptions& options = core_->options;
  core_->deciding = false;
  if (options.observes) onlooker_ = std::make_unique<Onlooker>(options.settings_reader, options.domain, options.unpaced_looks_max);
  auto set_aside = events::passed_over(core_->log, options.domain);
  if (!set_aside && set_aside.error().kind == ErrorKind::unavailable) {
    tell_that_it_waits("the log cannot be reached, nothing is decided until it can: " + set_aside.error().message);
    caf::delayed_anon_send(caf::actor_cast<SequencerActor>(self_), out_of_reach_pause, start_atom::value);
    return;
  }
  if (!set_aside) return give_up(set_aside.error());
  constexpr unsigned snapshots_tried_max = 16;
  for (unsigned attempt = 0;; ++attempt) {
    engine_ = std::make_unique<StepEngine>(self_, options.settings_reader, engine_options(options));
    position_ = 0;
    if (!options.restore || attempt == snapshots_tried_max) break;
    auto restored = options.restore(engine_->entities(), attempt);
    if (restored) {
      position_ = *restored;
      break;
    }
    if (restored.error().kind == ErrorKind::not_found) return give_up(restored.error());
    core_->notice("a snapshot is not used: " + restored.error().message);
  }
  domain().pass_over(std::move(*set_aside));
  core_->tail->follow(position_,
                      [actor = caf::actor_cast<SequencerActor>(self_)](RecordsPtr records) { caf::anon_send(actor, std::move(records)); });
  // Those that were added meanwhile are among them: a job is kept before it is sent here.
  const auto kept = core_->kept();
  jobs_.assign(kept.begin(), kept.end());
  follow_to_the_end();
  go_on();
}

/// Whatever may be in the log by now is applied before anything is decided.
void Sequencer::follow_to_the_end() {
  phase_ = Phase::following;
  core_->report([](NodeStatus& s) { s.caught_up = s.standing_by = false; });
  in_flight_.reset();
  nothing_to_decide_ = false;
  if (onlooker_ && own_epoch_ != 0) onlooker_->begin_anew();
  core_->appender->close();
  target_.reset();
  find_the_end();
}

/// Brokers may be away for long, and come back with everything: nothing is lost by waiting, and whatever runs in the cluster runs on.
void Sequencer::find_the_end() {
  const auto last = core_->log.last();
  if (last) {
    target_ = *last;
  } else if (last.error().kind == ErrorKind::unavailable) {
    tell_that_it_waits("the log cannot be reached, nothing is decided until it can: " + last.error().message);
    caf::delayed_anon_send(caf::actor_cast<SequencerActor>(self_), out_of_reach_pause, look_atom::value);
  } else {
    give_up(last.error());
  }
}

void Sequencer::look_again() {
  look_comes_ = false;
  if (phase_ == Phase::standing_by && core_->may_claim())
    follow_to_the_end();
  else if (phase_ == Phase::following && !target_)
    find_the_end();
  go_on();
}

/// All that was in the log is applied.
void Sequencer::caught_up() {
  if (core_->options.role == Role::connector)
    observe();
  else if (core_->may_claim())
    claim();
  else
    stand_by();
}

/// Of its last record; never: it has none.
Time Sequencer::time_of_log() { return domain().sequence() == 0 ? Time::never() : domain().now(); }

void Sequencer::observe() {
  phase_ = Phase::observing;
  told_all_ = false;
  core_->clock->begin(time_of_log());
  core_->appender->open({domain().sequence(), position_, domain().now()}, pause_);
  core_->tell_ahead();
  pause_ = std::chrono::milliseconds(0);
  core_->report([&](NodeStatus& s) {
    s.caught_up = true;
    s.position = position_;
  });
}

void Sequencer::stand_by() {
  phase_ = Phase::standing_by;
  core_->report([&](NodeStatus& s) {
    s.standing_by = true;
    s.position = position_;
  });
}

void Sequencer::claim() {
  if (auto ok = check_mode(); !ok) return give_up(ok.error());
  phase_ = Phase::claiming;
  own_epoch_ = std::max(domain().epoch(), core_->claimed_epoch.load()) + 1;
  core_->claimed_epoch = own_epoch_;
  told_all_ = false;
  core_->clock->begin(time_of_log());
  core_->appender->open({domain().sequence(), position_, domain().now()}, own_epoch_,
                        {core_->options.writer, core_->options.release, admission::rules_version, core_->options.observes}, pause_);
  core_->tell_ahead();
  pause_ = std::chrono::milliseconds(0);
  core_->report([](NodeStatus& s) { ++s.epochs_begun; });
}

/// The log of a node that decides and that of one that only looks on are no good for each other (actors/log_mode.hpp). Looked at once: who
/// claims a log to which another one writes must be quick, or never comes to be the next one in it.
Result<void> Sequencer::check_mode() {
  const NodeOptions& options = core_->options;
  if (options.role != Role::whole || options.switches_mode || core_->mode_checked) return {};
  auto ok = check_log_mode(core_->log, domain(), options.domain, options.observes);
  core_->mode_checked = ok.has_value();
  return ok;
}

void Sequencer::append_failed(const Error& error) {
  if (phase_ == Phase::ended || phase_ == Phase::following) return;
  if (error.kind == ErrorKind::denied || error.kind == ErrorKind::invalid || error.kind == ErrorKind::unsupported) {
    give_up(error);
    return;
  }
  const bool out_of_reach = error.kind == ErrorKind::unavailable;
  if (!out_of_reach && ++failures_ > core_->options.append_failures_max) {
    give_up({error.kind, error.message + " (" + std::to_string(failures_) +
                             " appends in a row failed; allowed: " + std::to_string(core_->options.append_failures_max) + ")"});
    return;
  }
  // A log that has grown under us is well: whoever waits only lets it grow on.
  pause_ = error.kind == ErrorKind::conflict ? std::chrono::milliseconds(0) : out_of_reach ? out_of_reach_pause : pause_after(failures_);
  if (out_of_reach)
    tell_that_it_waits("the log cannot take records, nothing is decided until it can: " + error.message);
  else
    core_->notice("an append failed, a new epoch begins: " + error.message);
  follow_to_the_end();
  go_on();
}

/// What may go on for hours, a disk that is full or brokers that are away, is not told every second.
void Sequencer::tell_that_it_waits(const std::string& why) {
  core_->report([&](NodeStatus& s) { s.waits_for_log = why; });
  if (!std::exchange(told_that_it_waits_, true)) core_->notice(why);
}

void Sequencer::append_succeeded() {
  failures_ = 0;
  if (!std::exchange(told_that_it_waits_, false)) return;
  core_->report([](NodeStatus& s) { s.waits_for_log.clear(); });
  core_->notice("the log takes records again");
}

// ---- the loop ------------------------------------------------------------------------------------------------------------------------

void Sequencer::end_round() {
  engine_->end_round();
  go_on();
}

void Sequencer::records(RecordsPtr records) {
  if (core_->options.role != Role::whole) core_->unrest();  // what others write comes without being announced
  batches_.push_back(std::move(records));
  go_on();
}

void Sequencer::add(JobPtr job) {
  // A kept one may have been found in the core before its message came.
  if (job->done || std::find(jobs_.begin(), jobs_.end(), job) != jobs_.end()) return;
  jobs_.push_back(std::move(job));
  go_on();
}

void Sequencer::drain() {
  draining_ = true;
  go_on();
}

/// Does the next thing until a step is under way or nothing is left.
void Sequencer::go_on() {
  if (!engine_) {  // it has not begun, because the log is out of reach
    if (draining_) finish();
    return;
  }
  while (phase_ != Phase::ended && !engine_->busy()) {
    if (applying_ != nullptr) record_applied();
    if (asking_) answered();
    if (phase_ == Phase::ended) return;
    if (do_job() || next_record()) continue;
    if (phase_ == Phase::following && target_ && position_ >= *target_) {
      caught_up();
      continue;
    }
    if (!ask()) break;
  }
  if (phase_ != Phase::ended && draining_ && !engine_->busy() && core_->appender->load().records == 0) finish();
}

bool Sequencer::do_job() {
  if (jobs_.empty()) return false;
  const auto applied = core_->appender->load().applied;
  const auto it = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& j) { return j->after <= applied && (!j->leading || acts()); });
  if (it == jobs_.end()) return false;
  const auto job = std::move(*it);
  jobs_.erase(it);
  if (!job->looks) core_->unrest();  // before the job counts as done
  job->done = true;                  // also when it fails: it is not tried again
  core_->forget(job);
  job->work(engine_->entities());
  if (!job->looks) nothing_to_decide_ = false;
  return true;
}

// ---- applying ------------------------------------------------------------------------------------------------------------------------

/// Begins to apply the next record of this domain; false: there is none.
bool Sequencer::next_record() {
  while (!batches_.empty()) {
    const events::RecordBatch& batch = batches_.front()->batch;
    if (next_in_batch_ == batch.size()) {
      batch_applied();
      continue;
    }
    const auto stored = batch[next_in_batch_++];
    position_ = stored.offset;
    if (stored.domain != core_->options.domain) continue;
    core_->at_record = stored.offset;
    core_->deciding = false;
    if (const Envelope envelope{stored.domain, stored.sequence, stored.epoch, stored.time, 0}; domain().passes_over(envelope)) {
      domain().pass(envelope);
      nothing_to_decide_ = false;
      continue;
    }
    reading_->records = batches_.front();
    auto read = reading_->reader.read(stored.bytes);
    if (!read) {
      std::string what = std::string(core_->log.name()) + ", record " + std::to_string(stored.offset) + ": " + read.error().message;
      if (read.error().kind == ErrorKind::corrupt)
        what += ". This sets the record aside, for every reader and for ever: " + core_->quarantine_command(stored.offset);
      give_up({read.error().kind, std::move(what)});
      return false;
    }
    const bool counts = domain().counts((*read)->envelope);
    if (onlooker_ && counts && may_decide() && domain().synced()) {
      look_before(**read);
      if (phase_ == Phase::ended) return false;
      core_->deciding = false;
    }
    if (auto ok = apply(**read); !ok) {
      // A record that was folded has been set aside since: the domain is built again without it.
      if (ok.error().kind == ErrorKind::conflict) throw std::runtime_error(ok.error().message);
      give_up({ok.error().kind, std::string(core_->log.name()) + ", record " + std::to_string(stored.offset) + ": " + ok.error().message});
      return false;
    }
    if (!counts) continue;  // what a replaced writer left behind is nobody's news
    reading_->reader.number(domain().sequence());
    applying_ = *read;
    stored_ = stored;
    return true;
  }
  return false;
}

Result<void> Sequencer::apply(const RecordView& record) {
  nothing_to_decide_ = false;
  return phase_ == Phase::claiming || phase_ == Phase::leading ? engine_->apply(record, reading_) : engine_->fold(record);
}

void Sequencer::record_applied() {
  const RecordView& record = *applying_;
  applying_ = nullptr;
  const Envelope& e = record.envelope;
  core_->appender->applied(stored_);
  const auto* note = std::get_if<DecisionsNoted>(&record.body);
  if (onlooker_ && note == nullptr) onlooker_->world_changed();
  if (note != nullptr) {
    if (phase_ != Phase::leading) {
      if (onlooker_) onlooker_->read(*note);
    } else if (e.epoch == own_epoch_) {
      append_succeeded();
      core_->report([](NodeStatus& s) { ++s.notes; });
    }
  } else if (const auto* d = std::get_if<Decisions>(&record.body)) {
    if (in_flight_ && e.epoch == own_epoch_ && d->base == *in_flight_) {
      in_flight_.reset();
      append_succeeded();
      core_->report([](NodeStatus& s) { ++s.decisions; });
    }
  } else if (const auto* started = std::get_if<EpochStarted>(&record.body)) {
    epoch_began(e, *started);
  } else if (phase_ == Phase::observing) {
    append_succeeded();
  }
  if (const auto* o = std::get_if<Observation>(&record.body); o != nullptr) {
    const bool timer = std::holds_alternative<TimerFired>(*o);
    if (timer) core_->timekeeper->heard();
    const bool object = !timer && !std::holds_alternative<ClockStepped>(*o) && !std::holds_alternative<WriteLimitObserved>(*o);
    if (phase_ != Phase::following) core_->clock->reached(e.time, object);
    if (object && !std::holds_alternative<MirrorSynced>(*o)) core_->newest_object = stored_.offset;
  }
  if (core_->options.on_record) tell("who follows the records", [&] { core_->options.on_record(record, position_); });
}

void Sequencer::epoch_began(const Envelope& e, const EpochStarted& started) {
  const bool own = started.writer == core_->options.writer;
  if (phase_ == Phase::claiming && e.epoch == own_epoch_ && own) {
    phase_ = Phase::leading;
    append_succeeded();
    core_->report([&](NodeStatus& s) {
      s.caught_up = true;
      s.position = position_;
      s.epoch = own_epoch_;
    });
    if (core_->options.on_lead) core_->options.on_lead(own_epoch_, position_);
    return;
  }
  // Of two that begin the same epoch in a shared log the first has it; a leading node has seen its own come first.
  const auto claimed = core_->claimed_epoch.load();
  const bool lost_race = phase_ == Phase::claiming && e.epoch == own_epoch_ && !own;
  // Also while following: whoever loses an append to another writer must not take the domain back.
  if (lost_race || (claimed != 0 && e.epoch > claimed)) {
    give_up({ErrorKind::conflict, "domain " + core_->options.domain + ": found epoch " + std::to_string(e.epoch) +
                                      " of another writer in " + std::string(core_->log.name()) + "; this node had epoch " +
                                      std::to_string(claimed)});
  }
}

void Sequencer::batch_applied() {
  batches_.pop_front();
  next_in_batch_ = 0;
  core_->tail->taken();
  tell_intents();
  core_->report([&](NodeStatus& s) {
    s.position = position_;
    s.sequence = domain().sequence();
    s.epoch = domain().epoch();
    s.synced = domain().synced();
    s.stale_decisions = domain().stale_decisions();
    s.shells = engine_->shells();
    s.rounds = engine_->rounds();
    s.next_due = next_due();
  });
  core_->clock->reached(domain().now(), false);
  if (core_->options.on_batch)
    tell("who looks at the state", [&] { core_->options.on_batch(engine_->entities(), position_, domain().now()); });
}

void Sequencer::tell(const char* what, const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& bug) {
    core_->notice(std::string(what) + " failed at record " + std::to_string(position_) + ": " + bug.what());
  }
}

/// How long it took to decide a cycle, from the question to all answers.
void Sequencer::measure(const admission::Domain::Step& step) {
  if (step.kind != StepKind::cycle) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - asked_at_;
  const bool success = std::ranges::any_of(step.events, [](const Event& e) { return std::holds_alternative<QuotaReserved>(e); });
  core_->report([&](NodeStatus& s) { (success ? s.attempts.success : s.attempts.inadmissible).add(taken.count()); });
}

void Sequencer::tell_circles(const admission::Domain::Step& step) {
  constexpr std::size_t told_max = 1000;
  if (step.circling.empty()) return;
  core_->report([&](NodeStatus& s) { s.repeated_steps += step.circling.size(); });
  if (told_circles_.size() > told_max) told_circles_.clear();
  for (const auto& uid : step.circling) {
    if (!told_circles_.insert(uid).second) continue;
    const auto index = domain().find_parent(uid);
    const auto* parent = index ? engine_->entities().parent(*index) : nullptr;
    core_->notice((parent == nullptr ? "uid " + uid : name_of(*parent)) +
                  " would decide again what it has decided before, although nothing has happened to it since: that is not recorded, and it "
                  "waits for something to happen");
  }
}

/// Between two batches: everything that an intent follows from was read back. First those of the whole state, then of what was touched.
/// While the domain waits for the rest of what belongs together nothing is told: half a move looks as if objects were missing.
void Sequencer::tell_intents() {
  if (phase_ == Phase::standing_by) engine_->entities().forget_touched();  // all is told when it has the domain
  if (!acts() || !core_->decisions_allowed()) return;
  if (onlooker_) return engine_->entities().forget_touched();
  if (core_->options.role == Role::connector && !domain().synced()) return;
  if (!core_->options.on_intents) return engine_->entities().forget_touched();
  std::vector<admission::Intent> intents;
  if (told_all_) {
    intents = engine_->entities().collect_intents();
  } else {
    told_all_ = true;
    engine_->entities().forget_touched();
    intents = engine_->entities().all_intents();
  }
  if (!intents.empty()) tell("who carries out intents", [&] { core_->options.on_intents(std::move(intents)); });
}

// ---- deciding ------------------------------------------------------------------------------------------------------------------------

/// Begins to ask for the next kind of decisions; false: there is nothing to ask now.
bool Sequencer::ask() {
  if (!acts() || draining_ || in_flight_ || nothing_to_decide_) return false;
  if (!told_all_) tell_intents();
  core_->deciding = true;
  if (onlooker_) {
    look_on();
    return false;
  }
  if (phase_ == Phase::leading && core_->decisions_allowed() && engine_->ask()) {
    asking_ = true;
    asked_at_ = std::chrono::steady_clock::now();
    return true;
  }
  nothing_to_decide_ = true;
  at_rest();
  return false;
}

void Sequencer::answered() {
  asking_ = false;
  const auto step = engine_->answer();
  tell_circles(step);
  if (step.events.empty() || phase_ != Phase::leading) return;  // ask for the next kind
  measure(step);
  in_flight_ = step.base;
  // When it is closed its failure is on the way here, and all is asked again in the next epoch.
  (void)core_->appender->decide(step);
}

/// When there is a reason to look and it may be, it does; when it may not be yet, it comes back.
void Sequencer::look_on() {
  if (may_decide() && domain().synced() && onlooker_->has_reason()) {
    if (const auto pause = onlooker_->pause(); pause > pause.zero()) {
      core_->timekeeper->wait_for(next_due(), domain().now());
      if (std::exchange(look_comes_, true)) return;
      caf::delayed_anon_send(caf::actor_cast<SequencerActor>(self_),
                             std::chrono::duration_cast<std::chrono::milliseconds>(pause) + std::chrono::milliseconds(1), look_atom::value);
      return;
    }
    look(false);
    if (phase_ == Phase::ended) return;
  }
  nothing_to_decide_ = true;
  at_rest();
}

/// What another controller decided is about to be applied: what would be decided is found before, where a look may be, and it is noted if
/// that is not the same.
void Sequencer::look_before(const RecordView& record) {
  const auto decision = onlooker_->unforeseen(record, engine_->entities());
  if (!decision) return;
  if (onlooker_->may_look_unpaced()) look(true);
  if (phase_ == Phase::ended) return;
  if (const auto note = onlooker_->would_not(*decision, domain())) (void)core_->appender->note(*note);
}

/// Notes what is new in what would be decided now.
void Sequencer::look(bool unpaced) {
  core_->deciding = true;
  const auto notes = onlooker_->look(engine_->entities(), unpaced);
  core_->report([](NodeStatus& s) { ++s.looks; });
  if (!notes)
    return give_up({notes.error().kind, "domain " + core_->options.domain + ": what would be decided cannot be found at record " +
                                            std::to_string(position_) + ": " + notes.error().message});
  // When it is closed its failure is on the way here, and all is noted again in the next epoch.
  for (const auto& note : *notes) (void)core_->appender->note(note);
}

/// Who decides nothing leaves undone what is overdue.
Time Sequencer::next_due() { return onlooker_ ? domain().next_due_after(domain().now()) : domain().next_due(); }

void Sequencer::at_rest() {
  const Time due = phase_ == Phase::leading ? next_due() : Time::never();
  core_->timekeeper->wait_for(due, domain().now());
  core_->report([&](NodeStatus& s) { s.next_due = due; });
  const auto load = core_->appender->load();
  if (load.records == 0 && batches_.empty() && jobs_.empty()) core_->rest(load.taken);
}

// ---- ending --------------------------------------------------------------------------------------------------------------------------

void Sequencer::give_up(Error error) {
  phase_ = Phase::ended;
  core_->give_up(std::move(error));
  finish();
}

void Sequencer::finish() {
  phase_ = Phase::ended;
  core_->tail->follow(position_, nullptr);
  self_->quit();
}

SequencerActor::behavior_type sequencer_actor(SequencerActor::stateful_pointer<std::unique_ptr<Sequencer>> self,
                                              std::shared_ptr<NodeCore> core) {
  install_defaults(self, "sequencer");
  self->set_down_handler([self](caf::scheduled_actor*, caf::down_msg& m) {
    if (!StepEngine::is_failure(m)) return;
    self->quit(std::move(m.reason));
  });
  self->state = std::make_unique<Sequencer>(self, std::move(core));
  return {
      [self](start_atom) { self->state->begin(); },
      [self](look_atom) { self->state->look_again(); },
      [self](round_over) { self->state->end_round(); },
      [self](const JobPtr& job) { self->state->add(job); },
      [self](const RecordsPtr& records) { self->state->records(records); },
      [self](const ErrorPtr& error) { self->state->append_failed(*error); },
      [self](stop_atom) { self->state->drain(); },
  };
}

}  // namespace hindsight::actors
