// The resources of Jobs that are suspended: what a change of them does to the queue, and how a job that is stopped gets its own template
// back (5440 §3.E, §3.F, the worked examples of §4 that need no sizing by us).

#include <gtest/gtest.h>

#include "tests/simulation/resource_story.hpp"

namespace hindsight::simulation {
namespace {

using connectors::Json;
using connectors::simulated::JobApiLevel;
using connectors::simulated::JobRules;

// MR-6, MR-22, MR-39, MR-47, MR-55, MR-62, MR-64, MR-72, MR-92
TEST(Resources, E2AQueuedJobThatIsMadeSmallerKeepsItsWorkloadAndIsAdmitted) {
  Story s;
  s.job("j", "6");
  const auto waiting = s.play();
  const auto before = waiting.workloads("j").at(0);
  EXPECT_EQ(Played::condition(before, "QuotaReserved"), "False/ExceedsMaxQuota");
  const auto same = Story(s).step().cpu("j", "6000m").play();
  EXPECT_EQ(same.count("UpdatedWorkload"), 0U) << "equal amounts are no change";
  EXPECT_EQ(same.job("j")["metadata"]["generation"], 1);

  const auto fits = s.step().cpu("j", "3").play();
  EXPECT_EQ(fits.result.refused, Lines{});
  ASSERT_EQ(fits.workloads("j").size(), 1U);
  const auto after = fits.workloads("j")[0];
  for (const char* kept : {"name", "uid", "creationTimestamp"}) EXPECT_EQ(after["metadata"][kept], before["metadata"][kept]) << kept;
  EXPECT_EQ(after["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "3");
  EXPECT_EQ(Played::condition(after, "Admitted"), "True/Admitted");
  EXPECT_EQ(fits.count("Job j UpdatedWorkload: Updated not matching Workload for suspended job: default/"), 1U);
  EXPECT_EQ(fits.count("Job j Started: Admitted by clusterQueue cq"), 1U);
  EXPECT_EQ(fits.job("j")["metadata"]["uid"], waiting.job("j")["metadata"]["uid"]) << "never made anew";
  EXPECT_EQ(fits.job("j")["metadata"]["generation"], 3) << "the user's change and one start";
  EXPECT_EQ(fits.pod("j")["nodeSelector"]["zone"], "a");
  EXPECT_EQ(fits.cpu("j"), "3") << "a start leaves resources alone";

  const auto running = s.step().cpu("j", "2").play();
  ASSERT_EQ(running.result.refused.size(), 1U);
  EXPECT_NE(running.result.refused[0].find("Job.batch \"j\" is invalid: spec.template: Invalid value: field is immutable"),
            std::string::npos)
      << running.result.refused[0];
  EXPECT_EQ(running.cpu("j"), "3");

  Story old;  // a server without the feature
  old.options.job_rules = JobRules::of(JobApiLevel::v1_35);
  old.job("j", "6").step().cpu("j", "3");
  const auto refused = old.play();
  EXPECT_EQ(refused.result.refused.size(), 1U);
  EXPECT_EQ(refused.workloads("j").at(0), before) << "its Workload is as it was";
}

// MR-10, MR-27, MR-29, MR-31, MR-33, MR-36, MR-60, MR-65, MR-67, MR-68, MR-69, MR-73
TEST(Resources, E3AnOversizedJobIsSuspendedMadeSmallerAndResumed) {
  for (const bool failed_policy : {false, true}) {
    Story s;
    s.options.jobs.termination = Duration::seconds(35);
    s.job("j", "2", std::string("parallelism: 2, completions: 2") + (failed_policy ? ", podReplacementPolicy: Failed" : ""))
        .step()
        .workload("j", "{spec: {active: false}}");
    const auto stopped = s.play();
    EXPECT_EQ(Played::condition(stopped.workloads("j").at(0), "Evicted"), "True/Deactivated");
    const auto& status = stopped.job("j")["status"];
    EXPECT_EQ(status.value("active", 0), 0);
    EXPECT_EQ(status["terminating"], 2) << "pods that end do not count as active";
    EXPECT_EQ(stopped.job_condition("j"), "True/JobSuspended");
    EXPECT_FALSE(status.contains("startTime"));
    EXPECT_FALSE(stopped.pod("j").contains("nodeSelector")) << "restored";

    const auto smaller = s.step().cpu("j", "1").play();
    EXPECT_EQ(smaller.result.refused, Lines{}) << "terminating pods are no obstacle";
    ASSERT_EQ(smaller.workloads("j").size(), 1U);
    const auto w = smaller.workloads("j")[0];
    EXPECT_EQ(w["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1");
    EXPECT_EQ(w["spec"]["active"], false) << "an edit does not activate it";

    const auto resumed = s.step().workload("j", "{spec: {active: true}}").play();
    EXPECT_EQ(Played::condition(resumed.workloads("j").at(0), "Admitted"), "True/Admitted");
    EXPECT_EQ(resumed.workloads("j")[0]["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"], "2");
    EXPECT_EQ(resumed.job_condition("j"), "False/JobResumed");
    EXPECT_EQ(resumed.job("j")["status"]["startTime"], "2026-01-01T00:00:30Z");
    EXPECT_EQ(resumed.job("j")["status"].value("active", 0), failed_policy ? 0 : 2);
    EXPECT_EQ(resumed.cpu("j"), "1");
    const auto ended = s.step().step().play();
    EXPECT_EQ(ended.job("j")["status"].value("active", 0), 2) << "now also those that waited for the end of the old ones";
    EXPECT_EQ(ended.job("j")["status"].value("terminating", 0), 0);
    EXPECT_EQ(ended.result.notices, Lines{});
  }
}

// MR-3, MR-5, MR-18, MR-28
TEST(Resources, E4ARunningJobIsProtected) {
  Story s;
  s.options.jobs.failing_deletions = 1;
  s.options.jobs.retry = Duration::seconds(25);
  s.apply(
       "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, annotations: {hindsight.dev/run-seconds: '1000'}}, spec: "
       "{suspend: false, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
       "resources: "
       "{requests: {cpu: '1'}}}]}}}}")
      .step()
      .cpu("j", "200m")
      .patch("Job", "j",
             "{spec: {suspend: true, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 200m}}}]}}}}")
      .cpu("j", "1000m");
  const auto protected_ = s.play();
  EXPECT_EQ(protected_.result.refused.size(), 2U);
  EXPECT_FALSE(protected_.job("j")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(protected_.job("j")["metadata"]["generation"], 1);
  const auto leaving = s.step().patch("Job", "j", "{spec: {suspend: true}}").step().cpu("j", "200m").play();
  EXPECT_EQ(leaving.result.refused.size(), 3U) << "one deletion failed: a pod is active, though the condition says Suspended";
  EXPECT_EQ(leaving.job_condition("j"), "True/JobSuspended");
  EXPECT_EQ(leaving.job("j")["status"]["active"], 1);
  const auto gone = s.step().step().cpu("j", "200m").play();
  EXPECT_EQ(gone.result.refused.size(), 3U);
  EXPECT_EQ(gone.cpu("j"), "200m");
  EXPECT_EQ(gone.job("j")["status"].value("failed", 0), 0) << "deleted pods have not failed";
}

// MR-6, MR-30, MR-32
TEST(Resources, E6AFreshJobAtThreeLevels) {
  const auto at = [](JobApiLevel level, int seconds) {
    Story s(seconds);
    s.options.job_rules = JobRules::of(level);
    s.options.jobs.suspended_after = Duration::seconds(5);
    s.job("j", "6").step().cpu("j", "200m");
    return s;
  };
  EXPECT_TRUE(at(JobApiLevel::v1_36_2, 1).play().result.refused.empty());
  EXPECT_EQ(at(JobApiLevel::v1_36_0, 1).play().result.refused.size(), 1U);
  EXPECT_TRUE(at(JobApiLevel::v1_36_0, 6).play().result.refused.empty()) << "by then the condition is there";
  EXPECT_EQ(at(JobApiLevel::v1_34, 1).play().result.refused.size(), 1U);
  EXPECT_EQ(at(JobApiLevel::v1_34, 6).play().result.refused.size(), 1U);
  Story directives(1);
  directives.options.job_rules = JobRules::of(JobApiLevel::v1_34);
  directives.job("j", "6").step().patch("Job", "j", "{spec: {template: {spec: {nodeSelector: {pool: b}}}}}");
  EXPECT_TRUE(directives.play().result.refused.empty());

  Story fresh;  // no event or condition of a resume where nothing was suspended
  fresh.job("j", "1");
  EXPECT_EQ(fresh.play().job_condition("j"), "");
}

// MR-28, MR-34, MR-48, MR-59, MR-60, MR-61, MR-67
TEST(Resources, E7AnEvictionMakesNoWriteThatFails) {
  for (const auto level : {JobApiLevel::v1_36_2, JobApiLevel::v1_36_0, JobApiLevel::v1_34}) {
    Story s;
    s.options.job_rules = JobRules::of(level);
    s.options.jobs.clears_start_time = level != JobApiLevel::v1_34;
    s.options.jobs.suspended_after = Duration{};
    s.options.jobs.failing_deletions = 1;
    s.options.jobs.retry = Duration::seconds(15);
    s.options.jobs.termination = Duration::seconds(3);
    s.job("victim", "1", "parallelism: 3, completions: 3")
        .step()
        .job("urgent", "4", "parallelism: 1, completions: 1", ", kueue.x-k8s.io/priority-class: high");
    const auto evicted = s.play();
    EXPECT_EQ(evicted.count("Job victim Stopped: "), 1U);
    EXPECT_EQ(evicted.result.notices, Lines{}) << "at 1.36.0 the start waits for the condition Suspended";
    EXPECT_EQ(evicted.job("victim")["spec"]["suspend"], true);
    EXPECT_EQ(evicted.job("victim")["status"]["active"], 1);
    if (level != JobApiLevel::v1_34) {
      EXPECT_EQ(evicted.job("victim")["metadata"]["annotations"]["kueue.x-k8s.io/stopping"], "true");
      EXPECT_EQ(evicted.pod("victim")["nodeSelector"]["zone"], "a") << "the template waits for the last pod";
    }
    EXPECT_EQ(Played::condition(evicted.workloads("victim").at(0), "QuotaReserved"), "True/QuotaReserved") << "as does the quota";
    const auto restored = s.step().step().play();
    EXPECT_FALSE(restored.pod("victim").contains("nodeSelector"));
    EXPECT_FALSE(restored.job("victim")["metadata"]["annotations"].contains("kueue.x-k8s.io/stopping"));
    EXPECT_EQ(Played::condition(restored.workloads("victim").at(0), "QuotaReserved").substr(0, 6), "False/");
    EXPECT_EQ(Played::condition(restored.workloads("urgent").at(0), "Admitted"), "True/Admitted");
    EXPECT_EQ(restored.count("Job victim Stopped: "), 1U) << "told once";
    EXPECT_EQ(restored.result.notices, Lines{}) << "no write was refused";
    EXPECT_EQ(restored.job("victim")["status"].value("failed", 0), 0);
  }
}

// MR-63: with quota reserved and checks to come, a changed job gets another Workload.
TEST(Resources, AChangeAfterTheReservationMakesANewWorkload) {
  Story s;
  s.check().step().job("j", "3");
  const auto reserved = s.play();
  ASSERT_EQ(reserved.result.refused, Lines{});
  ASSERT_EQ(reserved.workloads("j").size(), 1U);
  ASSERT_EQ(Played::condition(reserved.workloads("j")[0], "QuotaReserved"), "True/QuotaReserved");
  const auto before = reserved.workloads("j")[0]["metadata"];
  const auto changed = s.step().cpu("j", "2").play();
  ASSERT_EQ(changed.workloads("j").size(), 1U);
  EXPECT_NE(changed.workloads("j")[0]["metadata"]["uid"], before["uid"]);
  EXPECT_EQ(changed.workloads("j")[0]["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "2");
  EXPECT_EQ(changed.count("Job j DeletedWorkload: Deleted not matching Workload: default/"), 1U);
  EXPECT_EQ(changed.count("Job j CreatedWorkload: "), 2U);
}

// MR-54, MR-57: checks add labels, annotations, node selectors and tolerations, and nothing else; what contradicts the job is for good.
TEST(Resources, AChecksUpdateCannotChangeResourcesNorContradict) {
  Story s;
  s.check().step().job("j", "3");
  const auto started = Story(s).step().ready("j", "labels: {from: check}, resources: {requests: {cpu: 1}}").play();
  EXPECT_EQ(started.job("j")["spec"]["suspend"], false);
  EXPECT_EQ(started.job("j")["spec"]["template"]["metadata"]["labels"]["from"], "check");
  EXPECT_EQ(started.cpu("j"), "3");
  const auto failed = Story(s).step().ready("j", "nodeSelector: {zone: b}").play();
  EXPECT_EQ(Played::condition(failed.workloads("j").at(0), "Finished"), "True/FailedToStart");
  EXPECT_EQ(failed.job("j")["spec"]["suspend"], true);
}

// MR-37
TEST(Resources, AJobOfAnotherManagerIsNotSynced) {
  Story s;
  s.apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, annotations: {hindsight.dev/run-seconds: '5'}}, spec: "
      "{managedBy: example.com/x, suspend: false, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: "
      "[{name: "
      "c, image: i}]}}}}");
  EXPECT_FALSE(s.step().play().job("j")["status"].contains("startTime"));
}

}  // namespace
}  // namespace hindsight::simulation
