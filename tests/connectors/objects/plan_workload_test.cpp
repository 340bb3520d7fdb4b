// From a Workload's intent to the writes that are missing.

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

using admission::WorkloadIntent;

Json workload() {
  return Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"w","namespace":"ns","uid":"u","resourceVersion":"5","generation":3,
      "finalizers":["example.com/other","kueue.x-k8s.io/resource-in-use"]},
    "spec":{"active":true,"podSets":[{"name":"main","count":3,"template":{"spec":{"containers":[]}}}]},
    "status":{"conditions":[
      {"type":"example.com/Audit","status":"True","reason":"X","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"},
      {"type":"QuotaReserved","status":"False","reason":"Pending","message":"m","lastTransitionTime":"2026-01-01T00:00:01Z","observedGeneration":1},
      {"type":"PodsReady","status":"False","reason":"WaitForStart","message":"n","lastTransitionTime":"2026-01-01T00:00:02Z"}],
      "nominatedClusterNames":["a"],
      "resourceRequests":[{"name":"main","resources":{"cpu":"3"}}]}})");
}

constexpr std::int64_t midnight = 1767225600;
Time at(std::int64_t seconds) { return Time::from_seconds(midnight + seconds); }

/// What `workload()` says already.
WorkloadIntent as_it_is() {
  WorkloadIntent out;
  out.uid = "u";
  out.namespace_ = "ns";
  out.name = "w";
  out.conditions = {{ConditionType::quota_reserved, ConditionStatus::false_, "Pending", "m", at(1)},
                    {ConditionType::pods_ready, ConditionStatus::false_, "WaitForStart", "n", at(2)}};
  out.resource_requests = {{"main", {{"cpu", 3000}}}};
  return out;
}

WorkloadIntent admitted() {
  auto out = as_it_is();
  out.conditions = {
      {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved in ClusterQueue cq", at(10)},
      {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", Time{at(10).micros + 999'999}}};
  out.resource_requests.clear();
  out.has_admission = true;
  out.cluster_queue = "cq";
  out.assignments = {{"main", 3, {{"cpu", "spot"}, {"memory", "spot"}}, {{"cpu", 1500}, {"memory", 3LL << 30}}}};
  return out;
}

// Rule 5: an intent that is true already is no write, however quantities and times are spelled.
TEST(PlanWorkload, WritesNothingThatIsTrueAlready) {
  EXPECT_TRUE(plan_workload(as_it_is(), workload()).empty());
  auto object = workload();
  object["status"]["resourceRequests"][0]["resources"]["cpu"] = "3000m";
  object["status"]["conditions"][1]["lastTransitionTime"] = "2026-01-01T01:00:01+01:00";
  EXPECT_TRUE(plan_workload(as_it_is(), object).empty());
}

TEST(PlanWorkload, WritesAnAdmissionInOneStatusPatch) {
  auto object = workload();
  const auto writes = plan_workload(admitted(), object);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].type, &types::workload);
  EXPECT_EQ(writes[0].subresource, "status");
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({
    "metadata":{"uid":"u","resourceVersion":"5"},
    "status":{"resourceRequests":null,
      "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":3,"flavors":{"cpu":"spot","memory":"spot"},
        "resourceUsage":{"cpu":"1500m","memory":"3Gi"}}]},
      "conditions":[
        {"type":"example.com/Audit","status":"True","reason":"X","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"},
        {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"Quota reserved in ClusterQueue cq",
         "lastTransitionTime":"2026-01-01T00:00:10Z","observedGeneration":3},
        {"type":"Admitted","status":"True","reason":"Admitted","message":"The workload is admitted",
         "lastTransitionTime":"2026-01-01T00:00:10Z","observedGeneration":3}]}})"));
  store(object, writes[0]);
  EXPECT_TRUE(plan_workload(admitted(), object).empty());

  // What was written reads back as what was meant.
  Arena arena;
  const auto seen = observed<WorkloadObserved>(types::workload, object.dump(), arena);
  EXPECT_EQ(seen.admission_cluster_queue, "cq");
  ASSERT_EQ(seen.assignments.size(), 1U);
  EXPECT_EQ(joined(seen.assignments[0].usage), "cpu=1500 memory=3221225472");
  ASSERT_EQ(seen.conditions.size(), 2U);
  EXPECT_EQ(seen.conditions[1].type, ConditionType::admitted);
}

