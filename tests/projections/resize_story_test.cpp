// What the read models tell of an elastic job that grows while it runs (77): its history, and why its new slice waits.

#include <algorithm>

#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;

/// Two of six cores are taken when "train" asks for five in place of three; they become free after 20 s, and later it shrinks.
const std::string resized = R"(
apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: resized}
spec:
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}, spec: {}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 6}]}]}]}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}
    - {apiVersion: batch/v1, kind: Job, metadata: {name: other, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {hindsight.dev/run-seconds: '20'}}, spec: {suspend: true, parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}
    - {apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {kueue.x-k8s.io/elastic-job: 'true', hindsight.dev/run-seconds: '60'}}, spec: {suspend: true, parallelism: 3, completions: 100, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}
  - at: 10s
    patch:
    - {kind: Job, namespace: default, name: train, merge: {spec: {parallelism: 5}}}
  - at: 30s
    patch:
    - {kind: Job, namespace: default, name: train, merge: {spec: {parallelism: 4}}}
)";

class Resize : public ::testing::Test {
 protected:
  Played run{resized};

  /// The slices in the order of their creation, as "default/NAME".
  Lines slices() {
    Lines out;
    run.each([&](events::Position, const RecordView& r) {
      const auto* o = std::get_if<Observation>(&r.body);
      const auto* w = o == nullptr ? nullptr : std::get_if<WorkloadObserved>(o);
      if (w == nullptr || !w->elastic) return;
      const std::string name = "default/" + std::string(w->meta.name);
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    });
    return out;
  }
  static std::string with(std::string text, const Lines& slices) {
    for (std::size_t i = 0; i < slices.size(); ++i)
      for (const auto& name : {slices[i], slices[i].substr(8)})
        for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name))
          text.replace(at, name.size(), "SLICE" + std::to_string(i + 1));
    return text;
  }
};

// EJ-138: requested, pending since, replaced by, difference, in place: the whole resize under the job's name
TEST_F(Resize, IsTheStoryOfAJobWithSeveralWorkloads) {
  const auto names = slices();
  ASSERT_EQ(names.size(), 2U);
  Lines told;
  for (const auto& line : run.story("job/train")) told.push_back(with(line, names));
  EXPECT_EQ(told,
            (Lines{"observed Job default/train: created for LocalQueue lq, suspended: main x3 (cpu 1 each)",
                   "decided Job default/train: Workload SLICE1 requested in LocalQueue lq, priority 0: main x3",
                   "observed Workload SLICE1: created in LocalQueue lq of ClusterQueue cq, priority 0: main x3 (cpu 1 each)",
                   "decided Workload SLICE1: PodsReady=False: WaitForStart, Not all pods are ready or succeeded",
                   "decided Workload SLICE1: quota reserved in cq: main x3 default/cpu 3; admitted",
                   "observed Job default/train: started",
                   "observed Job default/train: pods are active",
                   "observed Job default/train: all pods are ready",
                   "decided Workload SLICE1: PodsReady=True: Started, All pods reached readiness and the workload is running",
                   "observed Job default/train: pod sets: main x5 (cpu 1 each)",
                   "observed Job default/train: pods are not ready",
                   "observed Job default/train: all pods are ready",
                   "decided Job default/train: Workload SLICE2 requested in LocalQueue lq, priority 0: main x5, to replace slice SLICE1",
                   "observed Workload SLICE2: created in LocalQueue lq of ClusterQueue cq, priority 0: main x5 (cpu 1 each)",
                   "decided Workload SLICE2: PodsReady=False: WaitForStart, Not all pods are ready or succeeded",
                   "decided Workload SLICE2: tried in cq: WaitingForQuota, couldn't assign flavors to pod set main: insufficient unused "
                   "quota for cpu in flavor default, 1 more needed; parked",
                   "observed Workload SLICE2: back in line: something changed in the cohort tree of cq",
                   "decided Workload SLICE2: quota reserved in cq: main x5 default/cpu 5, charged the difference to slice SLICE1; admitted",
                   "decided Workload SLICE1: replaced by slice SLICE2: main x5, difference cpu +2",
                   "decided Workload SLICE2: PodsReady=True: Started, All pods reached readiness and the workload is running",
                   "observed Job default/train: pod sets: main x4 (cpu 1 each)",
                   "decided Workload SLICE2: to follow its job: main x4, queue lq, priority 0",
                   "observed Workload SLICE2: pod sets: main x4 (cpu 1 each)",
                   "observed Job default/train: no pod is active",
                   "observed Job default/train: succeeded",
                   "decided Workload SLICE2: finished: Succeeded"}));
  // The history of one slice names the other where the two meet, and no decision is said to have been without effect.
  Lines of_first;
  for (const auto& line : run.story(names[0].substr(8))) of_first.push_back(with(line, names));
  for (const char* line :
       {"decided Workload SLICE2: quota reserved in cq: main x5 default/cpu 5, charged the difference to slice SLICE1; admitted",
        "decided Workload SLICE1: replaced by slice SLICE2: main x5, difference cpu +2"})
    EXPECT_EQ(std::count(of_first.begin(), of_first.end(), line), 1) << line;
  for (const auto& line : of_first) EXPECT_EQ(line.find("without effect"), std::string::npos) << line;
}

// EJ-138
TEST_F(Resize, SaysWhyTheNewSliceWaits) {
  const auto names = slices();
  ASSERT_EQ(names.size(), 2U);
  const std::string why = with(to_text(run.why(names[1].substr(8), run.at(12))), names);
  for (const char* line :
       {"- it is a slice that was requested at 2026-01-01T00:00:10Z to replace SLICE1, which runs on until then: main x3 -> main x5\n",
        "- it is charged the difference only: cpu +2\n",
        "  main      default   cpu            2         6      5          0           1         6   1 short: nominalQuota of ClusterQueue "
        "cq\n",
        "  if 1 of cpu in flavor default got free, for instance by the end of default/job-other-",
        "  if in ClusterQueue cq the nominalQuota of cpu in flavor default were 7 instead of 6\n"})
    EXPECT_NE(why.find(line), std::string::npos) << line << why;
}

}  // namespace
}  // namespace hindsight::projections
