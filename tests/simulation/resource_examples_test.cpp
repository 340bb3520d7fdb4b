// What the worked examples of 5440 §4 say beside what resources_test.cpp and sizing_test.cpp prove of them: messages, the way of a stop
// step by step, and who wins when a user changes a job at the wrong moment.

#include <algorithm>

#include <gtest/gtest.h>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "tests/simulation/resource_story.hpp"

namespace hindsight::simulation {
namespace {

using connectors::simulated::JobApiLevel;
using connectors::simulated::JobRules;

constexpr const char* gpu = "nvidia.com/gpu";

std::string gpu_quota(int gpus) {
  return "{spec: {resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], flavors: [{name: default, resources: [{name: cpu, "
         "nominalQuota: 100}, {name: nvidia.com/gpu, nominalQuota: " +
         std::to_string(gpus) + "}]}]}]}}";
}

/// Job "train" of E1: one pod of 8 cpu and 4 gpus, of which it may be given fewer.
void add_training(Story& s) {
  s.options.configuration = R"({"featureGates": {"AdjustResourcesOnAdmission": true}})";
  s.apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, annotations: {hindsight.dev/run-seconds: '1000', "
      "hindsight.dev/resource-policy: Shrink, hindsight.dev/resource-bounds: "
      "'{\"t\":{\"nvidia.com/gpu\":{\"min\":\"1\",\"max\":\"4\",\"step\":\"1\"}}}'}, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: "
      "{suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: t, image: i, resources: "
      "{requests: {cpu: '8', nvidia.com/gpu: '4'}, limits: {cpu: '8', nvidia.com/gpu: '4'}}}]}}}}");
}

Json resources_of(const Played& p) { return p.pod("train")["containers"][0]["resources"]; }
Json requests_of(const Json& workload) {
  return workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"];
}

std::string message_of(const Json& workload, const std::string& type) {
  for (const auto& c : workload["status"].value("conditions", Json::array()))
    if (c["type"] == type) return c["message"];
  return "";
}

/// Where an event stands among all; as many as there are: it is not among them.
std::size_t place(const Played& p, const std::string& start) {
  const auto it = std::find_if(p.events.begin(), p.events.end(), [&](const std::string& e) { return e.starts_with(start); });
  return static_cast<std::size_t>(it - p.events.begin());
}

// MR-27, MR-29, MR-36, MR-59, MR-61: steps 4, 6 and 7
TEST(ResourceExamples, E1APreemptedJobIsStoppedFirstAndThenWholeAgain) {
  Story s;
  s.patch("ClusterQueue", "cq", gpu_quota(2)).step();
  add_training(s);
  const auto running = s.play();
  EXPECT_EQ(running.job("train")["status"]["startTime"], "2026-01-01T00:00:10Z");
  EXPECT_EQ(running.job("train")["status"]["active"], 1);
  EXPECT_EQ(resources_of(running)["limits"][gpu], "2");
  s.step().apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: urgent, namespace: default, annotations: {hindsight.dev/run-seconds: '1000'}, "
      "labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: high}}, spec: {suspend: true, parallelism: 1, completions: "
      "1, "
      "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: '2'}, limits: "
      "{nvidia.com/gpu: '2'}}}]}}}}");
  const auto preempted = s.play();
  EXPECT_EQ(preempted.count("Job train Stopped: "), 1U);
  EXPECT_LT(place(preempted, "Job train Stopped: "), place(preempted, "Job train ResourcesRestored: "));
  EXPECT_LT(place(preempted, "Job train ResourcesRestored: "), place(preempted, "Job urgent Started: "));
  EXPECT_EQ(preempted.job_condition("train"), "True/JobSuspended");
  EXPECT_FALSE(preempted.job("train")["status"].contains("startTime"));
  EXPECT_EQ(preempted.job("train")["status"].value("active", 0), 0);
  EXPECT_FALSE(preempted.job("train")["metadata"]["annotations"].contains("kueue.x-k8s.io/stopping"));
  EXPECT_EQ(Played::condition(preempted.workloads("train").at(0), "QuotaReserved").substr(0, 6), "False/");
}

// MR-6, MR-22, MR-72
TEST(ResourceExamples, E2TheMessagesOfAJobThatIsTooLarge) {
  Story s;
  s.job("j", "6");
  EXPECT_EQ(message_of(s.play().workloads("j").at(0), "QuotaReserved"),
            "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor default, previously considered podsets requests "
            "(0) + current podset request (6) > maximum capacity (4)");
  Story old;
  old.options.job_rules = JobRules::of(JobApiLevel::v1_35);
  const auto refused = old.job("j", "6").step().cpu("j", "3").play();
  ASSERT_EQ(refused.result.refused.size(), 1U);
  EXPECT_NE(refused.result.refused[0].find(": 422 Job.batch \"j\" is invalid: spec.template: Invalid value"), std::string::npos);
  EXPECT_TRUE(refused.result.refused[0].ends_with(": field is immutable")) << refused.result.refused[0];
}

// MR-5, MR-62, MR-65, MR-73: steps 3 to 7. The user is as fast as the Job controller: the change comes between the end of the pods and the
// release of the quota.
TEST(ResourceExamples, E3AChangeAtTheEndOfTheLastPodIsKeptAndTheJobStaysInactive) {
  Story s;
  s.options.jobs.failing_deletions = 1;
  s.options.jobs.retry = Duration::seconds(1000);
  s.job("j", "2", "parallelism: 2, completions: 2").step().workload("j", "{spec: {active: false}}").step().cpu("j", "1");
  const auto early = s.play();
  ASSERT_EQ(early.result.refused.size(), 1U) << "one pod is active still";
  EXPECT_NE(early.result.refused[0].find("spec.template: Invalid value"), std::string::npos);
  EXPECT_EQ(early.job("j")["status"]["active"], 1);
  EXPECT_EQ(early.cpu("j"), "2");
  const auto before = early.workloads("j").at(0);

  s.step().status("Job", "j", "{status: {active: 0, ready: 0}}").cpu("j", "1");
  const auto changed = s.play();
  EXPECT_EQ(changed.result.refused.size(), 1U);
  EXPECT_EQ(changed.cpu("j"), "1") << "what the user wants stays";
  EXPECT_FALSE(changed.pod("j").contains("nodeSelector")) << "what was added goes";
  EXPECT_FALSE(changed.job("j")["metadata"]["annotations"].contains("kueue.x-k8s.io/stopping"));
  EXPECT_TRUE(changed.job("j")["spec"]["suspend"].get<bool>());
  ASSERT_EQ(changed.workloads("j").size(), 1U);
  const auto after = changed.workloads("j")[0];
  EXPECT_EQ(after["metadata"]["uid"], before["metadata"]["uid"]) << "the same Workload follows";
  EXPECT_EQ(requests_of(after), Json::parse(R"({"cpu":"1"})"));
  EXPECT_EQ(after["spec"]["active"], false) << "still inactive";

  const auto resumed = s.step().workload("j", "{spec: {active: true}}").play();
  EXPECT_EQ(Played::condition(resumed.workloads("j").at(0), "Admitted"), "True/Admitted");
  EXPECT_EQ(resumed.workloads("j")[0]["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"], "2");
  EXPECT_EQ(resumed.cpu("j"), "1");
}

// MR-59, MR-60, MR-61, MR-83: two writes, and in between a new decider that says nothing anew and still wants the stop
TEST(ResourceExamples, E7AStopIsTwoWritesAndSurvivesARestart) {
  Story s;
  events::MemoryLog log;
  s.options.jobs.failing_deletions = 1;
  s.options.jobs.retry = Duration::seconds(15);
  s.job("victim", "1", "parallelism: 3, completions: 3").step();
  s.job("urgent", "4", "parallelism: 1, completions: 1", ", kueue.x-k8s.io/priority-class: high");
  s.options.log = &log;
  const auto stopping = s.play();
  s.options.log = nullptr;
  EXPECT_EQ(stopping.job("victim")["metadata"]["generation"], 3) << "made, started, suspended";
  EXPECT_EQ(stopping.job("victim")["status"]["active"], 1);

  admission::LoopDriver driver(&events::read_settings);
  events::RecordReader reader;
  events::RecordBatch batch;
  ASSERT_TRUE(log.read(1, {.records = 100'000}, batch).has_value());
  for (const auto stored : batch) {
    const auto record = reader.read(stored.bytes);
    ASSERT_TRUE(record.has_value());
    ASSERT_TRUE(driver.apply(**record).has_value());
  }
  Lines told;
  const auto append = [&](Body body, std::uint64_t epoch) {
    const RecordView record{{"default", driver.domain().sequence() + 1, epoch, driver.domain().now(), 0}, std::move(body)};
    ASSERT_TRUE(driver.apply(record).has_value());
    for (const auto& e : connectors::record_events(record, driver)) told.push_back(e.name + " " + e.reason);
  };
  append(EpochStarted{"restart", "test", admission::rules_version}, driver.domain().epoch() + 1);
  for (auto step = driver.decide(); step; step = driver.decide())
    append(Decisions{step->base, step->kind, step->events}, driver.domain().epoch());
  for (const auto& line : told) EXPECT_EQ(line.find("victim"), std::string::npos) << line << " is told again";
  int stops = 0;
  for (const auto& intent : driver.all_intents())
    if (const auto* job = std::get_if<admission::JobIntent>(&intent)) stops += job->name == "victim" && !job->run ? 1 : 0;
  EXPECT_EQ(stops, 1) << "it waits for the last pod";

  const auto restored = s.step().step().play();
  EXPECT_EQ(restored.job("victim")["metadata"]["generation"], 4) << "and restored: two writes of the stop";
  EXPECT_EQ(restored.count("Job victim Stopped: "), 1U);
  EXPECT_EQ(restored.count("ResourcesRestored: "), 0U) << "no plan was in force";
  EXPECT_EQ(restored.result.notices, Lines{}) << "none was refused";
}

// MR-49, MR-63: what a user changes after the plan was made ends the plan; the job never runs with a mixture of both
TEST(ResourceExamples, E9AChangeAfterThePlanEndsThePlan) {
  Story s;
  s.patch("ClusterQueue", "cq", gpu_quota(2)).check().step();
  add_training(s);
  const auto planned = s.play();
  ASSERT_EQ(planned.workloads("train").size(), 1U);
  const auto before = planned.workloads("train")[0];
  ASSERT_EQ(Played::condition(before, "QuotaReserved"), "True/QuotaReserved");
  EXPECT_EQ(before["metadata"]["annotations"]["hindsight.dev/resource-plan"], R"({"main":{"t":{"nvidia.com/gpu":"2"}}})");
  s.step().patch("Job", "train",
                 "{spec: {template: {spec: {containers: [{name: t, image: i, resources: {requests: {cpu: '9', nvidia.com/gpu: '4'}, "
                 "limits: {cpu: '9', nvidia.com/gpu: '4'}}}]}}}}");
  const auto changed = s.play();
  EXPECT_EQ(changed.result.refused, Lines{});
  EXPECT_EQ(changed.count("Job train DeletedWorkload: "), 1U);
  EXPECT_EQ(changed.count("Job train CreatedWorkload: "), 2U);
  ASSERT_EQ(changed.workloads("train").size(), 1U);
  const auto after = changed.workloads("train")[0];
  EXPECT_NE(after["metadata"]["uid"], before["metadata"]["uid"]);
  EXPECT_EQ(requests_of(after), Json::parse(R"({"cpu":"9","nvidia.com/gpu":"4"})"));
  EXPECT_TRUE(changed.job("train")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(changed.job("train")["metadata"]["generation"], 2) << "the user's change, and no start";

  const auto started = s.step().ready("train", "labels: {from: check}").play();
  EXPECT_FALSE(started.job("train")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(resources_of(started),
            Json::parse(R"({"requests":{"cpu":"9","nvidia.com/gpu":"2"},"limits":{"cpu":"9","nvidia.com/gpu":"2"}})"));
}

}  // namespace
}  // namespace hindsight::simulation