// BA-203
TEST(PlanWorkload, TakesAnAdmissionBack) {
  auto object = workload();
  settle(object, [](const Json& o) { return plan_workload(admitted(), o); });
  EXPECT_EQ(settle(object, [](const Json& o) { return plan_workload(as_it_is(), o); }), 1);
  EXPECT_FALSE(object["status"].contains("admission"));
  EXPECT_EQ(object["status"]["resourceRequests"], workload()["status"]["resourceRequests"]);
  EXPECT_EQ(object["status"]["nominatedClusterNames"], Json::parse(R"(["a"])"));
}

TEST(PlanWorkload, KeepsAnAdmissionWithForeignPartsThatSaysTheSame) {
  auto object = workload();
  settle(object, [](const Json& o) { return plan_workload(admitted(), o); });
  auto& assignment = object["status"]["admission"]["podSetAssignments"][0];
  assignment["topologyAssignment"] = {{"levels", {"host"}}, {"slices", Json::array()}};
  assignment["resourceUsage"]["memory"] = "3072Mi";
  EXPECT_TRUE(plan_workload(admitted(), object).empty());
}

TEST(PlanWorkload, KeepsTheObservedGenerationOfConditionsThatStay) {
  auto object = workload();
  auto intent = as_it_is();
  intent.conditions[1].reason = "WaitForRecovery";
  settle(object, [&](const Json& o) { return plan_workload(intent, o); });
  EXPECT_EQ(object["status"]["conditions"][1]["observedGeneration"], 1);
  EXPECT_EQ(object["status"]["conditions"][2]["observedGeneration"], 3);
}

TEST(PlanWorkload, RemovesConditionsOfOursThatTheIntentDoesNotName) {
  auto object = workload();
  auto intent = as_it_is();
  intent.conditions.clear();
  settle(object, [&](const Json& o) { return plan_workload(intent, o); });
  ASSERT_EQ(object["status"]["conditions"].size(), 1U);
  EXPECT_EQ(object["status"]["conditions"][0]["type"], "example.com/Audit");
}

// BA-21
TEST(PlanWorkload, CutsLongMessagesOnce) {
  auto object = workload();
  auto intent = as_it_is();
  intent.conditions[0].message = std::string(40000, 'x');
  settle(object, [&](const Json& o) { return plan_workload(intent, o); });
  EXPECT_EQ(object["status"]["conditions"][1]["message"].get<std::string>().size(), 32768U);
}

TEST(PlanWorkload, WritesAndClearsTheSmallParts) {
  struct Case {
    std::string_view what;
    void (*set)(WorkloadIntent&);
    std::string_view member, value;
  };
  const Case cases[] = {
      {"requeue state", [](WorkloadIntent& i) { i.has_requeue_state = true, i.requeue_count = 2, i.requeue_at = at(60); }, "requeueState",
       R"({"count":2,"requeueAt":"2026-01-01T00:01:00Z"})"},
      {"requeue state without a time", [](WorkloadIntent& i) { i.has_requeue_state = true; }, "requeueState", R"({"count":0})"},
      {"reclaimable pods",
       [](WorkloadIntent& i) {
         i.reclaimable = {{"main", 2}};
       },
       "reclaimablePods", R"([{"name":"main","count":2}])"},
      {"execution time", [](WorkloadIntent& i) { i.accumulated_exec_seconds = 7; }, "accumulatedPastExecutionTimeSeconds", "7"},
      {"evictions",
       [](WorkloadIntent& i) {
         i.evictions = {{"Preempted", "", 1}, {"PodsReadyTimeout", "WaitForStart", 2}};
       },
       "schedulingStats",
       R"({"evictions":[{"reason":"Preempted","underlyingCause":"","count":1},{"reason":"PodsReadyTimeout","underlyingCause":"WaitForStart","count":2}]})"},
      {"checks",
       [](WorkloadIntent& i) {
         i.checks = {{"a", CheckState::pending, at(1), "", {}, {}, ""},
                     {"b", CheckState::ready, at(2), "ok", 5, 1, R"([{"name":"main","labels":{"x":"y"}}])"}};
       },
       "admissionChecks",
       R"([{"name":"a","state":"Pending","message":"","lastTransitionTime":"2026-01-01T00:00:01Z"},
           {"name":"b","state":"Ready","message":"ok","lastTransitionTime":"2026-01-01T00:00:02Z","requeueAfterSeconds":5,"retryCount":1,
            "podSetUpdates":[{"name":"main","labels":{"x":"y"}}]}])"},
      {"requests of a pod set without any",
       [](WorkloadIntent& i) {
         i.resource_requests = {{"main", {}}};
       },
       "resourceRequests", R"([{"name":"main"}])"},
  };
  for (const auto& c : cases) {
    auto object = workload();
    auto intent = as_it_is();
    c.set(intent);
    EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 1) << c.what;
    EXPECT_EQ(object["status"][std::string(c.member)], Json::parse(c.value)) << c.what;
    auto none = as_it_is();
    none.resource_requests.clear();
    settle(object, [&](const Json& o) { return plan_workload(none, o); });
    EXPECT_FALSE(object["status"].contains(std::string(c.member))) << c.what;
  }
}

