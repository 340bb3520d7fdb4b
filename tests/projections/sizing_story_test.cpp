// What the log keeps of a Job that was sized at admission (5440): its history in words, and the plan in snapshots.

#include "admission/workload/workload_parent.hpp"
#include "replay/snapshots.hpp"
#include "replay/verify.hpp"
#include "tests/projections/simulated.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;

/// Two gpus are there for "train", which asks for four and may have one to four; after 20 s it gives way to "urgent" and comes back after
/// its end. Then its user deactivates it and asks for three.
const std::string sized = R"(
apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: sized}
spec:
  featureGates: {AdjustResourcesOnAdmission: true}
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}, spec: {}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: [gpu.example/a], flavors: [{name: default, resources: [{name: gpu.example/a, nominalQuota: 2}]}]}]}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}
    - apiVersion: batch/v1
      kind: Job
      metadata: {name: train, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {hindsight.dev/run-seconds: '500', hindsight.dev/resource-policy: Shrink, hindsight.dev/resource-bounds: '{"t":{"gpu.example/a":{"min":"1","max":"4","step":"1"}}}'}}
      spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: t, image: i, resources: {requests: {gpu.example/a: '4'}, limits: {gpu.example/a: '4'}}}]}}}
  - at: 20s
    apply:
    - {apiVersion: batch/v1, kind: Job, metadata: {name: urgent, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: high}, annotations: {hindsight.dev/run-seconds: '15'}}, spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {gpu.example/a: '2'}, limits: {gpu.example/a: '2'}}}]}}}}
  - at: 60s
    patch:
    - {kind: Workload, namespace: default, owner: {kind: Job, name: train}, merge: {spec: {active: false}}}
  - at: 80s
    patch:
    - {kind: Job, namespace: default, name: train, merge: {spec: {template: {spec: {containers: [{name: t, image: i, resources: {requests: {gpu.example/a: '3'}, limits: {gpu.example/a: '3'}}}]}}}}}
)";

/// The lines that have one of these parts, in order.
Lines with(const Lines& all, const Lines& parts) {
  Lines out;
  for (const auto& line : all)
    for (const auto& part : parts)
      if (line.find(part) != std::string::npos) {
        out.push_back(line);
        break;
      }
  return out;
}

/// From the first of these parts on: without the name of a Workload, which has a hash in it.
std::string from(const std::string& line, const Lines& parts) {
  for (const auto& part : parts)
    if (const auto at = line.find(part); at != std::string::npos) return line.substr(at);
  return line;
}

// MR-46, MR-82, MR-84: which resources the Job had, and by whose change, is told in the order in which it happened
TEST(SizingStory, TellsWhichResourcesTheJobHadAndWhy) {
  Played run(sized);
  Lines told;
  for (const auto& line : with(run.story("job/train"), {"sized", "its own again", "own resources again", "a 3 each)"}))
    told.push_back(from(line, {"quota reserved", "the job has its own", "Job default/train:", ": pod sets:"}));
  const Lines granted{"quota reserved in cq: main x1 default/gpu.example/a 2, sized: t gpu.example/a 4 -> 2; admitted",
                      "Job default/train: pod sets, sized at admission: main x1 (gpu.example/a 2 each)",
                      "Job default/train: pod sets, its own again: main x1 (gpu.example/a 4 each)"};
  Lines wanted = granted;
  wanted.emplace_back("the job has its own resources again; requeued");  // it gave way to "urgent"
  wanted.insert(wanted.end(), granted.begin(), granted.end());
  wanted.emplace_back("the job has its own resources again; not requeued yet");  // it was deactivated
  wanted.emplace_back("Job default/train: pod sets: main x1 (gpu.example/a 3 each)");
  wanted.emplace_back(": pod sets: main x1 (gpu.example/a 3 each)");  // and its Workload after it
  EXPECT_EQ(told, wanted);
}

/// What job "train" asks for in the state after a record.
std::string gpus_of(const StateView& state) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || !parent->job() || parent->job()->name != "train") continue;
    for (const auto& r : parent->job()->pod_sets.at(0).requests)
      if (r.resource.text() == "gpu.example/a") return format_amount(r.amount, r.resource.text());
  }
  return "";
}

/// The newest thing that the history up to a record tells of the job's resources.
std::string newest_change(Played& run, events::Position upto) {
  History history(parse_target("job/train", "default").value());
  replay::Past past(run.log, "default");
  past.look_on([&](events::Position, const RecordView& r) { history.before(r, past.driver()); },
               [&](events::Position offset, const RecordView& r) { history.after(offset, r, past.driver()); });
  EXPECT_TRUE(past.fold_to(upto));
  std::string out;
  for (const auto& e : history.entries()) {
    EXPECT_LE(e.offset, upto);
    if (e.object == "Job default/train" && e.text.starts_with("pod sets")) out = e.text;
  }
  return out;
}

struct Moment {
  int second;
  const char* gpus;
  const char* change;
};

// MR-84: time and again which resources the Job had then, and whether it was sized by us, given its own back, or changed by its user
TEST(SizingStory, TellsTheResourcesOfEachMomentAndWhoseTheyWere) {
  Played run(sized);
  for (const auto& [second, gpus, change] : {Moment{10, "2", "pod sets, sized at admission: main x1 (gpu.example/a 2 each)"},
                                             Moment{30, "4", "pod sets, its own again: main x1 (gpu.example/a 4 each)"},
                                             Moment{50, "2", "pod sets, sized at admission: main x1 (gpu.example/a 2 each)"},
                                             Moment{70, "4", "pod sets, its own again: main x1 (gpu.example/a 4 each)"},
                                             Moment{90, "3", "pod sets: main x1 (gpu.example/a 3 each)"}}) {
    const auto at = run.at(second);
    EXPECT_EQ(gpus_of(run.state(at)), gpus) << second;
    EXPECT_EQ(newest_change(run, at), change) << second;
  }
}

/// The records after which the Job's reservation carries a plan.
std::vector<events::Position> planned(Played& run) {
  std::vector<events::Position> out;
  replay::Past past(run.log, "default");
  past.look_on({}, [&](events::Position at, const RecordView&) {
    const auto w = find_workload(past.driver(), parse_target("job/train", "default").value());
    if (w && w->workload != nullptr && !w->workload->plan.empty()) out.push_back(at);
  });
  EXPECT_TRUE(past.fold_to(run.end()));
  return out;
}

// MR-46, MR-82: a reservation with a plan is whole in a snapshot, and what follows is decided alike from there
TEST(SizingStory, ASnapshotKeepsThePlanAndDecidesTheSame) {
  Played run(sized);
  const auto positions = planned(run);
  ASSERT_GT(positions.size(), 5U) << "the plan is in force for a while";
  for (const events::Position at : positions) {
    replay::Past past(run.log, "default");
    ASSERT_TRUE(past.fold_to(at));
    const auto snapshot = replay::encode_state(past.driver().entities(), "default", at, "test");
    ASSERT_TRUE(run.log.put_snapshot(snapshot.meta, snapshot.bytes));
    const auto report = replay::verify(run.log, "default", {.from_snapshot = at, .to = {}, .progress = {}});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->clean()) << at;
    EXPECT_EQ(report->from, at);
    EXPECT_TRUE(report->unread_snapshots.empty());
    ASSERT_TRUE(run.log.drop_snapshot(at, "default"));
  }
  const auto whole = replay::verify(run.log, "default", {});
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->clean());
}

}  // namespace
}  // namespace hindsight::projections
