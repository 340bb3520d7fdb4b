// Objects in the API's shape.

#include "projections/objects.hpp"

#include <map>

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/quarantine.hpp"
#include "projections/topologies.hpp"
#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class Objects : public Reading {};

/// An object and what it shall be, as texts that differ where they differ.
std::string lines_of(const Json& object) { return nlohmann::json::parse(object.dump()).dump(1); }
std::string lines_of(const char* text) { return nlohmann::json::parse(text).dump(1); }

TEST_F(Objects, AWorkloadLooksAsTheApiGivesIt) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit_job({.name = "train", .cpu = 1500, .priority = 3, .count = 2, .node_selector = {{"zone", "a"}}});
  w.settle();
  const auto o = workload_object(w.driver(), find_by_uid(w.driver(), "uid-job-train"));
  EXPECT_EQ(o["apiVersion"], "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(o["kind"], "Workload");
  EXPECT_EQ(o["metadata"]["name"], "job-train");
  EXPECT_EQ(o["metadata"]["creationTimestamp"], "2026-01-01T00:00:02Z");
  EXPECT_EQ(o["metadata"]["ownerReferences"][0]["kind"], "Job");
  EXPECT_EQ(o["metadata"]["ownerReferences"][0]["name"], "train");
  EXPECT_EQ(o["spec"]["queueName"], "lq");
  EXPECT_EQ(o["spec"]["priority"], 3);
  EXPECT_EQ(o["spec"]["podSets"][0]["count"], 2);
  EXPECT_EQ(o["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1500m");
  EXPECT_EQ(o["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"]["zone"], "a");
  EXPECT_EQ(
      o["status"]["admission"].dump(),
      R"({"clusterQueue":"cq","podSetAssignments":[{"name":"main","flavors":{"cpu":"default"},"resourceUsage":{"cpu":"3"},"count":2}]})");
  std::map<std::string, std::string> conditions;
  for (const auto& c : o["status"]["conditions"])
    conditions[c["type"]] = c["status"].get<std::string>() + ": " + c["message"].get<std::string>();
  EXPECT_EQ(conditions["QuotaReserved"], "True: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(conditions["Admitted"], "True: The workload is admitted");
  EXPECT_EQ(conditions["PodsReady"], "False: Not all pods are ready or succeeded");
}

// BA-46
TEST_F(Objects, AClusterQueueShowsSpecAndUsage) {
  w.set_up(
      {{.name = "cq", .cohort = "all", .quotas = {{.nominal = 4000, .borrowing_limit = 2000}}, .within = PreemptionPolicy::lower_priority},
       {.name = "lender", .cohort = "all", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one", .cpu = 5000});
  w.settle();
  const auto& catalog = *w.driver().domain().catalog();
  const auto o = cluster_queue_object(w.driver(), *catalog.queue(Symbol("cq")));
  EXPECT_EQ(o["spec"]["cohortName"], "all");
  EXPECT_EQ(o["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0].dump(),
            R"({"name":"cpu","nominalQuota":"4","borrowingLimit":"2"})");
  EXPECT_EQ(o["spec"]["preemption"]["withinClusterQueue"], "LowerPriority");
  EXPECT_EQ(o["status"]["flavorsUsage"][0]["resources"][0].dump(), R"({"name":"cpu","total":"5","borrowed":"1"})");
  EXPECT_EQ(o["status"]["admittedWorkloads"], 1);
  EXPECT_EQ(o["status"]["conditions"][0]["message"], "Can admit new workloads");
  const auto lq = local_queue_object(w.driver(), *catalog.local_queue(Symbol("default"), Symbol("lq")));
  EXPECT_EQ(lq["spec"]["clusterQueue"], "cq");
  EXPECT_EQ(lq["status"]["flavorsReservation"][0]["resources"][0].dump(), R"({"name":"cpu","total":"5"})");
  EXPECT_FALSE(cohort_object(w.driver(), Symbol("all")).contains("spec"));
}

// BA-46, BA-29: all fields
TEST_F(Objects, QueuesAndCohortsAreWhole) {
  w.set_up(
      {{.name = "cq", .cohort = "all", .quotas = {{.nominal = 4000, .borrowing_limit = 2000}}, .within = PreemptionPolicy::lower_priority},
       {.name = "lender", .cohort = "all", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one", .cpu = 5000});
  w.settle();
  w.submit({.name = "two", .cpu = 3000, .priority = -1});
  w.settle();
  const auto& catalog = *w.driver().domain().catalog();
  EXPECT_EQ(lines_of(cluster_queue_object(w.driver(), *catalog.queue(Symbol("cq")), Detail::whole)), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "cq"},
    "spec": {
      "cohortName": "all",
      "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
        {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "4", "borrowingLimit": "2"}]}]}],
      "queueingStrategy": "BestEffortFIFO",
      "namespaceSelector": {},
      "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
      "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}}},
    "status": {
      "conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": "Can admit new workloads"}],
      "pendingWorkloads": 1, "reservingWorkloads": 1, "admittedWorkloads": 1,
      "flavorsReservation": [{"name": "default", "resources": [{"name": "cpu", "total": "5", "borrowed": "1"}]}],
      "flavorsUsage": [{"name": "default", "resources": [{"name": "cpu", "total": "5", "borrowed": "1"}]}],
      "hindsight": {
        "cohortPath": ["all"],
        "quota": [{"flavor": "default", "resource": "cpu", "nominal": "4", "used": "5", "borrowed": "1", "available": "1",
                   "maximum": "6", "guaranteed": "0", "lendable": "4", "borrowable": "2"}],
        "holders": [{"namespace": "default", "name": "one", "uid": "uid-one", "priority": 0,
                     "uses": [{"flavor": "default", "resource": "cpu", "amount": "5"}]}],
        "pending": [{"position": 0, "namespace": "default", "name": "two", "priority": -1, "queuedAt": "2026-01-01T00:00:02Z",
                     "parked": true, "reason": "WaitingForQuota"}]}}})"));
  EXPECT_EQ(lines_of(local_queue_object(w.driver(), *catalog.local_queue(Symbol("default"), Symbol("lq")))), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "default"},
    "spec": {"clusterQueue": "cq"},
    "status": {
      "conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": "Can submit new workloads to localQueue"}],
      "pendingWorkloads": 1, "reservingWorkloads": 1, "admittedWorkloads": 1,
      "flavorsReservation": [{"name": "default", "resources": [{"name": "cpu", "total": "5"}]}],
      "flavorsUsage": [{"name": "default", "resources": [{"name": "cpu", "total": "5"}]}]}})"));
  EXPECT_EQ(lines_of(cohort_object(w.driver(), Symbol("all"))), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "all"},
    "status": {"hindsight": {
      "quota": [{"flavor": "default", "resource": "cpu", "own": "0", "nominal": "8", "used": "5", "borrowed": "0", "available": "3",
                 "maximum": "8", "guaranteed": "8", "lendable": "0", "borrowable": "0"}],
      "cohorts": [], "clusterQueues": ["cq", "lender"]}}})"));
}

