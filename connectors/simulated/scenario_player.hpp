#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/simulated_cluster.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::simulated {

/// What the API server refused of a step with 400, 403, 409 or 422.
struct Refusal {
  std::string verb;  ///< apply, patch, finish, delete
  std::string kind;
  std::string name;
  int http_status = 0;
  std::string message;
};

/// Plays the steps of a scenario against a simulated cluster. The caller moves time and runs whatever reacts to the cluster between steps;
/// `play` below does both. Namespaces that objects name come into being when they are needed.
class ScenarioPlayer {
 public:
  ScenarioPlayer(SimulatedCluster& cluster, manifests::Scenario scenario);

  [[nodiscard]] const manifests::Scenario& scenario() const { return scenario_; }
  /// When the next step is due; nothing: all are done.
  [[nodiscard]] std::optional<Time> next_step() const;
  [[nodiscard]] std::size_t steps_done() const { return next_; }

  /// Moves the cluster's clock to the next step and runs its verbs: apply, patch, finish, delete. Errors: what no scenario may do, such
  /// as patching an object that does not exist (not_found).
  Result<std::vector<Refusal>> run_step();

  /// The state of the cluster, with what the last step was refused.
  [[nodiscard]] Json state() const;

 private:
  Result<void> apply(Json object);
  Result<void> patch(const manifests::PatchAction& action);
  Result<void> finish(const manifests::FinishAction& action);
  Result<void> delete_(const manifests::DeleteAction& action);
  Result<void> judge(const Reply& reply, std::string_view verb, std::string_view kind, std::string_view name);
  void ensure_namespace(const std::string& name);
  [[nodiscard]] StoredPointer newest_workload(const manifests::OwnerName& owner, const std::string& namespace_) const;

  SimulatedCluster& cluster_;
  manifests::Scenario scenario_;
  Time start_;
  std::size_t next_ = 0;
  std::vector<Refusal> refused_;
  bool stop_item_ = false;  ///< The last request was refused: the rest of its item is left out.
};

/// Manifests without steps: what arrives at second 0, and what annotation arrive-seconds puts later, each moment a step. What comes at
/// one moment comes in the order of kinds (namespaces first, jobs last), then in the order given.
[[nodiscard]] manifests::Scenario scenario_of(std::vector<manifests::Manifest> manifests, std::string name);

/// Runs everything that reacts to the cluster (and the clock) up to `limit`, the moment before the next step; Time::never(): until
/// nothing is due within the next second. A limit that has passed (steps at one moment): only what is due already.
using RunUntil = std::function<void(Time limit)>;

/// Plays all steps. The answer is {"case": name, "states": [state after each step]}.
Result<Json> play(SimulatedCluster& cluster, manifests::Scenario scenario, const RunUntil& run_until);

}  // namespace hindsight::connectors::simulated
