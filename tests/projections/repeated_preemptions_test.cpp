// What is told of workloads that keep preempting the same others (base-admission D13).

#include "projections/repeated_preemptions.hpp"

#include <algorithm>

#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

/// D13: `large` needs the room of three, of which `slow` never leaves; the victim, which leaves at once, is back before that.
constexpr const char* waits = R"(
apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: again}
spec:
  config: {fairSharing: {}}
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: a}
      spec:
        namespaceSelector: {}
        cohortName: all
        fairSharing: {weight: '0'}
        preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: LowerPriority}
        resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]}]
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: b}
      spec:
        namespaceSelector: {}
        cohortName: all
        resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 1}]}]}]
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-a, namespace: default}, spec: {clusterQueue: a}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-b, namespace: default}, spec: {clusterQueue: b}}
  - at: 1s
    apply:
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: Workload
      metadata: {name: slow, namespace: default}
      spec:
        queueName: lq-a
        podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}]
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: Workload
      metadata: {name: stays, namespace: default}
      spec:
        queueName: lq-b
        podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}]
  - at: 2s
    apply:
    - apiVersion: batch/v1
      kind: Job
      metadata: {name: own, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-a}, annotations: {hindsight.dev/run-seconds: '60'}}
      spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}}}
  - at: 3s
    apply:
    - apiVersion: batch/v1
      kind: Job
      metadata: {name: victim, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-b}, annotations: {hindsight.dev/run-seconds: '60'}}
      spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}}}
  - at: 5s
    apply:
    - apiVersion: batch/v1
      kind: Job
      metadata: {name: large, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-a, kueue.x-k8s.io/priority-class: high}, annotations: {hindsight.dev/run-seconds: '60'}}
      spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}}
)";

/// D13: `small-or-large` preempts `victim` for four pods, for which its queue has quota, and then asks for six; fair
/// sharing would serve the victim first.
constexpr const char* gets_in = R"(
apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: again}
spec:
  config: {fairSharing: {}}
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: a}
      spec:
        namespaceSelector: {}
        cohortName: all
        preemption: {reclaimWithinCohort: Any}
        resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]}]
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: b}
      spec:
        namespaceSelector: {}
        cohortName: all
        resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 2}]}]}]
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-a, namespace: default}, spec: {clusterQueue: a}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq-b, namespace: default}, spec: {clusterQueue: b}}
  - at: 1s
    apply:
    - apiVersion: batch/v1
      kind: Job
      metadata:
        name: victim
        namespace: default
        labels: {kueue.x-k8s.io/queue-name: lq-b}
        annotations: {hindsight.dev/run-seconds: '60'}
      spec:
        suspend: true
        template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '3'}}}]}}
  - at: 5s
    apply:
    - apiVersion: batch/v1
      kind: Job
      metadata:
        name: small-or-large
        namespace: default
        labels: {kueue.x-k8s.io/queue-name: lq-a}
        annotations: {kueue.x-k8s.io/job-min-parallelism: '4', hindsight.dev/run-seconds: '60'}
      spec:
        suspend: true
        parallelism: 6
        completions: 6
        template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}
)";

bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(), [&](const auto& l) { return l.find(part) != std::string::npos; });
}

int preemptions_of(std::string_view victim, const RecordView& r) {
  const auto* d = std::get_if<Decisions>(&r.body);
  if (d == nullptr) return 0;
  return static_cast<int>(std::count_if(d->events.begin(), d->events.end(), [&](const Event& e) {
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    return p != nullptr && p->workload.name.find(victim) != std::string_view::npos;
  }));
}

// D13: three times, then it is told: by why, by the condition, as a number, and once in words
TEST(RepeatedPreemptionsTold, ByWhyTheConditionAMetricAndANotice) {
  Played run(waits);
  const events::Position then = run.at(30);
  int preemptions = 0;
  std::vector<std::string> notices;
  Metrics metrics({});
  replay::Past past(run.log, "default");
  past.look_on({}, [&](events::Position, const RecordView& r) {
    metrics.record(r, past.driver());
    for (auto& line : repeated_preemption_notices(r, past.driver())) notices.push_back(std::move(line));
    preemptions += preemptions_of("victim", r);
  });
  ASSERT_TRUE(past.fold_to(then));
  EXPECT_EQ(preemptions, 3);
  EXPECT_NE(metrics.text(past.driver()).find("hindsight_repeated_preemptions{replica_role=\"standalone\"} 1"), std::string::npos);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].starts_with("Workload default/job-large")) << notices[0];
  EXPECT_NE(notices[0].find("3 times in a row, which came back each time: it goes before it now, or leaves it alone"), std::string::npos)
      << notices[0];

  const Why why = run.why("job/large", then);
  EXPECT_EQ(why.phase, Phase::pending);
  EXPECT_NE(why.message.find(". Not preempting 1 workload(s) again, which came back each time"), std::string::npos) << why.message;
  EXPECT_TRUE(mentions(why.preemption, "it has preempted default/job-victim")) << to_text(why);
  EXPECT_TRUE(mentions(why.preemption, "3 times in a row, which came back each time: it does not again until something else changes"));
}

// D13: what it asks for is free after the third time, and it goes first
TEST(RepeatedPreemptionsTold, NotOfOneThatGotIn) {
  Played run(gets_in);
  int preemptions = 0;
  replay::Past past(run.log, "default");
  past.look_on({}, [&](events::Position, const RecordView& r) { preemptions += preemptions_of("victim", r); });
  ASSERT_TRUE(past.fold_to(run.at(30)));
  EXPECT_EQ(preemptions, 3);
  EXPECT_EQ(run.why("job/small-or-large", run.at(30)).phase, Phase::admitted);
  EXPECT_EQ(run.why("job/victim", run.at(30)).phase, Phase::pending);
}

// D13: the end of the victim is news, and of all others
TEST(RepeatedPreemptionsTold, NoMoreWhenThereIsNews) {
  Played run(waits);
  EXPECT_NE(run.metrics().find("hindsight_repeated_preemptions{replica_role=\"standalone\"} 0"), std::string::npos);
}

// An object that has gone is told by its uid
TEST(RepeatedPreemptionsTold, OfAVictimThatHasGone) {
  Played run(waits);
  EXPECT_EQ(preempted_how_often(run.state(run.end()), {"gone", 3, 3, 1, true}), "of uid gone 3 times in a row");
  EXPECT_EQ(preempted_how_often(run.state(run.end()), {"gone", 1, 12, 1, true}), "of uid gone 12 times in all");
}

}  // namespace
}  // namespace hindsight::projections