// What a cohort keeps for itself and what it may borrow is of all below it.
TEST_F(Objects, ACohortInATreeHasItsSubtree) {
  cohorts_in_a_tree();
  EXPECT_EQ(lines_of(cohort_object(w.driver(), Symbol("mid"))), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "mid"},
    "spec": {"parentName": "root", "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
      {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]},
    "status": {"hindsight": {
      "quota": [{"flavor": "default", "resource": "cpu", "own": "1", "nominal": "7", "used": "5", "borrowed": "0", "available": "6",
                 "maximum": "11", "guaranteed": "3", "lendable": "4", "borrowable": "4"}],
      "cohorts": [], "clusterQueues": ["a", "b"]}}})"));
}

TEST_F(Objects, AWorkloadIsWhole) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit_job({.name = "train", .cpu = 1500, .priority = 3, .count = 2, .node_selector = {{"zone", "a"}}});
  w.settle();
  auto o = workload_object(w.driver(), find_by_uid(w.driver(), "uid-job-train"), Detail::whole);
  o["status"].erase("conditions");  // those are above
  EXPECT_EQ(lines_of(o), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "job-train", "namespace": "default", "uid": "uid-job-train", "resourceVersion": "2", "generation": 1,
      "creationTimestamp": "2026-01-01T00:00:02Z",
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "job-uid-train", "controller": true}]},
    "spec": {
      "podSets": [{"name": "main", "count": 2, "template": {"spec": {
        "containers": [{"resources": {"requests": {"cpu": "1500m"}}}], "nodeSelector": {"zone": "a"}}}}],
      "queueName": "lq", "priority": 3, "active": true},
    "status": {
      "admission": {"clusterQueue": "cq", "podSetAssignments": [
        {"name": "main", "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "3"}, "count": 2}]},
      "hindsight": {"phase": "Admitted", "clusterQueue": "cq", "effectivePriority": 3,
        "job": {"group": "batch", "kind": "Job", "name": "train", "uid": "job-uid-train", "suspended": true}}}})"));

  w.submit({.name = "waits", .cpu = 3000});
  w.settle();
  const auto waits = workload_object(w.driver(), find_by_uid(w.driver(), "uid-waits"), Detail::whole);
  EXPECT_EQ(lines_of(waits["status"]["hindsight"]), lines_of(R"({
    "phase": "Pending", "reason": "WaitingForQuota", "clusterQueue": "cq", "effectivePriority": 0,
    "place": {"clusterQueue": "cq", "position": 0, "positionInLocalQueue": 0, "waiting": 1, "parked": true}})"));
}

