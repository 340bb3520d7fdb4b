// Jobs with sized containers while things break: the process is killed at any record, and one of several API servers does not take what the
// others do (5440 §3.D, §3.G).

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/resource_story.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* sizing_on = R"({"featureGates": {"AdjustResourcesOnAdmission": true}})";

/// Two gpus are there for "train", which asks for four and may have one to four.
Story two_gpus() {
  Story s;
  s.patch("ClusterQueue", "cq",
          "{spec: {resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], flavors: [{name: default, resources: [{name: cpu, "
          "nominalQuota: 100}, {name: nvidia.com/gpu, nominalQuota: 2}]}]}]}}");
  s.step().apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, annotations: {hindsight.dev/run-seconds: '1000', "
      "hindsight.dev/resource-policy: Shrink, hindsight.dev/resource-bounds: "
      "'{\"t\":{\"nvidia.com/gpu\":{\"min\":\"1\",\"max\":\"4\",\"step\":\"1\"}}}'}, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: "
      "{suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: t, image: i, resources: "
      "{requests: {cpu: '8', nvidia.com/gpu: '4'}, limits: {cpu: '8', nvidia.com/gpu: '4'}}}]}}}}");
  return s;
}

/// "urgent" takes both gpus for fifteen seconds.
void add_urgent(Story& s) {
  s.apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: urgent, namespace: default, annotations: {hindsight.dev/run-seconds: '15'}, "
      "labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: high}}, spec: {suspend: true, parallelism: 1, completions: "
      "1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: '2'}, limits: "
      "{nvidia.com/gpu: '2'}}}]}}}}");
}

std::string gpus_of(MortalPlane& plane) {
  return plane.cluster()
      .find("Job", "default", "train")
      ->spec()["template"]["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"]
      .get<std::string>();
}

/// Which of the moments of MR-82 a record is.
class Moments {
 public:
  void see(const RecordView& record) {
    if (const auto* decisions = std::get_if<Decisions>(&record.body)) {
      for (const Event& e : decisions->events) {
        if (const auto* q = std::get_if<QuotaReserved>(&e); q != nullptr && !q->plan.empty()) seen_.insert("ResourcePlanDecided");
        if (const auto* v = std::get_if<WorkloadRevised>(&e); v != nullptr && v->pod_sets) seen_.insert("UserResourcesChanged");
        if (std::holds_alternative<WorkloadPreempted>(e) || std::holds_alternative<WorkloadEvicted>(e)) seen_.insert("StopRequested");
      }
      return;
    }
    const auto* o = std::get_if<Observation>(&record.body);
    const auto* job = o == nullptr ? nullptr : std::get_if<JobObserved>(o);
    if (job == nullptr || job->meta.name != "train") return;
    if (job->stopping)  // suspended, and its template not restored yet
      seen_.insert(job->active ? "SuspendWritten" : "TemplateMutable");
    else if (!job->suspended)
      seen_.insert("JobStartWritten");
    else if (seen_.contains("TemplateMutable"))
      seen_.insert("RestoreWritten");
  }
  [[nodiscard]] const std::set<std::string>& seen() const { return seen_; }

 private:
  std::set<std::string> seen_;
};

