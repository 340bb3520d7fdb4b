// batch/v1 Job as its integration reads it.

#include <gtest/gtest.h>

#include "connectors/json/json_value.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

/// A Job with one container; spec and status get the members of `spec` and `status`.
std::string job(std::string_view spec, std::string_view status = "{}", std::string_view metadata = "{}") {
  Json out = Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"ns","uid":"u","generation":4},
    "spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}})");
  out["spec"].merge_patch(Json::parse(spec));
  out["status"] = Json::parse(status);
  out["metadata"].merge_patch(Json::parse(metadata));
  return out.dump();
}

JobObserved observed_job(std::string_view json, Arena& arena, List<PodSetCount> workload_counts = {}) {
  return observed<JobObserved>(types::job, json, arena, {nullptr, workload_counts});
}

// BA-169
TEST(BatchJob, ReadsWhatAllJobsHaveInCommon) {
  Arena arena;
  const auto j = observed_job(job(R"({"suspend":true,"template":{"spec":{"priorityClassName":"pods-high"}}})", "{}", R"({
      "labels":{"kueue.x-k8s.io/queue-name":"lq","kueue.x-k8s.io/priority-class":"high","kueue.x-k8s.io/max-exec-time-seconds":"120",
                "kueue.x-k8s.io/prebuilt-workload-name":"by-label"},
      "annotations":{"kueue.x-k8s.io/admission-gated-by":"example.com/g"}})"),
                              arena);
  EXPECT_EQ(j.meta.name, "j");
  EXPECT_EQ(j.kind, "Job");
  EXPECT_EQ(j.group, "batch");
  EXPECT_EQ(j.queue_name, "lq");
  EXPECT_EQ(j.priority_class, "high");
  EXPECT_EQ(j.pod_priority_class, "pods-high");
  EXPECT_EQ(j.max_exec_seconds, 120);
  EXPECT_EQ(j.prebuilt_workload, "by-label");
  EXPECT_EQ(j.admission_gated_by, "example.com/g");
  EXPECT_TRUE(j.managed);
  EXPECT_FALSE(j.elastic);
  EXPECT_EQ(j.workload_name, "job-j-5cf3c");  // BA-170
  ASSERT_EQ(j.pod_sets.size(), 1U);
  EXPECT_EQ(j.pod_sets[0].name, "main");
  EXPECT_EQ(joined(j.pod_sets[0].requests), "cpu=1000");
}

// BA-169
TEST(BatchJob, PrefersTheAnnotationForAPrebuiltWorkload) {
  Arena arena;
  EXPECT_EQ(observed_job(job("{}", "{}", R"({"labels":{"kueue.x-k8s.io/prebuilt-workload-name":"l"},
                                            "annotations":{"kueue.x-k8s.io/prebuilt-workload-name":"a"}})"),
                         arena)
                .prebuilt_workload,
            "a");
}

// BA-171
TEST(BatchJob, ReadsItsControllerOwner) {
  Arena arena;
  const auto j = observed_job(job("{}", "{}", R"({"ownerReferences":[
      {"apiVersion":"v1","kind":"ConfigMap","name":"m","uid":"u1"},
      {"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"s","uid":"u2","controller":true}]})"),
                              arena);
  EXPECT_EQ(j.owner_uid, "u2");
  EXPECT_EQ(j.owner_kind, "JobSet");
  EXPECT_EQ(j.owner_name, "s");
}

// EJ-9: slices are named by the generation of the job.
TEST(BatchJob, NamesTheWorkloadOfAnElasticJobByItsGeneration) {
  Arena arena;
  const auto j = observed_job(job("{}", "{}", R"({"annotations":{"kueue.x-k8s.io/elastic-job":"true"}})"), arena);
  EXPECT_TRUE(j.elastic);
  EXPECT_NE(j.workload_name, observed_job(job("{}"), arena).workload_name);
  EXPECT_FALSE(observed_job(job("{}", "{}", R"({"annotations":{"kueue.x-k8s.io/elastic-job":"True"}})"), arena).elastic);
}

// BA-169, BA-177
TEST(BatchJob, CountsThePodsThatRunTogether) {
  struct Case {
    std::string_view spec, annotations;
    std::int32_t count;
    std::optional<std::int32_t> min;
  };
  const Case cases[] = {
      {"{}", "{}", 1, std::nullopt},
      {R"({"parallelism":4})", "{}", 4, std::nullopt},
      {R"({"parallelism":4,"completions":2})", "{}", 2, std::nullopt},
      {R"({"parallelism":4,"completions":9})", "{}", 4, std::nullopt},
      {R"({"parallelism":0})", "{}", 0, std::nullopt},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"2"})", 4, 2},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"two"})", 4, std::nullopt},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"4"})", 4, 4},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"5"})", 4, std::nullopt},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"2147483647"})", 4, std::nullopt},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"0"})", 4, std::nullopt},
      {R"({"parallelism":4})", R"({"kueue.x-k8s.io/job-min-parallelism":"-1"})", 4, std::nullopt},
      {R"({"parallelism":4,"completions":2})", R"({"kueue.x-k8s.io/job-min-parallelism":"3"})", 2, std::nullopt},
      {R"({"parallelism":0})", R"({"kueue.x-k8s.io/job-min-parallelism":"1"})", 0, std::nullopt},
  };
  for (const auto& c : cases) {
    Arena arena;
    const auto j = observed_job(job(c.spec, "{}", R"({"annotations":)" + std::string(c.annotations) + "}"), arena);
    EXPECT_EQ(j.pod_sets[0].count, c.count) << c.spec;
    EXPECT_EQ(j.pod_sets[0].min_count, c.min) << c.annotations;
  }
}

