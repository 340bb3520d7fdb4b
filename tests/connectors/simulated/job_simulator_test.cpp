#include "connectors/simulated/job_simulator.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/manifest_reader.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

using test::fresh;

const Json ten_seconds = {{"hindsight.dev/run-seconds", "10"}};

Reply suspend(SimulatedCluster& cluster, bool value, const char* kind = "Job") {
  return cluster.merge_patch(kind, "default", "j", Part::main, {{"spec", {{"suspend", value}}}});
}

TEST(JobSimulator, runs_a_job_for_its_time) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  ASSERT_TRUE(cluster.create(test::job("j", ten_seconds)).accepted());
  EXPECT_FALSE(jobs.next_due().is_set());
  cluster.set_time(virtual_start + Duration::seconds(5));
  ASSERT_TRUE(suspend(cluster, false).accepted());
  const auto job = cluster.find("Job", "default", "j");
  EXPECT_EQ(job->status()["startTime"], "2026-01-01T00:00:05Z");
  EXPECT_EQ(job->status()["active"], 2);
  EXPECT_EQ(job->status()["ready"], 2);
  ASSERT_EQ(jobs.next_due(), virtual_start + Duration::seconds(15));

  EXPECT_EQ(jobs.run_due(), 0U);
  cluster.set_time(jobs.next_due());
  EXPECT_EQ(jobs.run_due(), 1U);
  EXPECT_FALSE(jobs.next_due().is_set());
  EXPECT_TRUE(condition_is(job->status(), "Complete"));
  EXPECT_EQ(job->status()["succeeded"], 2);
  EXPECT_FALSE(job->status().contains("active"));
  EXPECT_EQ(job->status()["completionTime"], "2026-01-01T00:00:15Z");
}

TEST(JobSimulator, starts_anew_after_a_suspension) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  ASSERT_TRUE(cluster.create(test::job("j", ten_seconds)).accepted());
  ASSERT_TRUE(suspend(cluster, false).accepted());
  cluster.set_time(virtual_start + Duration::seconds(4));
  ASSERT_TRUE(suspend(cluster, true).accepted());
  const auto job = cluster.find("Job", "default", "j");
  EXPECT_FALSE(jobs.next_due().is_set());
  EXPECT_FALSE(job->status().contains("startTime"));
  EXPECT_FALSE(job->status().contains("active"));
  EXPECT_TRUE(condition_is(job->status(), "Suspended"));
  // Its template may change again, as when its Workload's flavors are taken back.
  EXPECT_TRUE(
      cluster.merge_patch("Job", "default", "j", Part::main, Json::parse(R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}})"))
          .accepted());

  cluster.set_time(virtual_start + Duration::seconds(6));
  ASSERT_TRUE(suspend(cluster, false).accepted());
  EXPECT_TRUE(condition_is(job->status(), "Suspended", "False"));
  EXPECT_EQ(jobs.next_due(), virtual_start + Duration::seconds(16));
}

// MR-27, MR-28, MR-29: what a suspension changes in the status is one write: no pod is active, or those whose deletion failed, the others
// terminate, and the condition says so
TEST(JobSimulator, tells_of_a_suspension_in_one_write) {
  for (const std::int64_t failing : {0, 1}) {
    SimulatedCluster cluster = fresh();
    JobSimulator jobs(cluster, {.termination = Duration::seconds(5), .failing_deletions = failing});
    ASSERT_TRUE(cluster.create(test::job("j", ten_seconds)).accepted());
    ASSERT_TRUE(suspend(cluster, false).accepted());
    const Json running = cluster.find("Job", "default", "j")->status();
    ASSERT_EQ(running["active"], 2);
    std::vector<Json> seen;
    cluster.watch({manifests::kind_of("Job").type}, [&seen](const WatchEvent& event) {
      if (event.type == WatchEvent::Type::modified) seen.push_back(Json::parse(event.object));
    });
    cluster.set_time(virtual_start + Duration::seconds(3));
    ASSERT_TRUE(suspend(cluster, true).accepted());
    ASSERT_EQ(seen.size(), 2U) << "the user's write and one of the controller";
    EXPECT_EQ(seen[0]["spec"]["suspend"], true);
    EXPECT_EQ(seen[0]["status"], running);
    const Json& status = seen[1]["status"];
    EXPECT_EQ(status.value("active", 0), failing);
    EXPECT_EQ(status.value("ready", 0), failing);
    EXPECT_EQ(status.value("terminating", 0), 2 - failing);
    EXPECT_FALSE(status.contains("startTime"));
    ASSERT_EQ(status["conditions"].size(), 1U);
    EXPECT_EQ(status["conditions"][0]["type"], "Suspended");
    EXPECT_EQ(status["conditions"][0]["status"], "True");
    EXPECT_EQ(status["conditions"][0]["reason"], "JobSuspended");
    EXPECT_EQ(status["conditions"][0]["message"], "Job suspended");
    EXPECT_EQ(status["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:03Z");
  }
}

TEST(JobSimulator, leaves_jobs_without_a_time_alone) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  ASSERT_TRUE(suspend(cluster, false).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "j")->status(), Json::object());
  EXPECT_FALSE(jobs.next_due().is_set());
}

TEST(JobSimulator, runs_every_job_where_it_is_told_to) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster, {.every_job = true});
  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  ASSERT_TRUE(suspend(cluster, false).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "j")->status()["ready"], 2);
  EXPECT_FALSE(jobs.next_due().is_set()) << "it has no end";
  EXPECT_EQ(jobs.running(), 1U);
  ASSERT_TRUE(suspend(cluster, true).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "j")->status().value("active", 0), 0);
  EXPECT_EQ(jobs.running(), 0U);
}