// MR-83: the plan is decided, the job started, stopped, restored, changed by its user and started with another plan. Killed after any
// record of that, which are those of the seven moments and all between them, before or after what the record led to was written: the job
// ends in the same state, nothing is told twice, and one write more at most was made.
TEST(SizingRestarts, AKillAtAnyMomentLeadsToTheSameEnd) {
  Story s = two_gpus();
  s.step();
  add_urgent(s);
  s.step().step().step().workload("train", "{spec: {active: false}}");
  s.step().patch("Job", "train",
                 "{spec: {template: {spec: {containers: [{name: t, image: i, resources: {requests: {cpu: '8', nvidia.com/gpu: '3'}, "
                 "limits: {cpu: '8', nvidia.com/gpu: '3'}}}]}}}}");
  s.step().workload("train", "{spec: {active: true}}").step();
  connectors::simulated::JobSimulatorOptions jobs;
  jobs.failing_deletions = 1;  // so that the template is not mutable at once
  jobs.retry = Duration::seconds(3);
  const auto scenario = s.scenario();

  MortalPlane whole(scenario, sizing_on, {}, jobs);
  Moments moments;
  whole.on_record = [&](const RecordView& record) { moments.see(record); };
  whole.play();
  ASSERT_EQ(moments.seen(), (std::set<std::string>{"ResourcePlanDecided", "JobStartWritten", "StopRequested", "SuspendWritten",
                                                   "TemplateMutable", "RestoreWritten", "UserResourcesChanged"}));
  ASSERT_EQ(whole.refused, Lines{});
  ASSERT_EQ(whole.notices, Lines{});
  EXPECT_EQ(gpus_of(whole), "2");
  EXPECT_EQ(whole.count("Job train ResourcesAdjusted"), 3U) << "at the start, after urgent, and with the user's three";
  EXPECT_EQ(whole.count("Job train ResourcesRestored"), 2U);
  const Json wanted = whole.view_of("train");

  constexpr std::uint64_t every = as_much_as<std::uint64_t>(1, 6);
  for (std::uint64_t record = 1; record <= whole.records(); record += every)
    for (const bool after_writes : {false, true}) {
      const std::string when = "killed after record " + std::to_string(record) + (after_writes ? " and its writes" : "");
      MortalPlane plane(scenario, sizing_on, {record, after_writes}, jobs);
      plane.play();
      EXPECT_EQ(plane.view_of("train"), wanted) << when;
      EXPECT_LE(plane.job_writes(), whole.job_writes() + 1) << when;
      EXPECT_EQ(plane.notices, Lines{}) << when << ": a write was refused";
      for (const char* reason : {"CreatedWorkload", "Started", "Stopped", "ResourcesAdjusted", "ResourcesRestored", "UpdatedWorkload"}) {
        const std::string event = std::string("Job train ") + reason;
        EXPECT_EQ(plane.count(event), whole.count(event)) << when << ": " << reason;
      }
    }
}

// MR-80: of several API servers one does not take resources yet. Two refusals and then the server that does: the job is started with its
// plan, each time anew; only three refusals in a row would count (MR-51). The tries are ever more rare.
TEST(SizingRestarts, SomeServersRefuseAndOthersDoNot) {
  Story s = two_gpus();
  s.step().step();
  add_urgent(s);
  s.step().step().step().step();
  MortalPlane plane(s.scenario(), sizing_on);
  std::vector<Time> tries;
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    const bool sizes = write.type->kind == "Job" && write.name == "train" && write.body.find("\"suspend\":false") != std::string::npos;
    if (!sizes) return std::nullopt;
    tries.push_back(now);
    if (tries.size() % 3 == 0) return std::nullopt;
    const connectors::Json said{{"kind", "Status"},
                                {"code", 422},
                                {"reason", "Invalid"},
                                {"message", "Job.batch \"train\" is invalid: spec.template: Invalid value: {}: field is immutable"}};
    return connectors::WriteAnswer{422, said.dump(), 0};
  };
  plane.play();
  EXPECT_EQ(plane.refused, Lines{});
  ASSERT_EQ(tries.size(), 6U) << "two starts, three tries each";
  for (const std::size_t start : {std::size_t{0}, std::size_t{3}}) {
    const Duration first = tries[start + 1] - tries[start], second = tries[start + 2] - tries[start + 1];
    EXPECT_GE(first, Duration::seconds(1));
    EXPECT_GT(second, first) << "it backs off";
  }
  EXPECT_EQ(gpus_of(plane), "2");
  EXPECT_FALSE(plane.cluster().find("Job", "default", "train")->spec()["suspend"].get<bool>());
  EXPECT_EQ(plane.count("Job train Started"), 2U);
  EXPECT_EQ(plane.count("Job train ResourcesAdjusted"), 2U);
  EXPECT_EQ(plane.count("Job train ResourceUpdateUnsupported"), 0U);
  EXPECT_EQ(plane.count("Job train ResourceUpdateRejected"), 0U);
  EXPECT_EQ(plane.notices.size(), 4U) << "each refusal is told";
}

}  // namespace
}  // namespace hindsight::simulation
