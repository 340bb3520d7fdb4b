#include "simulation/engine.hpp"

#include "admission/rules.hpp"
#include "events/settings.hpp"

namespace hindsight::simulation {
namespace {

constexpr std::size_t log_batch = 1000;

}  // namespace

Engine::Engine(World& world, EngineOptions options)
    : world_(world), options_(std::move(options)), driver_([](Text json) { return events::read_settings(json); }), now_(Time{0}) {
  connectors::BridgeOptions bridge;
  bridge.plans.template_mutability = options_.template_mutability;
  if (const auto settings = events::read_settings(options_.configuration); settings) {
    bridge.plans.partial_admission = settings->partial_admission;
    bridge.plans.topologies = settings->topologies;
  }
  bridge.notice = [this](const std::string& text) { notices_.push_back(text); };
  bridge.message_interval = options_.message_interval;
  bridge.now = [this] { return now_; };
  bridge_ = std::make_unique<connectors::Bridge>(
      world_.cluster(), mirror_, [this](const Observation& o) { emit(o); }, std::move(bridge));
}

Engine::~Engine() = default;

void Engine::on_watch(const connectors::WatchEvent& event) {
  if (event.type == connectors::WatchEvent::Type::synced) return;  // a simulated cluster has no first list: the engine says when it starts
  mirror_.on_watch(event);
  bridge_->on_watch(event);
}

void Engine::emit(const Observation& o) {
  RecordView r;
  r.envelope.domain = options_.domain;
  r.body = o;
  const auto bytes = encoder_.encode(r);
  queued_.emplace_back(bytes.begin(), bytes.end());
}

void Engine::append(const Envelope& envelope, const Body& body) {
  if (error_) return;
  const RecordView record{envelope, body};
  if (options_.log != nullptr) {
    const auto bytes = encoder_.encode(record);
    unwritten_.add({std::string(envelope.domain), envelope.sequence, envelope.epoch, envelope.time, bytes});
  }
  if (auto ok = driver_.apply(record); !ok) {
    error_ = ok.error();
    return;
  }
  ++records_;
  if (std::holds_alternative<Decisions>(body)) ++decisions_;
  if (options_.on_record) options_.on_record(record);
  if (unwritten_.size() < log_batch) return;
  if (auto ok = flush(); !ok) error_ = ok.error();
}

Result<void> Engine::flush() {
  if (options_.log == nullptr || unwritten_.empty()) return {};
  auto written = options_.log->append(unwritten_.views(), std::nullopt);
  unwritten_.clear();
  if (!written) return tl::unexpected(written.error());
  if (options_.on_written) options_.on_written(*written);
  return {};
}

void Engine::apply_queued() {
  while (!queued_.empty() && !error_) {
    const auto bytes = std::move(queued_.front());
    queued_.pop_front();
    auto read = reader_.read(bytes);
    if (!read) {
      error_ = read.error();
      return;
    }
    Envelope e = (*read)->envelope;
    e.domain = options_.domain;
    e.sequence = driver_.domain().sequence() + 1;
    e.epoch = driver_.domain().epoch();
    e.time = now_;
    const Body body = (*read)->body;
    append(e, body);
  }
}

void Engine::come_to_rest() {
  if (records_ == 0) {
    const std::string& release = options_.release;
    append({options_.domain, 1, 1, now_, 0}, EpochStarted{"simulation", release, admission::rules_version});
    if (!options_.configuration.empty()) emit(ConfigurationObserved{options_.configuration});
    emit(MirrorSynced{});
    if (const auto limit = world_.cluster().write_limit(); limit != 0) emit(WriteLimitObserved{limit});
  }
  for (std::uint64_t steps = 0; !error_; ++steps) {
    apply_queued();
    if (error_) return;
    bridge_->want(driver_.collect_intents());
    if (!queued_.empty()) continue;
    auto step = driver_.decide();
    repeated_steps_ += driver_.circling().size();
    circling_.insert(driver_.circling().begin(), driver_.circling().end());
    if (!step) {
      bridge_->drop_absent(0);  // the mirror has all that there is
      plan_retries();
      return;
    }
    if (steps > options_.steps_max) {
      error_ = Error{ErrorKind::invalid,
                     "the domain does not come to rest: more than " + std::to_string(options_.steps_max) + " steps at one moment"};
      return;
    }
    const Envelope e{options_.domain, driver_.domain().sequence() + 1, driver_.domain().epoch(), now_, step->base};
    append(e, Decisions{step->base, step->kind, step->events});
  }
}

/// What was refused is tried again as on a cluster, where `retry` is called every second; seconds in which nothing comes of it are left
/// out.
void Engine::plan_retries() {
  const std::uint32_t retries = bridge_->retries_until_next();
  const Time at = retries == 0 ? Time::never() : now_ + Duration::seconds(retries);
  if (retries != 0 && retry_at_.is_set() && retry_at_ <= at) return;
  retries_ = retries;
  retry_at_ = at;
}

Time Engine::next_due() const {
  Time due = driver_.domain().next_due();
  for (const Time t : {world_.next_event(), retry_at_, bridge_->next_postponed()})
    if (t.is_set() && (!due.is_set() || t < due)) due = t;
  return due;
}

void Engine::pass_to(Time t) {
  if (t > now_) now_ = t;
  world_.advance_to(now_);
  const Time timer = driver_.domain().next_due();
  if (timer.is_set() && timer <= now_) emit(TimerFired{});
  bridge_->write_postponed();
  if (retry_at_.is_set() && retry_at_ <= now_) {
    retry_at_ = Time::never();
    for (std::uint32_t i = 0; i < retries_; ++i) bridge_->retry();
  }
}

Result<void> Engine::run_until(Time until) {
  for (;;) {
    come_to_rest();
    if (error_) return tl::unexpected(*error_);
    const Time due = next_due();
    if (!due.is_set() || due > until) break;
    pass_to(due);
  }
  if (until > now_) {
    now_ = until;
    world_.advance_to(now_);
  }
  return {};
}

Result<void> Engine::write_postponed() {
  if (bridge_->postponed() == 0) return {};
  bridge_->write_postponed(true);
  come_to_rest();
  if (error_) return tl::unexpected(*error_);
  return {};
}

Result<void> Engine::settle(Duration calm, Time until) {
  for (;;) {
    come_to_rest();
    if (error_) return tl::unexpected(*error_);
    const Time due = next_due();
    if (!due.is_set() || due > now_ + calm || (until.is_set() && due >= until)) return {};
    pass_to(due);
  }
}

}  // namespace hindsight::simulation
