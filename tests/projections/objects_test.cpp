// Objects in the API's shape.

#include "projections/objects.hpp"

#include <map>

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class Objects : public Reading {};

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

}  // namespace
}  // namespace hindsight::projections
