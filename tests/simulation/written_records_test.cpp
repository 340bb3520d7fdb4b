// Whoever keeps snapshots of a simulated log is given, with the records that it has taken, the state after the last of them (issue 20: a
// log of `hindsight simulate` has snapshots, so that its page is as quick as that of a control plane).

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {
namespace {

connectors::manifests::Scenario many_short_jobs() {
  std::string text =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: default}\n---\n"
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  namespaceSelector: {}\n  resourceGroups:\n"
      "  - coveredResources: [cpu]\n    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 8}]}]\n---\n"
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: a, namespace: default}\nspec: {clusterQueue: a}\n";
  for (int i = 0; i < 150; ++i)
    text += "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j" + std::to_string(i) +
            "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '9', hindsight.dev/arrive-seconds: '" + std::to_string(i) +
            "'}\n  labels: {kueue.x-k8s.io/queue-name: a}\nspec:\n  suspend: true\n  template:\n    spec:\n      restartPolicy: Never\n"
            "      containers:\n      - {name: c, image: i, resources: {requests: {cpu: 1}}}\n";
  auto input = connectors::manifests::read_text(text, "test.yaml");
  if (!input) throw std::runtime_error(input.error().message);
  return connectors::simulated::scenario_of(std::move(input->manifests), "test");
}

TEST(WrittenRecords, AreToldAsTheLogTakesThem) {
  events::MemoryLog log;
  std::vector<events::Position> told;
  ScenarioOptions options;
  options.to_the_end = true;
  options.log = &log;
  options.on_written = [&](events::Position position) {
    EXPECT_EQ(position, log.last().value()) << "it has taken them";
    told.push_back(position);
  };
  const auto played = run_scenario(many_short_jobs(), options);
  ASSERT_TRUE(played) << played.error().message;
  ASSERT_GE(told.size(), 3U) << played->records << " records";
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.back(), played->records) << "all have been written";

  // What a fold of them comes to is what was played.
  admission::LoopDriver fold([](Text json) { return events::read_settings(json); });
  events::RecordReader reader;
  events::RecordBatch batch;
  for (events::Position at = 0; at < told.back();) {
    ASSERT_TRUE(log.read(at + 1, {}, batch));
    ASSERT_FALSE(batch.empty());
    for (const auto& stored : batch) {
      const auto record = reader.read(stored.bytes);
      ASSERT_TRUE(record);
      ASSERT_TRUE(fold.apply(**record));
      at = stored.offset;
    }
  }
  EXPECT_EQ(fold.state_hash(), played->state_hash);
}

}  // namespace
}  // namespace hindsight::simulation
