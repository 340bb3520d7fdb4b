#pragma once

// The control plane as a process that can be killed in the midst of a story: what it knew is gone, its log and the cluster stay, and its
// successor folds the log, looks at the cluster and goes on (design rules 1, 4 and 5).

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/memory_mirror.hpp"
#include "connectors/event_recorder/decision_events.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {

/// When it is killed, once.
struct Death {
  std::uint64_t record = 0;   ///< As soon as the log has so many records; 0: never.
  bool after_writes = false;  ///< Only when what followed from the record was written to the cluster, and before any of that is in the log.
  std::size_t step = 0;       ///< Also when so many steps have been played; its successor comes just before the next one. 0: never.
};

class MortalPlane final : private connectors::Cluster {
 public:
  explicit MortalPlane(connectors::manifests::Scenario scenario, std::string configuration = {}, Death death = {},
                       connectors::simulated::JobSimulatorOptions jobs = {}, Duration message_interval = {})
      : world_({}, jobs),
        configuration_(std::move(configuration)),
        death_(death),
        message_interval_(message_interval),
        player_(world_.simulated(), std::move(scenario)),
        now_(world_.simulated().now()) {
    be_born();
  }
  MortalPlane(const MortalPlane&) = delete;
  MortalPlane& operator=(const MortalPlane&) = delete;

  std::function<void()> on_death;                    ///< The cluster is as it was left.
  std::function<void(const RecordView&)> on_record;  ///< After it was applied.
  std::function<void(std::size_t)> on_step;          ///< After so many steps were played.
  std::string configuration_of_successor;            ///< What it observes when it begins; empty: nothing new.
  /// What the API server answers in place of taking the write; nothing: it takes it, or refuses it by its own rules.
  std::function<std::optional<connectors::WriteAnswer>(const connectors::Write&, Time)> on_write;

  /// All steps, each until nothing is due within a second.
  void play() {
    run_until(now_);
    while (const auto at = player_.next_step()) {
      if (death_.step != 0 && player_.steps_done() == death_.step) {
        if (*at - Duration{1} > now_) now_ = *at - Duration{1};
        world_.advance_to(now_);
        be_born();
      }
      if (*at > now_) run_until(*at - Duration{1});
      if (*at > now_) now_ = *at;
      auto step_refused = player_.run_step();
      if (!step_refused) throw std::runtime_error(step_refused.error().message);
      for (const auto& r : *step_refused) refused.push_back(r.verb + " " + r.kind + " " + r.name + ": " + r.message);
      const auto next = player_.next_step();
      settle(Duration::seconds(1), next ? *next : Time::never());
      if (on_step) on_step(player_.steps_done());
    }
  }

  [[nodiscard]] connectors::simulated::SimulatedCluster& cluster() { return world_.simulated(); }
  [[nodiscard]] const admission::LoopDriver& driver() const { return *driver_; }
  [[nodiscard]] std::uint64_t records() const { return log_.size(); }
  [[nodiscard]] bool died() const { return life_ > 1; }
  /// Writes of ours to jobs that changed something.
  [[nodiscard]] std::uint64_t job_writes() const { return job_writes_; }

  std::vector<std::string> events;   ///< "Job train Started", in their order.
  std::vector<std::string> notices;  ///< What people were told.
  std::vector<std::string> refused;  ///< What the steps were refused.

  [[nodiscard]] std::size_t count(const std::string& event) const {
    return static_cast<std::size_t>(std::count(events.begin(), events.end(), event));
  }

  /// What a user sees of a job and its Workloads, oldest first, but for what each write counts up.
  [[nodiscard]] connectors::Json view_of(const std::string& job) {
    connectors::Json out = connectors::Json::array();
    const auto add = [&](const connectors::simulated::StoredObject& o) {
      connectors::Json object = o.object;
      for (const char* counted : {"resourceVersion", "managedFields", "uid"}) object["metadata"].erase(counted);
      out.push_back(std::move(object));
    };
    if (const auto o = cluster().find("Job", "default", job)) add(*o);
    for (const auto& o : cluster().store().owned_by("Job", "default", job))
      if (o->kind->type->kind == "Workload") add(*o);
    return out;
  }

