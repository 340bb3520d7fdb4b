// Jobs in virtual time, from manifest to end.

#include <gtest/gtest.h>

#include "admission/queue/cluster_queue.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/memory_log.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* queues = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
spec: {nodeLabels: {pool: a}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: default}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
)";

std::string job(const std::string& name, int cpu, int run_seconds, int arrives, const std::string& priority = "") {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name +
         "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '" + std::to_string(run_seconds) +
         "', hindsight.dev/arrive-seconds: '" + std::to_string(arrives) + "'}\n  labels: {kueue.x-k8s.io/queue-name: lq" +
         (priority.empty() ? "" : ", kueue.x-k8s.io/priority-class: " + priority) +
         "}\nspec:\n  suspend: true\n  parallelism: 1\n  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      "
         "containers:\n      - {name: c, image: i, resources: {requests: {cpu: '" +
         std::to_string(cpu) + "'}}}\n";
}

ScenarioResult play(const std::string& text, events::Log* log = nullptr, ScenarioOptions options = {}) {
  auto input = connectors::manifests::read_text(text, "test.yaml");
  if (!input) throw std::runtime_error(input.error().message);
  options.to_the_end = true;
  options.log = log;
  auto result = run_scenario(connectors::simulated::scenario_of(std::move(input->manifests), "test"), options);
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

std::string condition(const ScenarioResult& r, const std::string& job_name, const std::string& type) {
  for (const auto& [key, stored] : r.world->simulated().store().of_kind("Workload")) {
    if (key.find("job-" + job_name + "-") == std::string::npos) continue;
    for (const auto& c : stored->status().value("conditions", connectors::Json::array()))
      if (c["type"] == type) return c["status"].get<std::string>() + " " + c["reason"].get<std::string>();
    return "absent";
  }
  return "no workload";
}

// BA-41, BA-169, BA-173: a Job is admitted, runs, finishes, and frees its quota for the next
TEST(RunScenario, JobsRunOneAfterTheOther) {
  const auto r = play(std::string(queues) + job("a", 3, 60, 0) + job("b", 3, 60, 1));
  EXPECT_EQ(condition(r, "a", "Finished"), "True Succeeded");
  EXPECT_EQ(condition(r, "b", "Finished"), "True Succeeded");
  EXPECT_GE((r.end - r.start).micros, Duration::seconds(120).micros);
  EXPECT_EQ(r.engine->driver().queue(Symbol("cq"))->counters().reserving, 0);
  EXPECT_TRUE(r.notices.empty());
}

// BA-101, BA-116, BA-131, BA-176: a preempted Job stops, its template is as before, and it runs again later
TEST(RunScenario, APreemptedJobComesBack) {
  const auto r = play(std::string(queues) + job("low", 4, 60, 0) + job("urgent", 4, 30, 10, "high"));
  EXPECT_EQ(condition(r, "low", "Finished"), "True Succeeded");
  EXPECT_EQ(condition(r, "urgent", "Finished"), "True Succeeded");
  EXPECT_EQ(condition(r, "low", "Preempted"), "False QuotaReserved");
  EXPECT_GE((r.end - r.start).micros, Duration::seconds(100).micros);
}

// BA-84: what can never fit says so and holds up nobody
TEST(RunScenario, AJobTooLargeWaitsForEver) {
  const auto r = play(std::string(queues) + job("huge", 40, 10, 0) + job("small", 1, 10, 1));
  EXPECT_EQ(condition(r, "huge", "QuotaReserved"), "False ExceedsMaxQuota");
  EXPECT_EQ(condition(r, "small", "Finished"), "True Succeeded");
}

// the same input gives the same records and the same state
// BA-43: what LimitRanges and RuntimeClasses add counts in virtual time as it does on a cluster
TEST(RunScenario, DefaultsAndOverheadOfTheNamespaceCount) {
  const std::string defaults = R"(---
apiVersion: v1
kind: LimitRange
metadata: {name: sizes, namespace: default}
spec: {limits: [{type: Container, defaultRequest: {cpu: "2"}}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandboxed}
handler: sandboxed
overhead: {podFixed: {cpu: "1"}}
)";
  std::string asks_nothing = job("a", 1, 60, 0);
  asks_nothing.replace(asks_nothing.find("resources: {requests: {cpu: '1'}}"), 33, "args: []");
  asks_nothing.replace(asks_nothing.find("restartPolicy: Never"), 20, "restartPolicy: Never\n      runtimeClassName: sandboxed");
  const auto r = play(std::string(queues) + defaults + asks_nothing + job("b", 2, 60, 1));
  EXPECT_EQ(condition(r, "b", "Finished"), "True Succeeded");
  EXPECT_GE((r.end - r.start).micros, Duration::seconds(120).micros) << "3 and 2 of 4 cores do not fit at once";
}

// A job that does not say how long it runs holds its quota to the end, which comes when nobody else is left that ends.
TEST(RunScenario, AJobWithoutATimeRunsOn) {
  std::string endless = job("a", 3, 60, 0);
  endless.replace(endless.find("hindsight.dev/run-seconds: '60'"), 31, "example.com/note: none");
  const auto r = play(std::string(queues) + endless + job("b", 3, 60, 1) + job("c", 1, 3'000'000, 1));
  EXPECT_EQ(condition(r, "a", "PodsReady"), "True Started");
  EXPECT_EQ(condition(r, "a", "Evicted"), "absent");
  EXPECT_EQ(condition(r, "b", "Admitted"), "False NoReservation");
  EXPECT_EQ(condition(r, "c", "Finished"), "True Succeeded");
  EXPECT_LT(r.records, 100U);
}

// Pods of which nobody says that they are ready: an eviction follows the other, and no run waits for ever for that to change.
TEST(RunScenario, WhatOnlyGoesRoundInCirclesEnds) {
  std::string endless = job("a", 3, 60, 0);
  endless.replace(endless.find("hindsight.dev/run-seconds: '60'"), 31, "example.com/note: none");
  auto input = connectors::manifests::read_text(std::string(queues) + endless, "test.yaml");
  ASSERT_TRUE(input);
  auto scenario = connectors::simulated::scenario_of(std::move(input->manifests), "test");
  scenario.runs_every_job = false;
  ScenarioOptions options;
  options.to_the_end = true;
  options.configuration = R"({"waitForPodsReady":{"timeout":"5m"}})";
  const auto r = run_scenario(std::move(scenario), options);
  ASSERT_TRUE(r);
  EXPECT_GE((r->end - r->start).micros, Duration::seconds(12 * 3600).micros);
  EXPECT_LE((r->end - r->start).micros, Duration::seconds(24 * 3600 + 1).micros);
}

TEST(RunScenario, TwoRunsAgreeToTheLastByte) {
  const std::string text = std::string(queues) + job("low", 4, 60, 0) + job("urgent", 4, 30, 10, "high") + job("huge", 40, 10, 0);
  events::MemoryLog first, second;
  const auto a = play(text, &first);
  const auto b = play(text, &second);
  EXPECT_EQ(a.state_hash, b.state_hash);
  ASSERT_EQ(first.last().value(), second.last().value());
  events::RecordBatch x, y;
  ASSERT_TRUE(first.read(1, {}, x));
  ASSERT_TRUE(second.read(1, {}, y));
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(std::ranges::equal(x[i].bytes, y[i].bytes)) << i;
}

// D15: on a server that takes its time what is decided late is decided better. Forty small jobs come before a large one that preempts all
// of them that were admitted by then.
TEST(RunScenario, CyclesWaitForABusyServer) {
  std::string text = queues;
  text.replace(text.find("nominalQuota: 4"), 15, "nominalQuota: 40");
  for (int i = 0; i < 40; ++i) text += job("low" + std::to_string(i), 1, 30, 0);
  text += job("large", 40, 30, 1, "high");
  struct Run {
    std::size_t preempted = 0, limits = 0, waits = 0;
    ScenarioResult result;
  };
  const auto run = [&](int ahead) {
    Run out;
    ScenarioOptions options;
    options.server = {Duration::millis(50), 2};
    options.configuration = R"({"hindsight": {"admissionsAhead": )" + std::to_string(ahead) + "}}";
    options.on_record = [&out](const RecordView& r, const Engine& engine) {
      out.waits += engine.driver().domain().waits_for_writes() ? 1 : 0;
      if (const auto* o = std::get_if<Observation>(&r.body)) out.limits += std::holds_alternative<WriteLimitObserved>(*o) ? 1 : 0;
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const Event& e : d->events) out.preempted += std::holds_alternative<WorkloadPreempted>(e) ? 1 : 0;
    };
    out.result = play(text, nullptr, options);
    return out;
  };
  const Run late = run(2), at_once = run(0);
  EXPECT_EQ(late.limits, 1U);
  EXPECT_GT(late.waits, 10U);
  EXPECT_EQ(at_once.waits, 0U);
  EXPECT_GT(at_once.preempted, 2 * late.preempted);
  EXPECT_LT(late.result.end, at_once.result.end);
  for (const Run* r : {&late, &at_once}) {
    EXPECT_EQ(condition(r->result, "large", "Finished"), "True Succeeded");
    for (int i = 0; i < 40; ++i) EXPECT_EQ(condition(r->result, "low" + std::to_string(i), "Finished"), "True Succeeded") << i;
  }
}

// A write takes its time, and nothing else does: without a pace everything that a moment entails happens at that moment (D10).
TEST(RunScenario, AWriteTakesAsLongAsItIsToldTo) {
  ScenarioOptions options;
  options.server = {Duration::seconds(2), 1};
  const auto slow = play(std::string(queues) + job("a", 3, 60, 0), nullptr, options);
  EXPECT_EQ(condition(slow, "a", "Finished"), "True Succeeded");
  EXPECT_GE((slow.end - slow.start).micros, Duration::seconds(66).micros) << "the Workload, its admission and the start, 2 s each";
  EXPECT_LE((play(std::string(queues) + job("a", 3, 60, 0)).end - slow.start).micros, Duration::seconds(61).micros);
}

}  // namespace
}  // namespace hindsight::simulation
