#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/memory_log.hpp"
#include "projections/history.hpp"
#include "projections/metrics.hpp"
#include "projections/why.hpp"
#include "replay/moment.hpp"
#include "replay/past.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::projections {

/// What a queue has, in the words of its manifest.
struct QueueText {
  std::string name, cohort, cpu = "4", borrowing_limit;
  std::string more;  ///< Further lines of the spec, indented by two.
  std::string flavor = "default";
  std::string namespaces = "{}";  ///< namespaceSelector.
};

/// A ClusterQueue and the LocalQueue "lq-NAME" that leads to it.
inline std::string queue_text(const QueueText& q) {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: " + q.name +
         "}\nspec:\n  namespaceSelector: " + q.namespaces + "\n" + (q.cohort.empty() ? "" : "  cohortName: " + q.cohort + "\n") + q.more +
         "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors: [{name: " + q.flavor +
         ", resources: [{name: cpu, nominalQuota: " + q.cpu + (q.borrowing_limit.empty() ? "" : ", borrowingLimit: " + q.borrowing_limit) +
         "}]}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq-" + q.name +
         ", namespace: default}\nspec: {clusterQueue: " + q.name + "}\n";
}

struct JobText {
  std::string name, queue = "cq", cpu = "1";
  int arrives = 0, runs = 60;
  std::string priority_class;
};

inline std::string job_text(const JobText& j) {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + j.name +
         "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '" + std::to_string(j.runs) +
         "', hindsight.dev/arrive-seconds: '" + std::to_string(j.arrives) + "'}\n  labels: {kueue.x-k8s.io/queue-name: lq-" + j.queue +
         (j.priority_class.empty() ? "" : ", kueue.x-k8s.io/priority-class: " + j.priority_class) +
         "}\nspec:\n  suspend: true\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i, resources: "
         "{requests: {cpu: '" +
         j.cpu + "'}}}]\n";
}

/// The flavor "default" and the class "high" (100).
inline const std::string basics =
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: default}\n---\napiVersion: "
    "kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 100\n";

/// The log of manifests or of a scenario that was played in virtual time to its end, and the read models as the commands make them.
class Played {
 public:
  /// `configuration`: JSON of a configuration file.
  explicit Played(const std::string& text, std::string configuration = {}) : configuration_(std::move(configuration)) {
    auto input = connectors::manifests::read_text(text, "test.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    play(std::move(*input));
  }
  explicit Played(const std::vector<std::string>& paths) {
    auto input = connectors::manifests::read_input(paths);
    if (!input) throw std::runtime_error(input.error().message);
    play(std::move(*input));
  }

  events::MemoryLog log;

  /// The state after the last record of a second of virtual time.
  [[nodiscard]] events::Position at(int second) const {
    return replay::resolve(log, {.kind = replay::Moment::Kind::time, .time = start_ + Duration::seconds(second)}).value();
  }
  [[nodiscard]] events::Position end() const { return log.last().value(); }
  /// The first record that has an event of this type.
  template <class E>
  [[nodiscard]] events::Position first() const {
    events::Position found = 0;
    each([&](events::Position p, const RecordView& r) {
      const auto* d = std::get_if<Decisions>(&r.body);
      if (d == nullptr || found != 0) return;
      for (const Event& e : d->events)
        if (std::holds_alternative<E>(e)) found = p;
    });
    if (found == 0) throw std::runtime_error("no such event in the log");
    return found;
  }
  void each(const std::function<void(events::Position, const RecordView&)>& see) const {
    events::RecordReader reader;
    events::RecordBatch batch;
    for (events::Position p = 1;; p += batch.size()) {
      if (auto ok = log.read(p, {}, batch); !ok) throw std::runtime_error(ok.error().message);
      if (batch.empty()) return;
      for (const auto& stored : batch) see(stored.offset, **reader.read(stored.bytes));
    }
  }

  /// The domain as it was after a record; lives until the next call.
  const StateView& state(events::Position position) {
    past_.emplace(log, "default");
    if (auto ok = past_->go_to(position); !ok) throw std::runtime_error(ok.error().message);
    return past_->driver();
  }

  Why why(const std::string& target, events::Position position) {
    const auto t = parse_target(target, "default").value();
    Trail trail(t);
    each([&](events::Position p, const RecordView& r) {
      if (p <= position) trail.add(p, r);
    });
    const auto& then = state(position);
    const auto at = find_workload(then, t).value();
    const Stage stage = Stage::of_tree(past_->driver(), at);
    return explain(then, at, trail, &stage);
  }
  /// Of the state that was looked at last.
  [[nodiscard]] const admission::LoopDriver& driver() const { return past_->driver(); }

  /// "12 observed Job default/train: created …"
  std::vector<std::string> story(const std::string& target) {
    History story(parse_target(target, "default").value());
    replay::Past past(log, "default");
    past.look_on([&](events::Position, const RecordView& r) { story.before(r, past.driver()); },
                 [&](events::Position offset, const RecordView& r) { story.after(offset, r, past.driver()); });
    EXPECT_TRUE(past.fold_to(end()));
    std::vector<std::string> out;
    for (const auto& e : story.entries()) out.push_back(std::string(e.decided ? "decided " : "observed ") + e.object + ": " + e.text);
    return out;
  }

  std::string metrics(MetricsOptions options = {}) {
    Metrics metrics(std::move(options));
    replay::Past past(log, "default");
    past.look_on({}, [&](events::Position, const RecordView& r) { metrics.record(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(end()));
    return metrics.text(past.driver());
  }

 private:
  void play(connectors::manifests::Input input) {
    auto scenario = input.scenarios.empty() ? connectors::simulated::scenario_of(std::move(input.manifests), "test")
                                            : std::move(input.scenarios.front());
    simulation::ScenarioOptions options;
    options.to_the_end = true;
    options.log = &log;
    options.configuration = configuration_;
    auto result = simulation::run_scenario(std::move(scenario), options);
    if (!result) throw std::runtime_error(result.error().message);
    for (const auto& refused : result->refused) throw std::runtime_error(refused);
    start_ = result->start;
  }

  std::string configuration_;
  Time start_;
  std::optional<replay::Past> past_;
};

}  // namespace hindsight::projections