// The API refuses fewer reclaimable pods while quota is reserved, and with them everything else that is written (found by the soak of
// elastic jobs: a job that grew again was never marked as finished). EJ-60
TEST(PlanWorkload, TakesNoReclaimablePodsBackWhileQuotaIsReserved) {
  auto object = workload();
  auto intent = admitted();
  const auto plan = [&](const Json& o) { return plan_workload(intent, o); };
  const auto count = [&] { return object["status"]["reclaimablePods"][0]["count"].get<int>(); };
  intent.reclaimable = {{"main", 2}};
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(count(), 2);
  intent.reclaimable = {{"main", 1}};
  EXPECT_TRUE(plan(object).empty());
  intent.reclaimable.clear();
  EXPECT_TRUE(plan(object).empty());
  intent.reclaimable = {{"main", 3}};
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(count(), 3);

  // A pod set that was made smaller than its admission may have fewer.
  object["spec"]["podSets"][0]["count"] = 2;
  intent.reclaimable = {{"main", 1}};
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(count(), 1);

  intent = as_it_is();
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_FALSE(object["status"].contains("reclaimablePods")) << "without a reservation all is new";
}

// BA-139: a back-off that ended leaves the count and takes the time away.
TEST(PlanWorkload, TakesOnlyTheTimeOfARequeueStateAway) {
  auto object = workload();
  auto intent = as_it_is();
  intent.has_requeue_state = true;
  intent.requeue_count = 1;
  intent.requeue_at = at(60);
  settle(object, [&](const Json& o) { return plan_workload(intent, o); });
  intent.requeue_at = Time::never();
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 1);
  EXPECT_EQ(object["status"]["requeueState"], Json::parse(R"({"count":1})"));
}

TEST(PlanWorkload, KeepsFieldsOfAChecksEntryThatItDoesNotKnow) {
  auto object = workload();
  object["status"]["admissionChecks"] =
      Json::parse(R"([{"name":"a","state":"Ready","message":"m","lastTransitionTime":"2026-01-01T00:00:01Z","newer":1,"retryCount":3}])");
  auto intent = as_it_is();
  intent.checks = {{"a", CheckState::pending, at(9), "Reset", {}, {}, ""}};
  settle(object, [&](const Json& o) { return plan_workload(intent, o); });
  EXPECT_EQ(object["status"]["admissionChecks"],
            Json::parse(R"([{"name":"a","state":"Pending","message":"Reset","lastTransitionTime":"2026-01-01T00:00:09Z","newer":1}])"));
}

// BA-142
TEST(PlanWorkload, DeactivatesOnce) {
  auto object = workload();
  auto intent = as_it_is();
  intent.set_active = false;
  const auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].subresource, "");
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({"metadata":{"uid":"u"},"spec":{"active":false}})"));
  store(object, writes[0]);
  EXPECT_TRUE(plan_workload(intent, object).empty());
}