TEST(JobSimulator, takes_the_time_from_the_pod_template_too) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  Json job = test::job("j");
  job["spec"]["template"]["metadata"]["annotations"] = ten_seconds;
  ASSERT_TRUE(cluster.create(job).accepted());
  ASSERT_TRUE(suspend(cluster, false).accepted());
  EXPECT_EQ(jobs.next_due(), virtual_start + Duration::seconds(10));
}

TEST(JobSimulator, forgets_jobs_that_are_deleted_or_finished_by_others) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  ASSERT_TRUE(cluster.create(test::job("j", ten_seconds)).accepted());
  ASSERT_TRUE(suspend(cluster, false).accepted());
  ASSERT_EQ(jobs.running(), 1U);
  ASSERT_TRUE(cluster.remove("Job", "default", "j").accepted());
  EXPECT_EQ(jobs.running(), 0U);

  // A later job of the same name is another job.
  ASSERT_TRUE(cluster.create(test::job("j", ten_seconds)).accepted());
  cluster.set_time(virtual_start + Duration::seconds(60));
  EXPECT_EQ(jobs.run_due(), 0U);
  EXPECT_FALSE(condition_is(cluster.find("Job", "default", "j")->status(), "Complete"));
}

TEST(JobSimulator, follows_a_change_of_parallelism) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  Json job = test::job("j", ten_seconds);
  job["spec"].erase("completions");
  ASSERT_TRUE(cluster.create(job).accepted());
  ASSERT_TRUE(suspend(cluster, false).accepted());
  ASSERT_TRUE(cluster.merge_patch("Job", "default", "j", Part::main, {{"spec", {{"parallelism", 5}}}}).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "j")->status()["active"], 5);
  EXPECT_EQ(jobs.next_due(), virtual_start + Duration::seconds(10));
}

TEST(JobSimulator, runs_the_parts_of_a_job_set) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  Json job_set = test::object("jobset.x-k8s.io/v1alpha2", "JobSet", "j", Json::parse(R"({"suspend":true,"replicatedJobs":[
      {"name":"a","replicas":2,"template":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}},
      {"name":"b","template":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}}]})"));
  job_set["metadata"]["annotations"] = ten_seconds;
  ASSERT_TRUE(cluster.create(job_set).accepted());
  ASSERT_TRUE(suspend(cluster, false, "JobSet").accepted());
  const auto stored = cluster.find("JobSet", "default", "j");
  EXPECT_EQ(stored->status()["replicatedJobsStatus"][0]["active"], 2);
  EXPECT_EQ(stored->status()["replicatedJobsStatus"][1]["ready"], 1);
  ASSERT_TRUE(suspend(cluster, true, "JobSet").accepted());
  EXPECT_EQ(stored->status()["replicatedJobsStatus"][0]["active"], 0);
  EXPECT_EQ(stored->status()["replicatedJobsStatus"][0]["suspended"], 2);
  ASSERT_TRUE(suspend(cluster, false, "JobSet").accepted());
  cluster.set_time(jobs.next_due());
  EXPECT_EQ(jobs.run_due(), 1U);
  EXPECT_TRUE(condition_is(stored->status(), "Completed"));
  EXPECT_EQ(stored->status()["replicatedJobsStatus"][0]["succeeded"], 2);
}

// What announces the end of a Job says already that its pods have succeeded: nobody who looks between the two writes misses one.
TEST(JobSimulator, no_pod_is_missing_while_a_job_ends) {
  for (const bool counted : {true, false}) {
    SimulatedCluster cluster = fresh();
    JobSimulator jobs(cluster);
    Json job = test::job("j", ten_seconds);
    job["spec"]["parallelism"] = 3;
    if (counted)
      job["spec"]["completions"] = 3;
    else
      job["spec"].erase("completions");
    ASSERT_TRUE(cluster.create(job).accepted());
    ASSERT_TRUE(suspend(cluster, false).accepted());
    // As others read it: an observer would see the object as it is later.
    std::vector<std::int64_t> well;
    cluster.watch({cluster.find("Job", "default", "j")->kind->type}, [&](const WatchEvent& event) {
      if (event.type != WatchEvent::Type::modified) return;
      const Json status = member(Json::parse(event.object), "status");
      well.push_back(number(status, "ready").value_or(0) + number(status, "succeeded").value_or(0));
    });
    cluster.set_time(jobs.next_due());
    ASSERT_EQ(jobs.run_due(), 1U);
    EXPECT_EQ(well, (std::vector<std::int64_t>{3, 3}));
    EXPECT_TRUE(condition_is(cluster.find("Job", "default", "j")->status(), "Complete"));
  }
}

TEST(JobSimulator, ends_jobs_in_the_order_of_time_and_creation) {
  SimulatedCluster cluster = fresh();
  JobSimulator jobs(cluster);
  std::string ends;
  cluster.observe([&](const ObjectChange& change) {
    if (condition_is(change.object->status(), "Complete")) ends += change.object->name;
  });
  for (const auto& [name, seconds] : {std::pair{"z", "10"}, std::pair{"b", "10"}, std::pair{"a", "10"}, std::pair{"c", "3"}}) {
    Json job = test::job(name, {{"hindsight.dev/run-seconds", seconds}});
    job["spec"]["suspend"] = false;
    ASSERT_TRUE(cluster.create(job).accepted());
  }
  cluster.set_time(virtual_start + Duration::seconds(60));
  EXPECT_EQ(jobs.run_due(), 4U);
  EXPECT_EQ(ends, "czba");
}

}  // namespace
}  // namespace hindsight::connectors::simulated