 private:
  void submit(connectors::Write write, std::function<void(connectors::WriteAnswer)> done) override {
    if (on_write)
      if (auto answer = on_write(write, now_)) return done(std::move(*answer));
    const bool to_job = write.type->kind == "Job";
    const std::string space = write.namespace_, name = write.name;
    const auto version = [&]() -> std::string {
      const auto o = to_job ? cluster().find("Job", space, name) : nullptr;
      return o ? o->metadata().value("resourceVersion", "") : "";
    };
    const std::string before = version();
    cluster().submit(std::move(write), std::move(done));
    if (version() != before) ++job_writes_;
  }

  /// What the log says comes first, then what the cluster shows, and then all that is still to be done.
  void be_born() {
    if (life_++ > 0 && on_death) on_death();
    dies_now_ = dies_after_writes_ = false;
    queued_.clear();
    bridge_.reset();
    retry_at_ = Time::never();
    driver_ = std::make_unique<admission::LoopDriver>(&hindsight::events::read_settings);
    for (const auto& bytes : log_) {
      const auto record = reader_.read(bytes);
      if (!record) throw std::runtime_error(record.error().message);
      if (auto ok = driver_->apply(**record); !ok) throw std::runtime_error(ok.error().message);
    }
    driver_->forget_touched();
    mirror_ = std::make_unique<connectors::MemoryMirror>();
    connectors::BridgeOptions options;
    options.notice = [this](const std::string& text) { notices.push_back(text); };
    options.message_interval = message_interval_;
    options.now = [this] { return now_; };
    connectors::Cluster& written_to = *this;
    bridge_ = std::make_unique<connectors::Bridge>(
        written_to, *mirror_, [this](const Observation& o) { emit(o); }, std::move(options));
    append({"default", driver_->domain().sequence() + 1, driver_->domain().epoch() + 1, now_, 0},
           EpochStarted{"mortal", "test", admission::rules_version});
    if (!configuration_.empty() && driver_->domain().catalog()->settings_json.empty()) emit(ConfigurationObserved{configuration_});
    if (life_ > 1 && !configuration_of_successor.empty()) emit(ConfigurationObserved{configuration_of_successor});
    cluster().watch(connectors::watched_resource_types, [this, life = life_](const connectors::WatchEvent& event) {
      if (life != life_ || event.type == connectors::WatchEvent::Type::synced) return;
      mirror_->on_watch(event);
      bridge_->on_watch(event);
    });
    emit_what_has_gone();
    emit(MirrorSynced{});
    newborn_ = true;
  }

  /// Of what it deleted just before it was killed no watch will tell.
  void emit_what_has_gone() {
    const auto tell = [this](ObjectKind kind, Symbol namespace_, std::string_view name, std::string_view uid) {
      if (!uid.empty() && mirror_->find_by_uid(uid) == nullptr) emit(ObjectDeleted{kind, namespace_.text(), name, uid, {}});
    };
    for (std::uint32_t i = 0; i < driver_->domain().parent_count(); ++i) {
      const auto* parent = driver_->parent(i);
      if (parent == nullptr) continue;
      for (const auto& w : parent->workloads()) tell(ObjectKind::workload, w.namespace_, w.name, w.uid);
      if (const auto& job = parent->job()) tell(ObjectKind::job, job->namespace_, job->name, job->uid);
    }
  }

  void emit(const Observation& o) {
    RecordView r;
    r.envelope.domain = "default";
    r.body = o;
    const auto bytes = encoder_.encode(r);
    queued_.emplace_back(bytes.begin(), bytes.end());
  }

  void append(const Envelope& envelope, const Body& body) {
    const RecordView record{envelope, body};
    const auto bytes = encoder_.encode(record);
    log_.emplace_back(bytes.begin(), bytes.end());
    if (auto ok = driver_->apply(record); !ok) throw std::runtime_error(ok.error().message);
    for (const auto& e : connectors::record_events(record, *driver_))
      events.push_back(std::string(e.type->kind) + " " + e.name + " " + e.reason);
    if (on_record) on_record(record);
    if (life_ == 1 && log_.size() == death_.record) (death_.after_writes ? dies_after_writes_ : dies_now_) = true;
  }

