// A circle of preemptions from manifest to end (base-admission D13): the one that makes room gets it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {
namespace {

/// `guest` borrows the core of f1, which `owner` may have back; but `owner` has borrowed much of f2 already, so that fair sharing serves
/// `guest` first whenever both wait.
constexpr const char* objects = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f1}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f2}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lender}
spec:
  namespaceSelector: {}
  cohortName: all
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: f2, resources: [{name: cpu, nominalQuota: 5}, {name: memory, nominalQuota: 1}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: guest}
spec:
  namespaceSelector: {}
  cohortName: all
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: f1, resources: [{name: cpu, nominalQuota: 0}, {name: memory, nominalQuota: 6, lendingLimit: 5}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: owner}
spec:
  namespaceSelector: {}
  cohortName: all
  preemption: {reclaimWithinCohort: LowerPriority}
  flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - {name: f1, resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 0, borrowingLimit: 4}]}
    - {name: f2, resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 2}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: guest, namespace: default}
spec: {clusterQueue: guest}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: owner, namespace: default}
spec: {clusterQueue: owner}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
)";

std::string job(const std::string& name, const std::string& queue, int cpu, int memory, int arrives, const std::string& labels = "") {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name +
         "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '100000', hindsight.dev/arrive-seconds: '" +
         std::to_string(arrives) + "'}\n  labels: {kueue.x-k8s.io/queue-name: " + queue + labels +
         "}\nspec:\n  suspend: true\n  parallelism: 1\n  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      "
         "containers:\n      - {name: c, image: i, resources: {requests: {cpu: '" +
         std::to_string(cpu) + "', memory: '" + std::to_string(memory) + "'}}}\n";
}

std::string admitted(const ScenarioResult& r, const std::string& job_name) {
  for (const auto& [key, stored] : r.world->simulated().store().of_kind("Workload")) {
    if (key.find("job-" + job_name + "-") == std::string::npos) continue;
    for (const auto& c : stored->status().value("conditions", connectors::Json::array()))
      if (c["type"] == "Admitted") return c["status"].get<std::string>();
  }
  return "no condition";
}

// D13: as fair-038, with nobody else before the victim in its queue
TEST(RepeatedPreemptionsOfJobs, ThePreemptorGetsTheRoomThatItMade) {
  const std::string high = ", kueue.x-k8s.io/priority-class: high";
  auto input = connectors::manifests::read_text(objects + job("big", "owner", 9, 3, 0, high) + job("victim", "guest", 1, 2, 10) +
                                                    job("preemptor", "owner", 1, 2, 20, high) + job("nobody", "nowhere", 1, 1, 60),
                                                "test.yaml");
  ASSERT_TRUE(input) << input.error().message;
  ScenarioOptions options;
  options.configuration = R"({"fairSharing":{}})";
  std::size_t preemptions = 0;
  options.on_record = [&](const RecordView& record, const Engine&) {
    const auto* decided = std::get_if<Decisions>(&record.body);
    if (decided == nullptr) return;
    preemptions += static_cast<std::size_t>(
        std::ranges::count_if(decided->events, [](const auto& event) { return std::holds_alternative<WorkloadPreempted>(event); }));
  };
  const auto r = run_scenario(connectors::simulated::scenario_of(std::move(input->manifests), "test"), options);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(admitted(*r, "big"), "True");
  EXPECT_EQ(admitted(*r, "preemptor"), "True");
  EXPECT_EQ(admitted(*r, "victim"), "False");
  EXPECT_EQ(preemptions, 3U) << "of which only the last could be made use of";
}

}  // namespace
}  // namespace hindsight::simulation
