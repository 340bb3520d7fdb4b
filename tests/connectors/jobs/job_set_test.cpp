// jobset.x-k8s.io JobSet as its integration reads it.

#include <gtest/gtest.h>

#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

constexpr std::string_view pod = R"({"spec":{"priorityClassName":"p","containers":[{"resources":{"requests":{"cpu":"1"}}}]}})";

std::string job_set(std::string_view status, bool suspend = true) {
  const std::string t(pod);
  return R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"s","namespace":"ns","uid":"u",
      "labels":{"kueue.x-k8s.io/queue-name":"lq"}},
    "spec":{"suspend":)" +
         std::string(suspend ? "true" : "false") + R"(,"replicatedJobs":[
      {"name":"leader","template":{"spec":{"template":)" +
         t + R"(}}},
      {"name":"workers","replicas":3,"template":{"spec":{"parallelism":4,"completions":2,"template":)" +
         t + R"(}}}]},
    "status":)" +
         std::string(status) + "}";
}

// BA-169
TEST(JobSet, HasOnePodSetForEachReplicatedJob) {
  Arena arena;
  const auto j = observed<JobObserved>(types::job_set, job_set("{}"), arena);
  EXPECT_EQ(j.kind, "JobSet");
  EXPECT_EQ(j.group, "jobset.x-k8s.io");
  EXPECT_EQ(j.queue_name, "lq");
  EXPECT_EQ(j.pod_priority_class, "p");
  EXPECT_EQ(j.workload_name.substr(0, 9), "jobset-s-");
  EXPECT_TRUE(j.suspended);
  ASSERT_EQ(j.pod_sets.size(), 2U);
  EXPECT_EQ(j.pod_sets[0].name, "leader");
  EXPECT_EQ(j.pod_sets[0].count, 1);
  EXPECT_EQ(j.pod_sets[1].name, "workers");
  EXPECT_EQ(j.pod_sets[1].count, 6);
  EXPECT_EQ(joined(j.pod_sets[1].requests), "cpu=1000");
  EXPECT_EQ(j.pod_sets[0].template_hash, j.pod_sets[1].template_hash);
}

// BA-169
TEST(JobSet, ReadsItsState) {
  struct Case {
    std::string_view status;
    bool active, ready, finished, succeeded;
    std::string_view message, reclaimable;
  };
  const Case cases[] = {
      {"{}", false, false, false, false, "", ""},
      {R"({"replicatedJobsStatus":[{"name":"leader","active":1,"ready":1},{"name":"workers","active":3,"ready":2}]})", true, false, false,
       false, "", ""},
      {R"({"replicatedJobsStatus":[{"name":"leader","active":1,"ready":1},{"name":"workers","active":2,"ready":2,"succeeded":1}]})", true,
       true, false, false, "", "workers=2"},
      {R"({"replicatedJobsStatus":[{"name":"leader","succeeded":1},{"name":"workers","succeeded":3}]})", false, true, false, false, "",
       "leader=1 workers=6"},
      {R"({"replicatedJobsStatus":[{"name":"leader","succeeded":2},{"name":"else","succeeded":1}]})", false, false, false, false, "", ""},
      {R"({"conditions":[{"type":"Suspended","status":"True"},{"type":"Completed","status":"True","message":"all done"}]})", false, false,
       true, true, "all done", ""},
      {R"({"conditions":[{"type":"Failed","status":"True","message":"no"}]})", false, false, true, false, "no", ""},
      {R"({"conditions":[{"type":"Completed","status":"False"}]})", false, false, false, false, "", ""},
  };
  for (const auto& c : cases) {
    Arena arena;
    const auto j = observed<JobObserved>(types::job_set, job_set(c.status, false), arena);
    EXPECT_FALSE(j.suspended);
    EXPECT_EQ(j.active, c.active) << c.status;
    EXPECT_EQ(j.pods_ready, c.ready) << c.status;
    EXPECT_EQ(j.finished, c.finished) << c.status;
    EXPECT_EQ(j.succeeded, c.succeeded) << c.status;
    EXPECT_EQ(j.finish_message, c.message) << c.status;
    EXPECT_EQ(joined(j.reclaimable), c.reclaimable) << c.status;
  }
}

TEST(JobSet, NamesWhatIsWrong) {
  EXPECT_EQ(refusal(types::job_set, R"({"metadata":{"name":"s","namespace":"n"},"spec":{"replicatedJobs":[{"name":"a"}]}})"),
            "JobSet n/s: spec.replicatedJobs[0].template: found nothing, allowed: an object");
  EXPECT_EQ(refusal(types::job_set,
                    R"({"metadata":{"name":"s","namespace":"n"},"spec":{"replicatedJobs":[{"name":"a","template":{"spec":{}}}]}})"),
            "JobSet n/s: spec.replicatedJobs[0].template.spec.template: found nothing, allowed: an object");
}

}  // namespace
}  // namespace hindsight::connectors