TEST_F(Objects, TheSmallKindsAreWhole) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.flavor("spot", {{"pool", "spot"}}, "spot");
  w.check("prov", false);
  const auto& catalog = *w.driver().domain().catalog();
  EXPECT_EQ(lines_of(resource_flavor_object(*catalog.flavor(Symbol("spot")))), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "spot"},
    "spec": {"nodeLabels": {"pool": "spot"}, "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]}})"));
  EXPECT_EQ(lines_of(resource_flavor_object(w.driver(), *catalog.flavor(Symbol("default")))["status"]), lines_of(R"({
    "hindsight": {"quota": [{"clusterQueue": "cq", "resource": "cpu", "nominal": "4", "used": "0"}]}})"));
  EXPECT_EQ(lines_of(admission_check_object(*catalog.checks.at(Symbol("prov")))), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "prov"},
    "spec": {"controllerName": "example.com/check"}, "status": {"conditions": [{"type": "Active", "status": "False"}]}})"));
  EXPECT_EQ(lines_of(priority_class_object(Symbol("high"), {.value = 100})), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100})"));
  EXPECT_EQ(lines_of(topology_object(Symbol("hall"), {"rack", "kubernetes.io/hostname"})), lines_of(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "hall"},
    "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}})"));
  const QuarantinedObject apart{.kind = "Job",
                                .namespace_ = "default",
                                .name = "huge",
                                .uid = "u",
                                .resource_version = 7,
                                .stage = QuarantineStage::read,
                                .reason = "too large",
                                .since = w.now};
  EXPECT_EQ(lines_of(to_json(apart)), lines_of(R"({
    "kind": "Job", "metadata": {"name": "huge", "uid": "u", "namespace": "default", "resourceVersion": "7"},
    "stage": "read", "reason": "too large", "since": "2026-01-01T00:00:02Z"})"));
  EXPECT_EQ(lines_of(list_of(Json::array())), lines_of(R"({"apiVersion": "v1", "kind": "List", "items": []})"));
}

// The API has quotas without end as the largest number, never as a word.
TEST_F(Objects, AnAmountWithoutEndIsAQuantityOrLeftOut) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = unlimited}}}});
  const auto o = cluster_queue_object(w.driver(), *w.driver().domain().catalog()->queue(Symbol("cq")));
  const auto& quota = o["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"];
  EXPECT_EQ(parse_quantity(quota.get<std::string>(), "cpu").value(), unlimited) << quota;
  EXPECT_EQ(o["status"]["hindsight"]["quota"][0].dump(),
            R"({"flavor":"default","resource":"cpu","used":"0","borrowed":"0","lendable":"0","borrowable":"0"})");
}

}  // namespace
}  // namespace hindsight::projections
