#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/memory_mirror.hpp"
#include "events/log.hpp"
#include "events/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::simulation {

/// The outside of a simulated cluster as the engine needs it.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual connectors::Cluster& cluster() = 0;
  /// When something happens next by itself (a job ends, an object arrives); never: nothing.
  [[nodiscard]] virtual Time next_event() const = 0;
  /// Lets virtual time come to `t`; what happens at or before it happens.
  virtual void advance_to(Time t) = 0;
};

struct EngineOptions {
  std::string domain = "default";
  std::string configuration;   ///< JSON for ConfigurationObserved; empty: defaults.
  events::Log* log = nullptr;  ///< Where the records go; null: nowhere.
  std::string release = "dev";
  /// When the world's API server lets the template of a stopped job be restored.
  connectors::TemplateMutability template_mutability = connectors::TemplateMutability::suspended;
  /// See BridgeOptions::message_interval.
  Duration message_interval;
  std::function<void(const RecordView&)> on_record;  ///< Called for every record after it was applied.
  std::function<void(events::Position)> on_written;  ///< Called when the log has taken some: up to which position.
  /// Between two events of the outside a domain comes to rest after a few steps per object; this many mean that it does not.
  std::uint64_t steps_max = 2'000'000;
};

/// Plays connectors, log and entities of one domain in virtual time: everything that a moment entails happens before time goes
/// on (base-admission D10). Deterministic.
class Engine {
 public:
  Engine(World& world, EngineOptions options);
  ~Engine();

  /// To be connected to the cluster: every change of an object.
  void on_watch(const connectors::WatchEvent& event);

  /// Carries out all that is due now, then lets time pass from event to event, up to and including `until`.
  [[nodiscard]] Result<void> run_until(Time until);
  /// Carries out all that is due now and what follows until no event and no timer is left within `calm`, but not
  /// beyond `until` (exclusive; never: no bound).
  [[nodiscard]] Result<void> settle(Duration calm, Time until);

  /// Writes what was postponed, and carries out what that entails; time does not go on.
  [[nodiscard]] Result<void> write_postponed();

  /// Sets the clock to the moment of a step from outside, before its writes come; nothing that is due at that moment happens yet.
  void step_to(Time t) {
    if (t > now_) now_ = t;
  }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const admission::LoopDriver& driver() const { return driver_; }
  [[nodiscard]] const connectors::Bridge& bridge() const { return *bridge_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  /// How often a job or Workload would have decided what it had decided before, with nothing having happened to it since (as
  /// actors::NodeStatus tells it), and the uids of all of them. A rule of a life cycle that leads in a circle shows here and nowhere else:
  /// nothing of it is recorded.
  [[nodiscard]] std::uint64_t repeated_steps() const { return repeated_steps_; }
  [[nodiscard]] const std::set<std::string>& circling() const { return circling_; }
  /// What people should know: objects that could not be read, writes that were refused.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }
  /// Writes what is still buffered to the log.
  [[nodiscard]] Result<void> flush();

 private:
  void emit(const Observation& o);
  void append(const Envelope& envelope, const Body& body);
  void apply_queued();
  void come_to_rest();
  void plan_retries();
  [[nodiscard]] Time next_due() const;
  void pass_to(Time t);

  World& world_;
  EngineOptions options_;
  admission::LoopDriver driver_;
  connectors::MemoryMirror mirror_;
  std::unique_ptr<connectors::Bridge> bridge_;
  events::Encoder encoder_;
  events::RecordReader reader_;
  std::deque<std::vector<std::byte>> queued_;  ///< Observations, encoded: views do not outlive the call that made them.
  events::RecordBatch unwritten_;
  Time now_;
  Time retry_at_ = Time::never();  ///< When what was refused is tried again,
  std::uint32_t retries_ = 0;      ///< so many seconds after that was planned.
  std::uint64_t records_ = 0, decisions_ = 0, repeated_steps_ = 0;
  std::set<std::string> circling_;
  std::vector<std::string> notices_;
  std::optional<Error> error_;
};

}  // namespace hindsight::simulation