// BA-169
TEST(BatchJob, ReadsItsState) {
  struct Case {
    std::string_view spec, status, annotations;
    std::string state;
  };
  const Case cases[] = {
      {"{}", "{}", "{}", ""},
      {R"({"suspend":true})", "{}", "{}", "suspended"},
      {R"({"suspend":true})", "{}", R"({"kueue.x-k8s.io/stopping":"true"})", "stopping"},  // MR-59: not yet suspended
      {R"({"suspend":true})", "{}", R"({"kueue.x-k8s.io/stopping":"false"})", "suspended"},
      {R"({"parallelism":2})", R"({"active":1})", "{}", "active"},
      {R"({"parallelism":2})", R"({"active":2,"ready":2})", "{}", "active ready"},
      {R"({"parallelism":3})", R"({"active":1,"ready":1,"succeeded":1,"uncountedTerminatedPods":{"succeeded":["u1"],"failed":["u2"]}})",
       "{}", "active ready"},
      {R"({"parallelism":0})", "{}", "{}", "ready"},
      {"{}", R"({"succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"}]})", "{}", "ready"},
      {"{}",
       R"({"succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True","message":"done"}]})",
       "{}", "ready finished succeeded done"},
      {R"({"completions":3,"parallelism":3})",
       R"({"succeeded":1,"conditions":[{"type":"Complete","status":"True","message":"Matched rules at index 0"}]})", "{}",
       "finished succeeded Matched rules at index 0"},  // partial success by a success policy
      {"{}", R"({"conditions":[{"type":"Failed","status":"True","message":"BackoffLimitExceeded"}]})", "{}",
       "finished BackoffLimitExceeded"},
      {"{}", R"({"conditions":[{"type":"Failed","status":"False"},{"type":"FailureTarget","status":"True"}]})", "{}", ""},
  };
  for (const auto& c : cases) {
    Arena arena;
    const auto j = observed_job(job(c.spec, c.status, R"({"annotations":)" + std::string(c.annotations) + "}"), arena);
    std::string state;
    const auto add = [&](bool is, std::string_view word) {
      if (is) state.append(state.empty() ? "" : " ").append(word);
    };
    add(j.suspended, "suspended");
    add(j.stopping, "stopping");
    add(j.active, "active");
    add(j.pods_ready, "ready");
    add(j.finished, "finished");
    add(j.succeeded, "succeeded");
    add(!j.finish_message.empty(), j.finish_message);
    EXPECT_EQ(state, c.state) << c.spec << c.status;
  }
}

// EJ-60, EJ-61, BA-151
TEST(BatchJob, CountsReclaimablePods) {
  struct Case {
    std::string_view spec, status;
    std::optional<std::int32_t> workload_count;
    std::string reclaimable;
  };
  const Case cases[] = {
      {R"({"parallelism":3,"completions":5})", "{}", {}, ""},
      {R"({"parallelism":3,"completions":5})", R"({"succeeded":2})", {}, ""},
      {R"({"parallelism":3,"completions":5})", R"({"succeeded":3})", {}, "main=1"},
      {R"({"parallelism":3,"completions":5})", R"({"succeeded":5})", {}, "main=3"},
      {R"({"parallelism":3})", R"({"succeeded":1})", {}, "main=1"},
      {R"({"parallelism":1,"completions":1})", R"({"succeeded":1})", {}, ""},
      // With parallelism 10, completions 6 and 2 done, four may still run: 2 of the 6 are free.
      {R"({"parallelism":10,"completions":6})", R"({"succeeded":2})", {}, "main=2"},
      // Partial admission lowered parallelism from 10 to 5: the Workload's count rules.
      {R"({"parallelism":5,"completions":10})", R"({"succeeded":8})", 10, "main=8"},
      {R"({"parallelism":5,"completions":10})", R"({"succeeded":8})", {}, "main=3"},
      {R"({"parallelism":4,"completions":10})", R"({"succeeded":8})", 6, "main=4"},  // EJ-156's numbers
      {R"({"parallelism":3,"completions":4,"completionMode":"Indexed"})",
       R"({"succeeded":1,"completedIndexes":"0","failedIndexes":"2-3"})",
       {},
       "main=2"},
      {R"({"parallelism":3,"completions":4,"completionMode":"Indexed"})", R"({"succeeded":9,"completedIndexes":"0,7-9"})", {}, ""},
      {R"({"parallelism":3,"completions":4,"completionMode":"Indexed"})",
       R"({"completedIndexes":"0-1","failedIndexes":"1"})",
       {},
       "main=1"},
      {R"({"parallelism":3,"completions":3})", R"({"completedIndexes":"0-1"})", {}, ""},
  };
  for (const auto& c : cases) {
    Arena arena;
    std::vector<PodSetCount> counts;
    if (c.workload_count) counts.push_back({"main", *c.workload_count});
    EXPECT_EQ(joined(observed_job(job(c.spec, c.status), arena, counts).reclaimable), c.reclaimable) << c.spec << c.status;
  }
}

TEST(BatchJob, NamesWhatIsWrong) {
  EXPECT_EQ(refusal(types::job, job(R"({"parallelism":"2"})")),
            "Job ns/j: spec.parallelism: found \"2\", allowed: an integer from 0 to 2147483647");
  EXPECT_EQ(refusal(types::job, job(R"({"template":null})")), "Job ns/j: spec.template: found nothing, allowed: an object");
  EXPECT_EQ(refusal(types::job, R"({"metadata":{"name":"j"}})"), "Job j: spec: found nothing, allowed: an object");
  EXPECT_EQ(refusal(types::job, job("{}", R"({"active":-1})")),
            "Job ns/j: status.active: found -1, allowed: an integer from 0 to 2147483647");
}

}  // namespace
}  // namespace hindsight::connectors
