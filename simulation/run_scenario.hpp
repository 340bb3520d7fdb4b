#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/manifests/scenario.hpp"
#include "connectors/simulated/busy_server.hpp"
#include "connectors/simulated/job_simulator.hpp"
#include "connectors/simulated/simulated_cluster.hpp"
#include "simulation/engine.hpp"

namespace hindsight::simulation {

/// The simulated cluster with its job controller, as the engine's world.
class SimulatedWorld final : public World {
 public:
  explicit SimulatedWorld(connectors::simulated::ClusterOptions options = {}, connectors::simulated::JobSimulatorOptions jobs = {},
                          connectors::simulated::ServerPace pace = {})
      : cluster_(std::move(options)), takes_time_(pace.write.micros > 0), server_(cluster_, pace), jobs_(cluster_, jobs) {}

  [[nodiscard]] connectors::simulated::SimulatedCluster& simulated() { return cluster_; }
  [[nodiscard]] connectors::Cluster& cluster() override {
    if (takes_time_) return server_;
    return cluster_;
  }
  [[nodiscard]] Time next_event() const override {
    const Time written = server_.next_due(), due = jobs_.next_due();
    return written.is_set() && (!due.is_set() || written < due) ? written : due;
  }
  [[nodiscard]] std::uint64_t jobs_ended() const { return jobs_.ended(); }
  void advance_to(Time t) override {
    cluster_.set_time(t);
    server_.run_due();
    jobs_.run_due();
  }

 private:
  connectors::simulated::SimulatedCluster cluster_;
  const bool takes_time_;
  connectors::simulated::BusyServer server_;
  connectors::simulated::JobSimulator jobs_;
};

/// What a scenario runs under, as JSON: its own fields on top of those of `base`, the JSON of a configuration; empty: the defaults. Errors:
/// invalid (fields that are not settings).
[[nodiscard]] Result<std::string> configuration_of(const connectors::manifests::Scenario& scenario, const std::string& base);

/// What the simulated API server takes from a configuration that was judged before: feature gates and limits, and with `defaults_jobs`
/// (Scenario::defaults_jobs) which jobs are managed.
[[nodiscard]] connectors::simulated::ClusterOptions cluster_options_of(const std::string& configuration, bool defaults_jobs);

struct ScenarioOptions {
  std::string configuration;  ///< JSON of a configuration file; the scenario's own fields come on top.
  bool webhooks = false;      ///< The admission webhooks default and judge what comes in, with the feature gates of the configuration.
  connectors::simulated::JobRules job_rules;        ///< Of which release the API server is.
  connectors::simulated::JobSimulatorOptions jobs;  ///< How its Job controller behaves.
  connectors::simulated::ServerPace server;         ///< How fast it takes our writes.
  bool states = false;                              ///< Record a state after each step.
  /// See BridgeOptions::message_interval; hindsight.messageInterval of the configuration takes its place. 0: messages are written as often
  /// as they change, as Kueue does.
  Duration message_interval;
  /// After the last step go on until nothing is due any more, or what is due goes round in circles: no job runs towards an end, and none
  /// has come to one for a day. At most `limit` of virtual time.
  bool to_the_end = false;
  Duration limit = Duration::seconds(400 * 24 * 3600);
  events::Log* log = nullptr;
  std::string release = "dev";
  /// Called before anything happens: for others who follow the cluster by themselves, such as a user who is quick. They hear of each change
  /// before the connector does.
  std::function<void(connectors::simulated::SimulatedCluster&)> on_start;
  std::function<void(const RecordView&, const Engine&)> on_record;
  std::function<void(events::Position)> on_written;  ///< See EngineOptions::on_written.
  std::function<void(std::size_t step, std::size_t steps)> on_step;
};

struct ScenarioResult {
  connectors::Json states;           ///< {"case", "states"}; without `states` an empty list.
  std::vector<std::string> refused;  ///< "step 3: apply Job default/j: 422 ...".
  std::vector<std::string> notices;
  std::uint64_t records = 0, decisions = 0, state_hash = 0;
  std::uint64_t repeated_steps = 0;  ///< See Engine::repeated_steps: 0, unless a rule leads in a circle.
  Time start, end;
  std::unique_ptr<SimulatedWorld> world;
  std::unique_ptr<Engine> engine;  ///< For looking at the end; uses `world`.
};

/// Plays a scenario in virtual time (base-admission D10). Errors: what the scenario may not do, a bad configuration, a log that
/// cannot be written.
[[nodiscard]] Result<ScenarioResult> run_scenario(connectors::manifests::Scenario scenario, const ScenarioOptions& options);

}  // namespace hindsight::simulation
