// Jobs whose containers may be sized: what is read of their bounds, and how a plan is written and taken back (5440 §3.D, §3.E).

#include <gtest/gtest.h>

#include "connectors/json/resource_bounds.hpp"
#include "connectors/objects/plan.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

using admission::JobIntent;

constexpr const char* one_gpu_at_least = R"({"t":{"nvidia.com/gpu":{"min":"1","max":"6","step":"1"}}})";

Json job(const std::string& policy = "Shrink", const std::string& bounds = one_gpu_at_least) {
  Json out = Json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"j","namespace":"ns","uid":"u","resourceVersion":"10","generation":1,"labels":{"kueue.x-k8s.io/queue-name":"lq"}},
    "spec":{"suspend":true,"parallelism":1,"template":{"spec":{
      "containers":[{"name":"t","image":"i","resources":{"requests":{"cpu":"8","nvidia.com/gpu":"4"},"limits":{"cpu":"10","nvidia.com/gpu":"4"}}},
                    {"name":"u","image":"i","resources":{"requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}}}],
      "initContainers":[{"name":"s","image":"i","restartPolicy":"Always"}]}}},
    "status":{}})");
  out["metadata"]["annotations"] = {{"hindsight.dev/resource-policy", policy}, {"hindsight.dev/resource-bounds", bounds}};
  return out;
}

Json workload_of(const Json& of) {
  admission::WorkloadCreateIntent intent;
  intent.job_uid = "u";
  intent.job_kind = "Job";
  intent.job_group = "batch";
  intent.namespace_ = "ns";
  intent.job_name = "j";
  intent.name = "job-j-12345";
  auto write = plan_create(intent, of);
  EXPECT_TRUE(write);
  Json out = Json::parse(write->body);
  out["metadata"]["uid"] = "w";
  out["metadata"]["resourceVersion"] = "5";
  return out;
}

JobIntent start(Amount gpus = 2) {
  JobIntent out;
  out.uid = "u";
  out.kind = "Job";
  out.group = "batch";
  out.namespace_ = "ns";
  out.name = "j";
  out.run = true;
  out.workload = "job-j-12345";
  out.workload_uid = "w";
  out.cluster_queue = "cq";
  out.pod_sets = {{"main", 1, {{"zone", "a"}}, {}, {}}};
  out.sizes = {{"main", "t", "nvidia.com/gpu", 4, gpus}};
  return out;
}

JobIntent stop(Amount gpus = 2) {
  auto out = start(gpus);
  out.run = false;
  out.pod_sets.clear();
  return out;
}

std::vector<Write> plan(const JobIntent& intent, const Json& object, const Json& workload,
                        TemplateMutability mutability = TemplateMutability::suspended) {
  auto writes = plan_job(intent, object, workload, mutability);
  EXPECT_TRUE(writes) << writes.error().message;
  return writes ? *writes : std::vector<Write>{};
}

Json container(const Json& object, std::size_t i = 0) { return object["spec"]["template"]["spec"]["containers"][i]["resources"]; }

/// Suspended by us, its pods gone.
Json stopped(Json object) {
  object["metadata"]["annotations"]["kueue.x-k8s.io/stopping"] = "true";
  object["spec"]["suspend"] = true;
  object["status"] = Json::parse(R"({"active":0,"conditions":[{"type":"Suspended","status":"True"}]})");
  return object;
}

// MR-40, MR-42
TEST(SizedJob, ItsBoundsAreRead) {
  Arena arena;
  const auto seen = observed<JobObserved>(types::job, job("Fit").dump(), arena);
  EXPECT_EQ(seen.resource_policy, ResourcePolicy::fit);
  EXPECT_EQ(seen.resource_bounds, one_gpu_at_least);
  ASSERT_EQ(seen.pod_sets[0].sized.size(), 3U);
  const auto& t = seen.pod_sets[0].sized[0];
  EXPECT_EQ(t.name, "t");
  ASSERT_EQ(t.amounts.size(), 1U) << "cpu has no bounds";
  EXPECT_EQ(t.amounts[0].request, 4);
  EXPECT_EQ(t.amounts[0].limit, 4);
  EXPECT_EQ(t.amounts[0].low, 1);
  EXPECT_EQ(t.amounts[0].high, 6);
  EXPECT_EQ(t.amounts[0].step, 1);
  EXPECT_EQ(seen.pod_sets[0].sized[1].amounts[0].step, 0) << "it counts, and stays as it is";
  EXPECT_EQ(seen.pod_sets[0].sized[2].role, ContainerRole::sidecar);

  const auto high = [&](const std::string& policy, const std::string& bounds) {
    Arena own;
    const auto j = observed<JobObserved>(types::job, job(policy, bounds).dump(), own);
    return j.pod_sets[0].sized.empty() ? -1 : j.pod_sets[0].sized[0].amounts[0].high;
  };
  EXPECT_EQ(high("Shrink", one_gpu_at_least), 4) << "never above the template";
  EXPECT_EQ(high("Fit", R"({"t":{"cpu":{"min":"1","max":"100","step":"1"}}})"), 10000) << "nor above a limit of its own";
  EXPECT_EQ(high("None", one_gpu_at_least), -1);
  EXPECT_EQ(high("Shrink", "nonsense"), -1);
  EXPECT_EQ(high("Shrink", R"({"other":{"cpu":{"step":"1"}}})"), -1);
}

