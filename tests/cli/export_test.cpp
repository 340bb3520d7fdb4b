// `hindsight export --format trace`: queues, Workloads and slices are tracks that a viewer can draw (issue 19, section 4).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/in_process.hpp"

namespace hindsight::test {
namespace {

/// An elastic job of two pods in a queue of four cpu, which grows to four pods while `later` holds two cpu until second 60: its second
/// slice waits while the first one runs.
const std::string growing = R"(apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: growing}
spec:
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: cq}
      spec:
        namespaceSelector: {}
        resourceGroups:
        - coveredResources: [cpu]
          flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}
    - apiVersion: batch/v1
      kind: Job
      metadata:
        name: later
        namespace: default
        annotations: {hindsight.dev/run-seconds: '60'}
        labels: {kueue.x-k8s.io/queue-name: lq}
      spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}}}
    - apiVersion: batch/v1
      kind: Job
      metadata:
        name: grows
        namespace: default
        annotations: {hindsight.dev/run-seconds: '120', kueue.x-k8s.io/elastic-job: 'true'}
        labels: {kueue.x-k8s.io/queue-name: lq}
      spec:
        suspend: true
        parallelism: 2
        completions: 8
        template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
  - at: 20s
    patch:
    - {kind: Job, namespace: default, name: grows, merge: {spec: {parallelism: 4}}}
)";

TEST(ExportedTrace, HasQueuesWorkloadsAndSlicesAsTracks) {
  const TemporaryFolder folder;
  const std::string file = folder.file("growing.db");
  const auto made =
      say({"simulate", write(folder.file("growing.yaml"), growing), "--feature-gates", "ElasticJobsViaWorkloadSlices=true", "--log", file});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto said = say(on(file, {"export", "--format", "trace"}));
  ASSERT_EQ(said.status, 0) << said.err;
  const Json events = Json::parse(said.out);

  std::map<int, std::string> queues;
  std::map<std::pair<int, int>, std::string> threads;
  std::map<std::pair<int, int>, int> places;
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> stretches;
  std::map<std::string, std::map<std::int64_t, Json>> counters;
  std::map<std::int64_t, std::map<std::string, int>> changes;  // told anew from the stretches
  for (const Json& e : events) {
    const int pid = e["pid"];
    if (e["name"] == "process_name") queues[pid] = e["args"]["name"];
    if (e["ph"] == "C") {
      EXPECT_TRUE(counters[queues[pid]].emplace(e["ts"].get<std::int64_t>(), e["args"]).second) << "told twice for one moment";
    }
    if (!e.contains("tid")) continue;
    const std::pair<int, int> track{pid, e["tid"]};
    if (e["name"] == "thread_name") threads[track] = e["args"]["name"];
    if (e["name"] == "thread_sort_index") places[track] = e["args"]["sort_index"];
    if (e["ph"] != "X") continue;
    const std::int64_t begin = e["ts"], length = e["dur"];
    stretches[track].emplace_back(begin, begin + length);
    const std::string phase = e["name"];
    ++changes[begin][phase];
    if (!e["args"].contains("open")) --changes[begin + length][phase];
  }
  ASSERT_EQ(queues.size(), 1U);
  EXPECT_EQ(queues.begin()->second, "cq");
  ASSERT_EQ(threads.size(), 3U) << said.out;  // `later`, and two slices

  // The slices are beside each other, and are named after their origin.
  std::vector<std::pair<int, std::string>> of_grows;
  for (const auto& [track, name] : threads)
    if (name.starts_with("default/job-grows")) of_grows.emplace_back(places.at(track), name);
  ASSERT_EQ(of_grows.size(), 2U);
  EXPECT_EQ(std::abs(of_grows[0].first - of_grows[1].first), 1);
  const auto& [shorter, longer] = std::minmax(of_grows[0].second, of_grows[1].second);
  EXPECT_TRUE(longer.starts_with(shorter + " job-grows")) << shorter << " / " << longer;

  // They overlap in time; on one track nothing does.
  std::int64_t begin = 0, end = 0;
  bool overlap = false;
  for (auto& [track, list] : stretches) {
    std::ranges::sort(list);
    for (std::size_t i = 1; i < list.size(); ++i) EXPECT_LE(list[i - 1].second, list[i].first) << threads[track];
    if (!threads[track].starts_with("default/job-grows")) continue;
    overlap = overlap || (end > list.front().first && begin < list.back().second);
    begin = list.front().first;
    end = list.back().second;
  }
  EXPECT_TRUE(overlap);

  // The counter of the queue says at each moment what its tracks say.
  std::map<std::string, int> now;
  ASSERT_EQ(counters.size(), 1U);
  const auto& told = counters.begin()->second;
  EXPECT_EQ(told.size(), changes.size());
  for (const auto& [at, by_phase] : changes) {
    for (const auto& [phase, change] : by_phase) now[phase] += change;
    const auto it = told.find(at);
    ASSERT_NE(it, told.end()) << at;
    for (const auto& [phase, count] : now) EXPECT_EQ(it->second[phase], count) << phase << " at " << at;
  }
}

}  // namespace
}  // namespace hindsight::test
