// Starting and stopping a batch Job: what is injected, what is restored, and in which steps.

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

using admission::JobIntent;

Json job() {
  return Json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"j","namespace":"ns","uid":"u","resourceVersion":"10","generation":1,"labels":{"kueue.x-k8s.io/queue-name":"lq"}},
    "spec":{"suspend":true,"parallelism":5,"completions":8,"template":{
      "metadata":{"labels":{"app":"a","batch.kubernetes.io/job-name":"j"},"annotations":{"note":"n"}},
      "spec":{"nodeSelector":{"arch":"arm"},"tolerations":[{"key":"own","operator":"Exists"}],
        "containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"1"}}}]}}},
    "status":{}})");
}

/// The Workload that plan_create() makes for a job.
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
  return Json::parse(write->body);
}

JobIntent start() {
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
  out.local_queue = "lq";
  out.pod_sets = {{"main",
                   5,
                   {{"instance-type", "spot"}},
                   {{"spot", "", true, TaintEffect::no_schedule}, {"own", "", true, TaintEffect::unspecified}},
                   {R"({"name":"main","labels":{"from":"check"},"annotations":{"prov":"p1"},"nodeSelector":{"zone":"b"},
                        "tolerations":[{"key":"gpu","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]})"}}};
  return out;
}

JobIntent stop() {
  auto out = start();
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

int settle_job(Json& object, const JobIntent& intent, const Json& workload, TemplateMutability mutability = TemplateMutability::suspended) {
  return settle(object, [&](const Json& o) { return plan(intent, o, workload, mutability); });
}

/// What the API server and the Job controller show after a start, and after a suspension whose pods are gone.
void run_pods(Json& object) { object["status"] = Json::parse(R"({"active":5,"ready":5,"startTime":"2026-01-01T00:00:00Z"})"); }
void end_pods(Json& object) { object["status"] = Json::parse(R"({"active":0,"conditions":[{"type":"Suspended","status":"True"}]})"); }

// BA-169, BA-137
TEST(StartJob, InjectsWhatWasAssignedInOnePatch) {
  auto object = job();
  const auto writes = plan(start(), object, Json::object());
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].type, &types::job);
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({"metadata":{"uid":"u","resourceVersion":"10"},"spec":{"suspend":false,"template":{
    "metadata":{"labels":{"from":"check","kueue.x-k8s.io/podset":"main","kueue.x-k8s.io/cluster-queue-name":"cq","kueue.x-k8s.io/local-queue-name":"lq"},
      "annotations":{"prov":"p1","kueue.x-k8s.io/workload":"job-j-12345"}},
    "spec":{"nodeSelector":{"instance-type":"spot","zone":"b"},"tolerations":[{"key":"own","operator":"Exists"},
      {"key":"spot","operator":"Exists","effect":"NoSchedule"},{"key":"gpu","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]}}}})"));
  store(object, writes[0]);
  EXPECT_TRUE(plan(start(), object, Json::object()).empty());
  Arena arena;
  const auto seen = observed<JobObserved>(types::job, object.dump(), arena);
  EXPECT_FALSE(seen.suspended);
  EXPECT_EQ(joined(seen.pod_sets[0].node_selector), "arch=arm instance-type=spot zone=b");
  EXPECT_EQ(seen.pod_sets[0].count, 5);
}

// BA-137
TEST(StartJob, RefusesAKeyWithAnotherValue) {
  struct Case {
    std::string_view field;
    void (*change)(Json& object, JobIntent& intent);
    std::string_view error;
  };
  const Case cases[] = {
      {"node selector of the job",
       [](Json& o, JobIntent&) { o["spec"]["template"]["spec"]["nodeSelector"]["instance-type"] = "on-demand"; },
       R"(Job ns/j: conflict for nodeSelector of pod set main: key instance-type found with "on-demand", the start sets "spot")"},
      {"label of the job", [](Json& o, JobIntent&) { o["spec"]["template"]["metadata"]["labels"]["from"] = "user"; },
       R"(Job ns/j: conflict for labels of pod set main: key from found with "user", the start sets "check")"},
      {"annotation of the job", [](Json& o, JobIntent&) { o["spec"]["template"]["metadata"]["annotations"]["prov"] = "p0"; },
       R"(Job ns/j: conflict for annotations of pod set main: key prov found with "p0", the start sets "p1")"},
      {"two checks",
       [](Json&, JobIntent& i) {
         i.pod_sets[0].pod_set_updates.push_back(R"([{"name":"other","labels":{"from":"x"}},{"name":"main","labels":{"from":"y"}}])");
       },
       R"(Job ns/j: conflict for labels of pod set main: key from found with "check", the start sets "y")"},
      {"flavor and check",
       [](Json&, JobIntent& i) { i.pod_sets[0].pod_set_updates.push_back(R"({"nodeSelector":{"instance-type":"gpu"}})"); },
       R"(Job ns/j: conflict for nodeSelector of pod set main: key instance-type found with "spot", the start sets "gpu")"},
      {"no JSON", [](Json&, JobIntent& i) { i.pod_sets[0].pod_set_updates = {"{"}; },
       "Job ns/j: podSetUpdates of pod set main: found {, allowed: JSON"},
      {"pod sets of another job", [](Json&, JobIntent& i) { i.pod_sets.push_back(i.pod_sets[0]); },
       "Job ns/j: invalid podset infos: expecting 1 podset, got 2"},
  };
  for (const auto& c : cases) {
    auto object = job();
    auto intent = start();
    c.change(object, intent);
    const auto writes = plan_job(intent, object, Json::object());
    ASSERT_FALSE(writes) << c.field;
    EXPECT_EQ(writes.error().kind, ErrorKind::invalid) << c.field;
    EXPECT_EQ(writes.error().message, c.error) << c.field;
  }
}

// EJ-66: what an earlier start left behind is replaced.
TEST(StartJob, ReplacesItsOwnLeftOvers) {
  auto object = job();
  auto& metadata = object["spec"]["template"]["metadata"];
  metadata["labels"]["kueue.x-k8s.io/local-queue-name"] = "older";
  metadata["annotations"]["kueue.x-k8s.io/workload"] = "older";
  EXPECT_EQ(settle_job(object, start(), Json::object()), 1);
  EXPECT_EQ(object["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/local-queue-name"], "lq");
  EXPECT_EQ(object["spec"]["template"]["metadata"]["annotations"]["kueue.x-k8s.io/workload"], "job-j-12345");
}

TEST(StartJob, LeavesOutNamesThatAreNoLabelValue) {
  auto object = job();
  auto intent = start();
  intent.cluster_queue = "team.cq";
  intent.local_queue = std::string(64, 'q');
  settle_job(object, intent, Json::object());
  const auto& labels = object["spec"]["template"]["metadata"]["labels"];
  EXPECT_FALSE(labels.contains("kueue.x-k8s.io/cluster-queue-name"));
  EXPECT_FALSE(labels.contains("kueue.x-k8s.io/local-queue-name"));
}

// BA-177
TEST(StartJob, WritesThePartialCount) {
  struct Case {
    std::string_view annotations;
    int parallelism, completions;
  };
  const Case cases[] = {
      {"{}", 5, 8},
      {R"({"kueue.x-k8s.io/job-min-parallelism":"1"})", 3, 8},
      {R"({"kueue.x-k8s.io/job-min-parallelism":"1","kueue.x-k8s.io/job-completions-equal-parallelism":"true"})", 3, 3},
      {R"({"kueue.x-k8s.io/job-completions-equal-parallelism":"true"})", 5, 8},
  };
  for (const auto& c : cases) {
    auto original = job();
    original["metadata"]["annotations"] = Json::parse(c.annotations);
    original["spec"]["completions"] = c.completions == 3 ? 5 : 8;  // the webhook asks for equality where it shall be kept
    auto object = original;
    auto intent = start();
    intent.pod_sets[0].count = 3;
    EXPECT_EQ(settle_job(object, intent, Json::object()), 1);
    EXPECT_EQ(object["spec"]["parallelism"], c.parallelism) << c.annotations;
    EXPECT_EQ(object["spec"]["completions"], c.completions) << c.annotations;

    // BA-176
    run_pods(object);
    EXPECT_EQ(settle_job(object, stop(), workload_of(original)), 1);
    end_pods(object);
    EXPECT_EQ(settle_job(object, stop(), workload_of(original)), 1);
    EXPECT_EQ(object["spec"], original["spec"]) << c.annotations;
  }
}

// BA-176, MR-59, MR-60
TEST(StopJob, RestoresTheTemplateInSteps) {
  auto object = job();
  const auto workload = workload_of(object);
  settle_job(object, start(), workload);
  run_pods(object);

  // 1. Suspend, and say that a stop is under way.
  auto writes = plan(stop(), object, workload);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({"metadata":{"uid":"u","resourceVersion":"11",
      "annotations":{"kueue.x-k8s.io/stopping":"true"}},"spec":{"suspend":true}})"));
  store(object, writes[0]);
  Arena arena;
  const auto stopping = observed<JobObserved>(types::job, object.dump(), arena);
  EXPECT_FALSE(stopping.suspended);
  EXPECT_TRUE(stopping.stopping);

  // 2. Wait: pods are still active, then until the Job controller says Suspended.
  EXPECT_TRUE(plan(stop(), object, workload).empty());
  object["status"]["active"] = 0;
  EXPECT_TRUE(plan(stop(), object, workload).empty());
  end_pods(object);

  // 3. Restore in one write.
  EXPECT_EQ(settle_job(object, stop(), workload), 1);
  EXPECT_EQ(object["spec"], job()["spec"]);
  EXPECT_FALSE(object["metadata"].value("annotations", Json::object()).contains("kueue.x-k8s.io/stopping"));
  EXPECT_TRUE(observed<JobObserved>(types::job, object.dump(), arena).suspended);
}

// MR-60: a cluster without a Job controller sets no startTime; the template can be restored at once.
TEST(StopJob, RestoresAtOnceWhatNeverStarted) {
  auto object = job();
  const auto workload = workload_of(object);
  settle_job(object, start(), workload);
  EXPECT_EQ(settle_job(object, stop(), workload), 2);
  EXPECT_EQ(object["spec"], job()["spec"]);
}

// MR-60
TEST(StopJob, MakesTheTemplateMutableAsTheServersLevelAsks) {
  const auto original = job();
  const auto workload = workload_of(original);
  const auto stopped_half = [&] {
    auto object = original;
    settle_job(object, start(), workload);
    run_pods(object);
    store(object, plan(stop(), object, workload).front());
    return object;
  };
  {  // Up to 1.34: the start time is reset, without waiting.
    auto object = stopped_half();
    const auto writes = plan(stop(), object, workload, TemplateMutability::never_started);
    ASSERT_EQ(writes.size(), 1U);
    EXPECT_EQ(writes[0].subresource, "status");
    EXPECT_EQ(Json::parse(writes[0].body)["status"], Json::parse(R"({"startTime":null})"));
    EXPECT_EQ(settle_job(object, stop(), workload, TemplateMutability::never_started), 2);
    EXPECT_EQ(object["spec"], original["spec"]);
  }
  {  // 1.36.0: the condition is needed, also for a Job that never started.
    auto object = stopped_half();
    object["status"] = Json::parse(R"({"active":0})");
    EXPECT_TRUE(plan(stop(), object, workload, TemplateMutability::suspended_condition).empty());
    end_pods(object);
    object["status"]["startTime"] = "2026-01-01T00:00:00Z";
    EXPECT_EQ(settle_job(object, stop(), workload, TemplateMutability::suspended_condition), 1);
    EXPECT_EQ(object["spec"], original["spec"]);
  }
  {  // From 1.36.2: active pods forbid it whatever the rest says.
    auto object = stopped_half();
    object["status"] = Json::parse(R"({"active":1,"conditions":[{"type":"Suspended","status":"True"}]})");
    EXPECT_TRUE(plan(stop(), object, workload).empty());
  }
}

// MR-60: with nothing to restore there is no wait, and no annotation to take away again.
TEST(StopJob, SuspendsInOneWriteWhatHasNothingToRestore) {
  auto object = job();
  const auto workload = workload_of(object);
  object["spec"]["suspend"] = false;
  run_pods(object);
  const auto writes = plan(stop(), object, workload);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({"metadata":{"uid":"u","resourceVersion":"10"},"spec":{"suspend":true}})"));
  EXPECT_EQ(settle_job(object, stop(), workload), 1);
}

TEST(StopJob, OnlySuspendsWithoutAWorkload) {
  auto object = job();
  settle_job(object, start(), Json::object());
  run_pods(object);
  const auto running = object["spec"]["template"];
  EXPECT_EQ(settle_job(object, stop(), Json::object()), 1);
  EXPECT_EQ(object["spec"]["template"], running);
  EXPECT_EQ(object["spec"]["suspend"], true);
}

// MR-83: after a crash between the steps the stop goes on, also when its Workload has gone meanwhile.
TEST(StopJob, FinishesAStopWhoseWorkloadHasGone) {
  auto object = job();
  const auto workload = workload_of(object);
  settle_job(object, start(), workload);
  run_pods(object);
  store(object, plan(stop(), object, workload).front());
  EXPECT_EQ(settle_job(object, stop(), Json::object()), 1);
  EXPECT_FALSE(object["metadata"]["annotations"].contains("kueue.x-k8s.io/stopping"));
}

/// The stop of a job whose Workload has gone: what its start has put in, and what the log has of the job before it.
JobIntent stop_by_log() {
  auto out = start();
  out.run = false;
  out.before = {{"main", 5, {{"arch", "arm"}}, {{"own", "", true, TaintEffect::unspecified}}, false}};
  return out;
}

// BA-174, BA-176, D16: a deleted Workload leaves nothing of a start behind.
TEST(StopJob, RestoresFromTheLogWhereTheWorkloadHasGone) {
  for (const bool placed : {false, true}) {
    auto object = job();
    object["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1";
    const auto original = object["spec"];
    auto begin = start();
    begin.pod_sets[0].count = 3;
    begin.pod_sets[0].placed = placed;
    EXPECT_EQ(settle_job(object, begin, Json::object()), 1);
    EXPECT_EQ(object["spec"]["parallelism"], 3);
    EXPECT_EQ(object["spec"]["template"]["spec"].contains("schedulingGates"), placed);
    run_pods(object);
    auto end = stop_by_log();
    end.pod_sets = begin.pod_sets;
    EXPECT_EQ(settle_job(object, end, Json::object()), 1);
    end_pods(object);
    EXPECT_EQ(settle_job(object, end, Json::object()), 1);
    EXPECT_EQ(object["spec"], original);
  }
}

// Labels of a flavor may be others by now; those that the job had itself are known.
TEST(StopJob, RestoresFromTheLogWhateverTheFlavorSaysByNow) {
  auto object = job();
  const auto original = object["spec"];
  settle_job(object, start(), Json::object());
  run_pods(object);
  auto end = stop_by_log();
  end.pod_sets[0].node_labels = {{"instance-type", "reserved"}, {"disk", "fast"}};
  end.pod_sets[0].tolerations.clear();
  settle_job(object, end, Json::object());
  end_pods(object);
  settle_job(object, end, Json::object());
  EXPECT_EQ(object["spec"], original);
}

// While the Workload is there, it says what was there to the letter.
TEST(StopJob, PrefersTheWorkloadToTheLog) {
  auto object = job();
  const auto workload = workload_of(object);
  settle_job(object, start(), workload);
  run_pods(object);
  auto end = stop_by_log();
  end.before[0].node_selector.clear();
  settle_job(object, end, workload);
  end_pods(object);
  settle_job(object, end, workload);
  EXPECT_EQ(object["spec"], job()["spec"]);
}

// A user may have asked for the same that a start puts in.
TEST(StopJob, KeepsWhatTheJobAskedForItself) {
  auto object = job();
  object["spec"]["template"]["metadata"]["annotations"]["kueue.x-k8s.io/podset-unconstrained-topology"] = "true";
  object["spec"]["template"]["spec"]["nodeSelector"]["instance-type"] = "spot";
  const auto original = object["spec"];
  auto begin = start();
  begin.pod_sets[0].placed = true;
  settle_job(object, begin, Json::object());
  run_pods(object);
  auto end = stop_by_log();
  end.pod_sets = begin.pod_sets;
  end.before[0].node_selector.emplace_back("instance-type", "spot");
  end.before[0].asks_for_topology = true;
  settle_job(object, end, Json::object());
  end_pods(object);
  settle_job(object, end, Json::object());
  EXPECT_EQ(object["spec"], original);
}

TEST(StopJob, LeavesASuspendedJobAlone) {
  auto object = job();
  object["spec"]["template"]["spec"]["nodeSelector"]["arch"] = "amd64";  // a user's change, not ours to undo
  EXPECT_TRUE(plan(stop(), object, workload_of(job())).empty());
}

// BA-174: a start waits for the stop that is under way.
TEST(StartJob, CompletesAStopBeforeItStarts) {
  auto object = job();
  const auto workload = workload_of(object);
  settle_job(object, start(), workload);
  run_pods(object);
  store(object, plan(stop(), object, workload).front());
  auto again = start();
  again.pod_sets[0].node_labels = {{"instance-type", "on-demand"}};
  EXPECT_TRUE(plan(again, object, workload).empty());
  end_pods(object);
  EXPECT_EQ(settle_job(object, again, workload), 2);
  EXPECT_EQ(object["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"arch":"arm","instance-type":"on-demand","zone":"b"})"));
}

// MR-66: many rounds leave the original as it was.
TEST(StopJob, RestoresTheOriginalAfterManyRounds) {
  auto object = job();
  object["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1";
  const auto original = object["spec"];
  const auto workload = workload_of(object);
  for (int round = 0; round < 10; ++round) {
    auto intent = start();
    intent.pod_sets[0].count = 1 + round % 5;
    intent.pod_sets[0].node_labels = {{"instance-type", "t" + std::to_string(round)}};
    EXPECT_EQ(settle_job(object, intent, workload), 1);
    run_pods(object);
    EXPECT_EQ(settle_job(object, stop(), workload), 1);
    end_pods(object);
    EXPECT_EQ(settle_job(object, stop(), workload), 1);
    ASSERT_EQ(object["spec"], original) << "round " << round;
  }
}

TEST(PlanJob, LeavesAnotherJobAloneAndStartsNoDeletedOne) {
  auto deleting = job();
  deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_TRUE(plan(start(), deleting, Json::object()).empty());
  deleting["spec"]["suspend"] = false;
  EXPECT_FALSE(plan(stop(), deleting, Json::object()).empty()) << "its user's finalizers may keep it, and its pods, for ever";
  auto intent = start();
  intent.uid = "another";
  EXPECT_TRUE(plan(intent, job(), Json::object()).empty());
}

TEST(PlanJob, NamesAKindThatNoIntegrationKnows) {
  auto intent = start();
  intent.kind = "RayService";
  intent.group = "ray.io";
  const auto writes = plan_job(intent, job(), Json::object());
  ASSERT_FALSE(writes);
  EXPECT_EQ(writes.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(writes.error().message, "RayService ns/j: no integration for kind RayService of group \"ray.io\"");
}

// ---- JobSet -----------------------------------------------------------------------------------------------------------------

Json job_set() {
  return Json::parse(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",
    "metadata":{"name":"s","namespace":"ns","uid":"u","resourceVersion":"1"},
    "spec":{"suspend":true,"network":{"enableDNSHostnames":true},"replicatedJobs":[
      {"name":"leader","template":{"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"arch":"arm"},"containers":[]}}}}},
      {"name":"workers","replicas":2,"template":{"metadata":{"annotations":{"x":"y"}},"spec":{"template":{"spec":{"containers":[]}}}}}]}})");
}

JobIntent start_set() {
  auto out = start();
  out.kind = "JobSet";
  out.group = "jobset.x-k8s.io";
  out.name = "s";
  out.pod_sets = {{"leader", 1, {{"t", "1"}}, {}, {}}, {"workers", 2, {{"t", "2"}}, {{"k", "v", false, TaintEffect::no_execute}}, {}}};
  return out;
}

// BA-169, BA-176
TEST(JobSet, StartsAndStopsInOneWriteEach) {
  auto object = job_set();
  Json workload = Json::parse(R"({"spec":{"podSets":[]}})");
  for (const auto& r : object["spec"]["replicatedJobs"])
    workload["spec"]["podSets"].push_back({{"name", r["name"]}, {"template", r["template"]["spec"]["template"]}});

  EXPECT_EQ(settle_job(object, start_set(), workload), 1);
  EXPECT_EQ(object["spec"]["suspend"], false);
  const auto& jobs = object["spec"]["replicatedJobs"];
  EXPECT_EQ(jobs[0]["template"]["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"arch":"arm","t":"1"})"));
  EXPECT_EQ(jobs[0]["template"]["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/podset"], "leader");
  EXPECT_EQ(jobs[1]["template"]["spec"]["template"]["spec"]["tolerations"],
            Json::parse(R"([{"key":"k","operator":"Equal","value":"v","effect":"NoExecute"}])"));
  EXPECT_EQ(jobs[1]["template"]["metadata"], job_set()["spec"]["replicatedJobs"][1]["template"]["metadata"]);

  auto intent = start_set();
  intent.run = false;
  EXPECT_EQ(settle_job(object, intent, workload), 1);
  EXPECT_EQ(object["spec"], job_set()["spec"]);
}

// BA-137
TEST(JobSet, RefusesPodSetsThatAreNotItsOwn) {
  auto intent = start_set();
  intent.pod_sets.pop_back();
  EXPECT_EQ(plan_job(intent, job_set(), Json::object()).error().message, "JobSet ns/s: invalid podset infos: expecting 2 podset, got 1");
  intent.pod_sets.push_back({"others", 2, {}, {}, {}});
  EXPECT_EQ(plan_job(intent, job_set(), Json::object()).error().message,
            "JobSet ns/s: invalid podset infos: none for replicated job workers");
  intent.pod_sets[0].node_labels = {{"arch", "amd64"}};
  intent.pod_sets[1].name = "workers";
  EXPECT_EQ(plan_job(intent, job_set(), Json::object()).error().message,
            "JobSet ns/s: conflict for nodeSelector of pod set leader: key arch found with \"arm\", the start sets \"amd64\"");
}

}  // namespace
}  // namespace hindsight::connectors