// MR-55: the sizes are told apart from all else of the template.
TEST(SizedJob, OnlyBoundedAmountsAreLeftOutOfTheHash) {
  const auto hash = [](const Json& object) {
    Arena arena;
    return observed<JobObserved>(types::job, object.dump(), arena).pod_sets[0].bare_hash;
  };
  Json sized = job(), other = job(), image = job();
  auto& resources = sized["spec"]["template"]["spec"]["containers"][0]["resources"];
  for (const char* list : {"requests", "limits"}) resources[list]["nvidia.com/gpu"] = "2";
  other["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "7";
  image["spec"]["template"]["spec"]["containers"][0]["image"] = "x";
  EXPECT_EQ(hash(sized), hash(job()));
  EXPECT_NE(hash(other), hash(job()));
  EXPECT_NE(hash(image), hash(job()));
}

// MR-75 (what a webhook says), in its own words
TEST(ResourceBounds, ErrorsNameWhatIsWrong) {
  const auto error = [](std::string_view policy, std::string_view bounds) {
    const auto read = parse_resource_bounds(policy, bounds);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error("Shrink", one_gpu_at_least), "");
  EXPECT_EQ(error("", ""), "");
  EXPECT_EQ(error("Grow", ""), R"(found "Grow", allowed: None, Shrink, Fit)");
  EXPECT_EQ(error("Shrink", "{"), R"(found "{", allowed: JSON {container: {resource: {min, max, step}}})");
  EXPECT_EQ(error("Shrink", R"({"t":1})"), "t: found 1, allowed: {container: {resource: {min, max, step}}}");
  EXPECT_EQ(error("Shrink", R"({"t":{"cpu":{"min":"1"}}})"), "t.cpu.step: found null, allowed: a quantity above 0");
  EXPECT_EQ(error("Shrink", R"({"t":{"cpu":{"step":"-1"}}})"), R"(t.cpu.step: found "-1", allowed: a quantity that is not negative)");
  EXPECT_EQ(error("Shrink", R"({"t":{"cpu":{"least":"1","step":"1"}}})"), R"(t.cpu.least: found "1", allowed: min, max, step)");
  EXPECT_EQ(error("Shrink", R"({"t":{"cpu":{"min":"2","max":"1","step":"1"}}})"),
            R"(t.cpu: found {"max":"1","min":"2","step":"1"}, allowed: min is not above max)");
}

// MR-42, MR-45, MR-47, MR-56: one write with everything in it; the Workload keeps the originals.
TEST(SizedJob, AStartIsOneWrite) {
  Json object = job();
  const Json workload = workload_of(object);
  EXPECT_EQ(workload["metadata"]["annotations"]["hindsight.dev/resource-bounds"], one_gpu_at_least);
  const auto writes = plan(start(), object, workload);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(Json::parse(writes[0].body)["metadata"]["resourceVersion"], "10");
  store(object, writes[0]);
  EXPECT_EQ(object["spec"]["suspend"], false);
  EXPECT_EQ(object["spec"]["template"]["spec"]["nodeSelector"]["zone"], "a");
  EXPECT_EQ(container(object), Json::parse(R"({"requests":{"cpu":"8","nvidia.com/gpu":"2"},"limits":{"cpu":"10","nvidia.com/gpu":"2"}})"));
  EXPECT_EQ(container(object, 1), container(job(), 1));
  EXPECT_TRUE(plan(start(), object, workload).empty()) << "done";
}

// MR-49, MR-50: E9. After a change by the user the plan is for something else; the log says what comes next.
TEST(SizedJob, E9AChangedJobIsNotStartedWithAnOldPlan) {
  const Json workload = workload_of(job());
  Json changed = job();
  changed["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "9";
  EXPECT_TRUE(plan(start(), changed, workload).empty());
  Json same = job();
  same["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "8000m";
  EXPECT_EQ(plan(start(), same, workload).size(), 1U) << "amounts count by value";
}

// MR-48: at 1.36.0 a job that was just made is frozen until its condition Suspended is there.
TEST(SizedJob, AStartWaitsUntilTheTemplateMayChange) {
  Json object = job();
  const Json workload = workload_of(object);
  for (const bool sized : {true, false}) {
    auto intent = start();
    if (!sized) intent.sizes.clear();
    object["status"] = Json::object();
    EXPECT_TRUE(plan(intent, object, workload, TemplateMutability::suspended_condition).empty());
    object["status"] = Json::parse(R"({"conditions":[{"type":"Suspended","status":"True"}]})");
    EXPECT_EQ(plan(intent, object, workload, TemplateMutability::suspended_condition).size(), 1U);
    object["status"]["active"] = 1;
    EXPECT_TRUE(plan(intent, object, workload).empty()) << "an old pod is active still";
  }
}

// MR-59, MR-60, MR-66
TEST(SizedJob, AStopGivesTheResourcesBackByteForByte) {
  Json object = job();
  object["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "8000m";
  const Json before = object, workload = workload_of(object);
  for (int i = 0; i < 10; ++i) {
    for (const auto& w : plan(start(1 + i % 3), object, workload)) store(object, w);
    ASSERT_EQ(container(object)["requests"]["nvidia.com/gpu"], std::to_string(1 + i % 3));
    object["status"] = Json::parse(R"({"active":1,"startTime":"2026-01-01T00:00:00Z"})");
    auto writes = plan(stop(1 + i % 3), object, workload);
    ASSERT_EQ(writes.size(), 1U);
    store(object, writes[0]);
    EXPECT_TRUE(plan(stop(1 + i % 3), object, workload).empty()) << "until the pod is gone";
    object = stopped(object);
    writes = plan(stop(1 + i % 3), object, workload);
    ASSERT_EQ(writes.size(), 1U);
    store(object, writes[0]);
    EXPECT_EQ(object["spec"]["template"], before["spec"]["template"]);
  }
}

// MR-65
TEST(SizedJob, WhatTheUserChangedStays) {
  Json object = job();
  const Json workload = workload_of(object);
  for (const auto& w : plan(start(), object, workload)) store(object, w);
  object = stopped(object);
  object["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3";
  for (const auto& w : plan(stop(), object, workload)) store(object, w);
  EXPECT_EQ(container(object)["requests"]["cpu"], "3");
  EXPECT_EQ(container(object)["requests"]["nvidia.com/gpu"], "2");
  EXPECT_FALSE(object["spec"]["template"]["spec"].contains("nodeSelector")) << "what was added goes all the same";
}

// MR-70
TEST(SizedJob, WithoutAWorkloadThePlanTellsWhatWasThere) {
  Json object = job();
  for (const auto& w : plan(start(), object, workload_of(object))) store(object, w);
  object = stopped(object);
  for (const auto& w : plan(stop(), object, Json::object())) store(object, w);
  EXPECT_EQ(container(object), container(job()));
}

// MR-45: the plan is shown while it is in force; what somebody else writes there is put right.
TEST(SizedJob, TheWorkloadShowsThePlan) {
  Json workload = workload_of(job());
  admission::WorkloadIntent intent;
  intent.uid = "w";
  intent.plan = start().sizes;
  const auto settle_workload = [&] { settle(workload, [&](const Json& o) { return plan_workload(intent, o); }); };
  settle_workload();
  auto& annotations = workload["metadata"]["annotations"];
  EXPECT_EQ(annotations["hindsight.dev/resource-plan"], R"({"main":{"t":{"nvidia.com/gpu":"2"}}})");
  Arena arena;
  const auto seen = observed<WorkloadObserved>(types::workload, workload.dump(), arena);
  ASSERT_EQ(seen.plan.size(), 1U);
  EXPECT_EQ(seen.plan[0].container, "t");
  EXPECT_EQ(seen.plan[0].original, 4);
  EXPECT_EQ(seen.plan[0].amount, 2);
  annotations["hindsight.dev/resource-plan"] = "mine";
  settle_workload();
  EXPECT_EQ(annotations["hindsight.dev/resource-plan"], R"({"main":{"t":{"nvidia.com/gpu":"2"}}})");
  intent.plan.clear();
  settle_workload();
  EXPECT_FALSE(annotations.contains("hindsight.dev/resource-plan"));
}

}  // namespace
}  // namespace hindsight::connectors
