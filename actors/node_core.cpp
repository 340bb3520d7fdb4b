#include "actors/node_core.hpp"

#include <array>

#include <spdlog/spdlog.h>
#include <caf/all.hpp>

namespace hindsight::actors {

NodeCore::NodeCore(events::Log& of, NodeOptions given)
    : log(of),
      options(std::move(given)),
      clock(std::make_shared<LogClock>(options.clock, options.role == Role::decider)),
      allowed_(options.decide_from_start),
      may_claim_(options.claim_from_start) {
  Appender::Options writes;
  writes.domain = options.domain;
  writes.shared = options.role != Role::whole;
  writes.records_max = options.credit_records;
  writes.bytes_max = options.credit_bytes;
  writes.resume = options.on_credit;
  writes.lost = [this](const Error& e) { send_error(e); };
  appender = std::make_unique<Appender>(log, *clock, std::move(writes));
  timekeeper = std::make_unique<Timekeeper>(*clock, [this] {
    const std::array<Observation, 1> now{TimerFired{}};
    (void)appender->observe(now);
  });
  tail = std::make_unique<Tail>(log, [this](const Error& e) { give_up(e); });
  steps_heard_ = clock->on_step([this](const ClockStep& step) { mark(step); });
}

NodeCore::~NodeCore() {
  clock->forget_steps(steps_heard_);
  end_threads();
}

// ---- clocks ---------------------------------------------------------------------------------------------------------------------------

void NodeCore::mark(const ClockStep& step) {
  if (!appender->load().open) return;  // who only follows writes nothing, and whoever begins later says itself how its clock stands
  const std::string source = step.source + (step.over ? ", which is as it should be again" : "");
  const std::array<Observation, 1> stepped{ClockStepped{clock->now(), step.to, source}};
  (void)appender->observe(stepped);
}

void NodeCore::tell_ahead() {
  const Duration ahead = clock->ahead();
  if (ahead <= DayClock::step_min) {
    told_ahead_ = false;
    return;
  }
  if (told_ahead_.exchange(true)) return;
  const Time now = clock->now();
  notice("the log is " + std::to_string(ahead.micros / 1'000'000) + " s ahead of the clock: its last record is of " + format_rfc3339(now) +
         "; time goes on from there, slower by a tenth until the clock has come up with it");
  mark({now, now - ahead, "the clock when the domain was taken", false});
}

std::string NodeCore::quarantine_command(events::Position record) const {
  if (options.quarantine_command) return options.quarantine_command(log.name(), record);
  return "hindsight log quarantine " + std::to_string(record) + " --log '" + std::string(log.name()) + "'";
}

void NodeCore::set_sequencer(SequencerActor actor) {
  const std::lock_guard lock(mutex_);
  sequencer_ = std::move(actor);
}

SequencerActor NodeCore::sequencer() const {
  const std::lock_guard lock(mutex_);
  return sequencer_;
}

void NodeCore::send_error(const Error& error) {
  if (const auto actor = sequencer()) caf::anon_send(actor, std::make_shared<const Error>(error));
}

void NodeCore::give_up(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = error;
    status_.error = error.message;
    rests_.reset();
  }
  appender->refuse();
  if (const auto actor = sequencer()) caf::anon_send_exit(actor, caf::exit_reason::normal);
  changed_.notify_all();
  if (options.on_failure)
    options.on_failure(error);
  else
    spdlog::critical("domain {}: {}", options.domain, error.message);
}

std::optional<Error> NodeCore::given_up() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void NodeCore::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  kept_.clear();
  changed_.notify_all();
}

void NodeCore::wait_for_end() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_; });
}

bool NodeCore::wait_for_end(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return ended_; });
}

void NodeCore::keep(JobPtr job) {
  const std::lock_guard lock(mutex_);
  if (!ended_) kept_.push_back(std::move(job));
}

void NodeCore::forget(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  std::erase(kept_, job);
}

std::vector<JobPtr> NodeCore::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void NodeCore::notice(const std::string& text) const {
  if (options.on_notice)
    options.on_notice(text);
  else
    spdlog::warn("domain {}: {}", options.domain, text);
}

void NodeCore::end_threads() {
  tail->stop();
  timekeeper->stop();
  appender->stop();
}

void NodeCore::report(const std::function<void(NodeStatus&)>& change) {
  const std::lock_guard lock(mutex_);
  change(status_);
}

NodeStatus NodeCore::status() const {
  const auto load = appender->load();
  const std::lock_guard lock(mutex_);
  NodeStatus s = status_;
  s.observations = load.taken;
  s.in_flight_records = load.records;
  s.in_flight_bytes = load.bytes;
  s.behind = tail->behind();
  s.ahead = clock->ahead();
  s.at_rest = rests_ && *rests_ == load.taken;
  return s;
}

void NodeCore::rest(std::uint64_t observations) {
  const std::lock_guard lock(mutex_);
  rests_ = observations;
  changed_.notify_all();
}

void NodeCore::unrest() {
  const std::lock_guard lock(mutex_);
  rests_.reset();
}

Result<void> NodeCore::wait_until_rest() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (error_) return tl::unexpected(*error_);
    if (ended_) return fail(ErrorKind::unavailable, "the node has been stopped");
    if (rests_) {
      const auto rested = rests_;
      lock.unlock();
      const bool quiet = appender->load().taken == *rested && !timekeeper->pending() && open_jobs->load() == 0;
      lock.lock();
      if (quiet && rests_ == rested && !error_) return {};
    }
    // what makes it unrest shows in `taken` or the clock before it shows here
    changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
}

bool NodeCore::decisions_allowed() const {
  const std::lock_guard lock(mutex_);
  return allowed_;
}

void NodeCore::allow_decisions() {
  const std::lock_guard lock(mutex_);
  allowed_ = true;
}

bool NodeCore::may_claim() const {
  const std::lock_guard lock(mutex_);
  return may_claim_;
}

void NodeCore::allow_claim() {
  const std::lock_guard lock(mutex_);
  may_claim_ = true;
}

}  // namespace hindsight::actors
