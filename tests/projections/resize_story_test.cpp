// What the read models tell of an elastic job that grows while it runs (77): its history, and why its new slice waits.

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
  EXPECT_EQ(told, Lines{});
  Lines of_first;
  for (const auto& line : run.story(names[0].substr(8))) of_first.push_back(with(line, names));
  EXPECT_EQ(of_first, Lines{});
}

// EJ-138
TEST_F(Resize, SaysWhyTheNewSliceWaits) {
  const auto names = slices();
  ASSERT_EQ(names.size(), 2U);
  const auto parked = run.at(12);
  EXPECT_EQ(with(to_text(run.why(names[1].substr(8), parked)), names), "");
  EXPECT_EQ(with(to_text(run.why("job/train", run.end())), names), "");
}

}  // namespace
}  // namespace hindsight::projections