// CA-11, CA-20, CA-23: an absent field means true
TEST(PlanWorkload, ActivatesWhatIsInactive) {
  auto object = workload();
  auto intent = as_it_is();
  intent.set_active = true;
  EXPECT_TRUE(plan_workload(intent, object).empty());
  object["spec"].erase("active");
  EXPECT_TRUE(plan_workload(intent, object).empty());
  object["spec"]["active"] = false;
  const auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({"metadata":{"uid":"u"},"spec":{"active":true}})"));
}

// CA-1, CA-11, CA-152 (8691 §2.6): both markers in one write, before what a status tells, and nothing of others with them
TEST(PlanWorkload, MarksAParent) {
  auto object = workload();
  object["metadata"]["labels"]["team"] = "a";
  auto intent = as_it_is();
  intent.conditions[0].reason = "PendingEvaluation";
  intent.parent_markers = true;
  EXPECT_FALSE(has_parent_markers(object));
  EXPECT_FALSE(shows_markers(intent, object));
  auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0].subresource, "");
  EXPECT_EQ(Json::parse(writes[0].body), Json::parse(R"({"metadata":{"uid":"u","resourceVersion":"5",
      "labels":{"kueue.x-k8s.io/concurrent-admission-parent":"true"},"annotations":{"kueue.x-k8s.io/parent-option":"true"}}})"));
  EXPECT_EQ(writes[1].subresource, "status");
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 2);
  EXPECT_TRUE(has_parent_markers(object));
  EXPECT_TRUE(shows_markers(intent, object));

  object["metadata"]["annotations"]["kueue.x-k8s.io/parent-option"] = "false";  // by hand
  EXPECT_FALSE(has_parent_markers(object));
  intent.parent_markers.reset();
  EXPECT_TRUE(shows_markers(intent, object));
  EXPECT_TRUE(plan_workload(intent, object).empty()) << "nothing is said of them";
  intent.parent_markers = true;
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 1);
  EXPECT_EQ(object["metadata"]["annotations"]["kueue.x-k8s.io/parent-option"], "true");

  intent.parent_markers = false;
  EXPECT_FALSE(shows_markers(intent, object));
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 1);
  EXPECT_EQ(object["metadata"]["labels"], Json::parse(R"({"team":"a"})"));
  EXPECT_TRUE(object["metadata"]["annotations"].empty());
}

// CA-152
TEST(PlanWorkload, MarkersSizesAndActivityAreOneWrite) {
  auto object = workload();
  auto intent = as_it_is();
  intent.parent_markers = true;
  intent.set_active = false;
  intent.plan = {{"main", "c", "cpu", 4000, 2000}};
  const auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 1U);
  const auto body = Json::parse(writes[0].body);
  EXPECT_FALSE(body["metadata"].contains("resourceVersion"));
  EXPECT_EQ(body["metadata"]["annotations"].size(), 2U);
  EXPECT_EQ(body["spec"], Json::parse(R"({"active":false})"));
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 1);
}

// CA-41, CA-152 (8691 §2.5): a map by name in which only what differs is written
TEST(PlanWorkload, ShowsTheOptionsOfAParent) {
  auto object = workload();
  auto intent = as_it_is();
  intent.options = {{"w-option-res", {"res"}, OptionPhase::pending, "", at(3)},
                    {"w-option-spot", {"spot", "cpu"}, OptionPhase::admitted, "it runs", at(4)}};
  const auto plan = [&](const Json& o) { return plan_workload(intent, o); };
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(object["status"]["options"], Json::parse(R"([
      {"name":"w-option-res","resourceFlavors":["res"],"state":"Pending","lastTransitionTime":"2026-01-01T00:00:03Z"},
      {"name":"w-option-spot","resourceFlavors":["spot","cpu"],"state":"Admitted","message":"it runs",
       "lastTransitionTime":"2026-01-01T00:00:04Z"}])"));

  object["status"]["options"][0]["lastTransitionTime"] = "2026-01-01T01:00:03+01:00";  // another form of the same
  object["status"]["options"][0]["newer"] = 1;
  std::swap(object["status"]["options"][0], object["status"]["options"][1]);
  EXPECT_TRUE(plan(object).empty());
  intent.options[0].phase = OptionPhase::deactivated;
  intent.options[0].message = "below the target";
  intent.options[0].last_transition = at(9);
  intent.options[1].message = "";
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(object["status"]["options"], Json::parse(R"([
      {"name":"w-option-res","resourceFlavors":["res"],"state":"Deactivated","message":"below the target",
       "lastTransitionTime":"2026-01-01T00:00:09Z","newer":1},
      {"name":"w-option-spot","resourceFlavors":["spot","cpu"],"state":"Admitted","lastTransitionTime":"2026-01-01T00:00:04Z"}])"));
  intent.options.clear();
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_FALSE(object["status"].contains("options"));
}