  void apply_queued() {
    while (!queued_.empty() && !dies_now_) {
      const auto bytes = std::move(queued_.front());
      queued_.pop_front();
      const auto read = reader_.read(bytes);
      if (!read) throw std::runtime_error(read.error().message);
      const Body body = (*read)->body;
      append({"default", driver_->domain().sequence() + 1, driver_->domain().epoch(), now_, 0}, body);
    }
  }

  void come_to_rest() {
    constexpr int steps_max = 100'000;
    for (int step = 0; step < steps_max; ++step) {
      apply_queued();
      if (dies_now_) {
        be_born();
        continue;
      }
      bridge_->want(std::exchange(newborn_, false) ? driver_->all_intents() : driver_->collect_intents());
      if (dies_after_writes_) {
        be_born();
        continue;
      }
      if (!queued_.empty()) continue;
      const auto decided = driver_->decide();
      if (!decided) {
        bridge_->drop_absent(0);
        plan_retries();
        return;
      }
      append({"default", driver_->domain().sequence() + 1, driver_->domain().epoch(), now_, decided->base},
             Decisions{decided->base, decided->kind, decided->events});
    }
    throw std::runtime_error("the story does not come to rest");
  }

  void plan_retries() {
    const std::uint32_t retries = bridge_->retries_until_next();
    const Time at = retries == 0 ? Time::never() : now_ + Duration::seconds(retries);
    if (retries != 0 && retry_at_.is_set() && retry_at_ <= at) return;
    retries_ = retries;
    retry_at_ = at;
  }

  [[nodiscard]] Time next_due() const {
    Time due = driver_->domain().next_due();
    for (const Time t : {world_.next_event(), retry_at_, bridge_->next_postponed()})
      if (t.is_set() && (!due.is_set() || t < due)) due = t;
    return due;
  }

  void pass_to(Time t) {
    if (t > now_) now_ = t;
    world_.advance_to(now_);
    const Time timer = driver_->domain().next_due();
    if (timer.is_set() && timer <= now_) emit(TimerFired{});
    bridge_->write_postponed();
    if (retry_at_.is_set() && retry_at_ <= now_) {
      retry_at_ = Time::never();
      for (std::uint32_t i = 0; i < retries_; ++i) bridge_->retry();
    }
  }

  void run_until(Time until) {
    for (;;) {
      come_to_rest();
      const Time due = next_due();
      if (!due.is_set() || due > until) break;
      pass_to(due);
    }
    if (until > now_) {
      now_ = until;
      world_.advance_to(now_);
    }
  }

  void settle(Duration calm, Time until) {
    for (;;) {
      come_to_rest();
      const Time due = next_due();
      if (!due.is_set() || due > now_ + calm || (until.is_set() && due >= until)) return;
      pass_to(due);
    }
  }

  SimulatedWorld world_;
  const std::string configuration_;
  const Death death_;
  const Duration message_interval_;
  connectors::simulated::ScenarioPlayer player_;
  Time now_;
  std::vector<std::vector<std::byte>> log_;
  std::uint64_t job_writes_ = 0;
  // what it loses
  std::uint64_t life_ = 0;
  bool dies_now_ = false, dies_after_writes_ = false, newborn_ = false;
  std::unique_ptr<admission::LoopDriver> driver_;
  std::unique_ptr<connectors::MemoryMirror> mirror_;
  std::unique_ptr<connectors::Bridge> bridge_;
  hindsight::events::Encoder encoder_;
  hindsight::events::RecordReader reader_;
  std::deque<std::vector<std::byte>> queued_;  ///< Seen, and not in the log yet.
  Time retry_at_ = Time::never();
  std::uint32_t retries_ = 0;
};

}  // namespace hindsight::simulation
