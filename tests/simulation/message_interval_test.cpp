// How often the messages of waiting Workloads are written decides nothing: the same decisions at the same moments, fewer writes and fewer
// records, and in the end every Workload says what the state says.

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/json.hpp"
#include "tests/simulation/mortal_plane.hpp"

namespace hindsight::simulation {
namespace {

using connectors::Json;

/// Two queues of one cohort, and jobs of many sizes that end every few seconds: who waits lacks another amount each time.
connectors::manifests::Scenario many_sizes(const std::string& messages = "") {
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
)";
  for (const std::string queue : {"a", "b"})
    text += "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: " + queue +
            "}\nspec:\n  cohortName: all\n  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [cpu]\n"
            "    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 8}]}]\n"
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: " +
            queue + ", namespace: default}\nspec: {clusterQueue: " + queue + "}\n";
  for (int i = 0; i < 60; ++i)
    text += "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j" + std::to_string(i) +
            "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '" + std::to_string(20 + i * 7 % 23) +
            "', hindsight.dev/arrive-seconds: '" + std::to_string(i) + "'}\n  labels: {kueue.x-k8s.io/queue-name: " + (i % 2 ? "a" : "b") +
            "}\nspec:\n  suspend: true\n  parallelism: 1\n  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      "
            "containers:\n      - {name: c, image: i, resources: {requests: {cpu: '" +
            std::to_string(1 + i % 9) + "'}}}\n";
  // This one asks for more than there is and waits to the end.
  text +=
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: last, namespace: default, labels: {kueue.x-k8s.io/queue-name: a}}\n"
      "spec:\n  suspend: true\n  parallelism: 1\n  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      "
      "containers:\n      - {name: c, image: i, resources: {requests: {cpu: '17'}}}\n";
  auto input = connectors::manifests::read_text(text, "test.yaml");
  if (!input) throw std::runtime_error(input.error().message);
  auto out = connectors::simulated::scenario_of(std::move(input->manifests), "test");
  if (!messages.empty()) out.config = Json{{"hindsight", {{"messageInterval", messages}}}};
  return out;
}

struct LoadPlayed {
  std::vector<std::string> decisions;           ///< Each with its moment, but for the sequences of records.
  std::map<std::string, std::string> statuses;  ///< Name of a Workload → its conditions in the cluster.
  std::uint64_t records = 0, echoes = 0;
};

LoadPlayed play_load(Duration interval, const std::string& configured = "") {
  LoadPlayed out;
  ScenarioOptions options;
  options.to_the_end = true;
  options.message_interval = interval;
  options.on_record = [&](const RecordView& record, const Engine&) {
    if (const auto* o = std::get_if<Observation>(&record.body)) out.echoes += std::holds_alternative<WorkloadObserved>(*o) ? 1 : 0;
    if (!std::holds_alternative<Decisions>(record.body)) return;
    Json told = Json::parse(events::to_json(record));
    for (const char* counted : {"sequence", "cause"}) told.erase(counted);
    told["body"].erase("base");
    for (auto& event : told["body"]["events"]) event.erase("scanGeneration");
    out.decisions.push_back(told.dump());
  };
  const auto result = run_scenario(many_sizes(configured), options);
  if (!result) throw std::runtime_error(result.error().message);
  out.records = result->records;
  for (const auto& [key, stored] : result->world->simulated().store().of_kind("Workload"))
    out.statuses[key] = stored->status().value("conditions", Json::array()).dump();
  return out;
}

constexpr Duration to_the_end = Duration{std::numeric_limits<std::int64_t>::max()};

// BA-84, BA-93, D10: decisions do not depend on it.
TEST(MessageInterval, ChangesNoDecisionAndInTheEndNoStatus) {
  const auto each = play_load(Duration{0});
  ASSERT_GT(each.decisions.size(), 150U);
  std::uint64_t echoes_before = each.echoes;
  for (const Duration interval : {Duration::seconds(5), Duration::seconds(60), to_the_end}) {
    const auto paced = play_load(interval);
    EXPECT_EQ(paced.decisions, each.decisions);
    EXPECT_EQ(paced.statuses, each.statuses);
    EXPECT_LT(paced.echoes, echoes_before) << "the longer the interval, the fewer writes";
    echoes_before = paced.echoes;
  }
  // Of each job: seen first, why it waits, admitted, ready and finished.
  EXPECT_LT(echoes_before, 61U * 8);
}

// hindsight.messageInterval of a scenario takes the place of what the command says.
TEST(MessageInterval, TheConfigurationSaysIt) {
  EXPECT_EQ(play_load(to_the_end, "0s").echoes, play_load(Duration{0}).echoes);
  EXPECT_EQ(play_load(Duration{0}, "5s").echoes, play_load(Duration::seconds(5)).echoes);
}

// A message that was postponed when the process was killed is written by its successor, at whichever record that was.
TEST(MessageInterval, ARestartLosesNoMessage) {
  const auto shown = [](MortalPlane& plane) {
    std::map<std::string, std::string> out;
    for (int i = 0; i < 8; ++i) {
      auto view = plane.view_of("w" + std::to_string(i));
      out["w" + std::to_string(i)] = view.dump();
    }
    return out;
  };
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: default}
spec: {clusterQueue: a}
)";
  const auto job = [](const std::string& name, int cpu, int arrives, int runs) {
    return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: a}, annotations: {hindsight.dev/arrive-seconds: '" +
           std::to_string(arrives) + "', hindsight.dev/run-seconds: '" + std::to_string(runs) +
           "'}}\nspec:\n  suspend: true\n  parallelism: 1\n  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      "
           "containers:\n      - {name: c, image: i, resources: {requests: {cpu: '" +
           std::to_string(cpu) + "'}}}\n";
  };
  for (int i = 0; i < 7; ++i) text += job("r" + std::to_string(i), 1, 0, i == 0 ? 100'000 : 10 + i);
  for (int i = 0; i < 8; ++i) text += job("w" + std::to_string(i), 8, 1 + i, 1000);
  // Steps long after all that, so that what was postponed has its time.
  for (int i = 0; i < 3; ++i)
    text += "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: late-" + std::to_string(i) +
            ", annotations: {hindsight.dev/arrive-seconds: '" + std::to_string(60 + i * 10) + "'}}\n";
  const auto story = [&] {
    auto input = connectors::manifests::read_text(text, "test.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    return connectors::simulated::scenario_of(std::move(input->manifests), "test");
  };
  MortalPlane whole(story(), {}, {}, {}, Duration::seconds(20));
  whole.play();
  const auto wanted = shown(whole);
  ASSERT_NE(wanted.at("w0").find("1 more needed"), std::string::npos) << wanted.at("w0");
  for (std::uint64_t record = 1; record <= whole.records(); record += 7)
    for (const bool after_writes : {false, true}) {
      MortalPlane plane(story(), {}, {record, after_writes, 0}, {}, Duration::seconds(20));
      plane.play();
      EXPECT_EQ(shown(plane), wanted) << "killed after record " << record << (after_writes ? " and its writes" : "");
      EXPECT_TRUE(plane.died());
    }
}

}  // namespace
}  // namespace hindsight::simulation