// CA-70 (8691 §2.5): gates of others stay, and an intent without gates changes none
TEST(PlanWorkload, OpensAndClosesItsOwnGate) {
  const std::string ours = "kueue.x-k8s.io/concurrent-admission";
  auto object = workload();
  object["status"]["preemptionGates"] =
      Json::parse(R"([{"name":"other","position":"Closed","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  auto intent = as_it_is();
  const auto plan = [&](const Json& o) { return plan_workload(intent, o); };
  EXPECT_TRUE(plan(object).empty());
  intent.gates = {{ours, true, at(5)}};
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(object["status"]["preemptionGates"], Json::parse(R"([
      {"name":"other","position":"Closed","lastTransitionTime":"2026-01-01T00:00:00Z"},
      {"name":"kueue.x-k8s.io/concurrent-admission","position":"Open","lastTransitionTime":"2026-01-01T00:00:05Z"}])"));
  intent.gates = {{ours, false, at(6)}};
  EXPECT_EQ(settle(object, plan), 1);
  EXPECT_EQ(object["status"]["preemptionGates"][1]["position"], "Closed");
  EXPECT_EQ(object["status"]["preemptionGates"][0]["name"], "other");
  intent.gates.clear();
  EXPECT_TRUE(plan(object).empty());
}

// BA-149
TEST(PlanWorkload, ReleasesOnlyItsOwnFinalizerAfterTheStatus) {
  auto object = workload();
  auto intent = as_it_is();
  intent.conditions.push_back({ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", at(5)});
  intent.release_finalizer = true;
  const auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0].subresource, "status");
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan_workload(intent, o); }), 2);
  EXPECT_EQ(object["metadata"]["finalizers"], Json::parse(R"(["example.com/other"])"));
}

TEST(PlanWorkload, RemovesAnObjectAfterItsFinalizer) {
  auto object = workload();
  auto intent = as_it_is();
  intent.remove = true;
  intent.conditions.clear();
  auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 2U);
  store(object, writes[0]);
  writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].verb, Write::Verb::delete_);
  EXPECT_EQ(Json::parse(writes[0].body)["preconditions"], Json::parse(R"({"uid":"u"})"));
  object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_TRUE(plan_workload(intent, object).empty());
}

TEST(PlanWorkload, LeavesAnotherObjectOfTheSameNameAlone) {
  auto intent = admitted();
  intent.uid = "older";
  intent.remove = true;
  EXPECT_TRUE(plan_workload(intent, workload()).empty());
  EXPECT_TRUE(plan_workload(admitted(), Json::object()).empty());
}

// Checks are written by their controllers too: without a decision about them they stay as they are.
TEST(PlanWorkload, LeavesChecksAloneThatWereNotDecided) {
  auto object = workload();
  object["status"]["admissionChecks"] = Json::parse(
      R"([{"name":"k","state":"Ready","message":"provisioned","lastTransitionTime":"2026-01-01T00:00:09Z",
           "podSetUpdates":[{"name":"main","labels":{"a":"b"}}]}])");
  auto intent = as_it_is();
  intent.checks = {{"k", CheckState::pending, at(3), "", {}, {}, ""}};
  intent.conditions[0].reason = "PendingEvaluation";
  auto writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(Json::parse(writes[0].body)["status"]["admissionChecks"][0]["state"], "Pending");

  intent.checks_decided = false;  // they are only what was seen
  writes = plan_workload(intent, object);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_FALSE(Json::parse(writes[0].body)["status"].contains("admissionChecks"));
  EXPECT_TRUE(Json::parse(writes[0].body)["status"].contains("conditions")) << "all else is ours and is written";
}

}  // namespace
}  // namespace hindsight::connectors
