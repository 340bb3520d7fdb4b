// Descriptions: what a reader finds in them.

#include "projections/describe.hpp"

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/objects.hpp"
#include "projections/text_tree.hpp"
#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class Describe : public Reading {
 protected:
  void SetUp() override {
    w.set_up({{.name = "team-a", .cohort = "all", .quotas = {{.nominal = 4000, .borrowing_limit = 1000}}},
              {.name = "team-b", .cohort = "all", .quotas = {{.nominal = 2000}}}});
    w.submit({.name = "holder", .cpu = 4500, .priority = 2});
    w.settle();
    w.submit({.name = "waiting", .cpu = 3000, .priority = 1});
    w.submit({.name = "behind", .cpu = 4000});
    w.settle();
  }
};

TEST_F(Describe, AWaitingWorkloadHasItsPlaceAndItsConditionsWithTimes) {
  const auto d = describe_workload(w.driver(), find_by_uid(w.driver(), "uid-behind"));
  EXPECT_EQ(d["status"], "Pending/WaitingForQuota");
  EXPECT_EQ(d["queue"]["position"], 1);
  EXPECT_EQ(d["queue"]["waiting"], 2);
  EXPECT_EQ(d["queue"]["state"], "parked until something in the cohort tree changes");
  EXPECT_EQ(d["podSets"][0]["requestsPerPod"], "cpu 4");
  EXPECT_EQ(d["conditions"][0]["type"], "QuotaReserved");
  EXPECT_EQ(d["conditions"][0]["since"], "2026-01-01T00:00:02Z");
  EXPECT_NE(render_tree(d).find("Status:         Pending/WaitingForQuota\n"), std::string::npos) << render_tree(d);
}

TEST_F(Describe, AnAdmittedWorkloadHasItsAssignment) {
  const auto d = describe_workload(w.driver(), find_by_uid(w.driver(), "uid-holder"));
  EXPECT_EQ(d["status"], "Admitted");
  EXPECT_EQ(d["assignment"].dump(), R"([{"podSet":"main","count":1,"resource":"cpu","flavor":"default","usage":"4500m"}])");
  EXPECT_FALSE(d.contains("queue"));
}

// BA-29: the figures of the tree
TEST_F(Describe, AClusterQueueHasItsFiguresHoldersAndLine) {
  const auto d = describe_cluster_queue(w.driver(), *w.driver().domain().catalog()->queue(Symbol("team-a")));
  EXPECT_EQ(d["cohort"], "all");
  EXPECT_EQ(
      d["quota"].dump(),
      R"([{"flavor":"default","resource":"cpu","nominal":"4","borrowingLimit":"1","lendingLimit":"-","used":"4500m","borrowed":"500m","available":"500m","maximum":"5"}])");
  EXPECT_EQ(d["holdingQuota"][0]["workload"], "default/holder");
  EXPECT_EQ(d["holdingQuota"][0]["uses"], "default/cpu 4500m");
  ASSERT_EQ(d["pending"].size(), 2U);
  EXPECT_EQ(d["pending"][0]["workload"], "default/waiting");
  EXPECT_EQ(d["pending"][1]["workload"], "default/behind");
  EXPECT_EQ(d["pending"][1]["reason"], "WaitingForQuota");
}

TEST_F(Describe, ACohortHasItsMembersAndAFlavorItsQueues) {
  const auto c = describe_cohort(w.driver(), Symbol("all"));
  EXPECT_EQ(c["quota"][0]["used"], "4500m");
  EXPECT_EQ(c["quota"][0]["maximum"], "6");
  EXPECT_EQ(c["clusterQueues"].size(), 2U);
  const auto f = describe_resource_flavor(w.driver(), *w.driver().domain().catalog()->flavor(Symbol("default")));
  EXPECT_EQ(f["quota"].size(), 2U);
  EXPECT_EQ(f["quota"][0]["clusterQueue"], "team-a");
  const auto l = describe_local_queue(w.driver(), *w.driver().domain().catalog()->local_queue(Symbol("default"), Symbol("lq")));
  EXPECT_EQ(l["pending"].size(), 2U);
}

class DescribeTree : public Reading {};

// BA-29: figures of a cohort are those of all below it, and add up from the lines of its members
TEST_F(DescribeTree, ACohortIsTheSumOfItsMembers) {
  cohorts_in_a_tree();
  const auto mid = describe_cohort(w.driver(), Symbol("mid"));
  EXPECT_EQ(
      mid["quota"].dump(),
      R"([{"flavor":"default","resource":"cpu","own":"1","nominal":"7","borrowingLimit":"-","lendingLimit":"-","used":"5","borrowed":"0","available":"6","maximum":"11"}])");
  EXPECT_EQ(
      mid["clusterQueues"].dump(),
      R"([{"name":"a","flavor":"default","resource":"cpu","nominal":"4","used":"2","borrowed":"0"},{"name":"b","flavor":"default","resource":"cpu","nominal":"2","used":"3","borrowed":"1"}])");
  const auto root = describe_cohort(w.driver(), Symbol("root"));
  EXPECT_EQ(root["cohorts"].dump(), R"([{"name":"mid","flavor":"default","resource":"cpu","nominal":"7","used":"5","borrowed":"0"}])");
  EXPECT_EQ(
      root["quota"].dump(),
      R"([{"flavor":"default","resource":"cpu","nominal":"11","borrowingLimit":"-","lendingLimit":"-","used":"5","borrowed":"0","available":"6","maximum":"11"}])");
  const auto flavor = describe_resource_flavor(w.driver(), *w.driver().domain().catalog()->flavor(Symbol("default")));
  EXPECT_EQ(flavor["quota"].back().dump(), R"({"cohort":"mid","resource":"cpu","nominal":"1"})");
}

// Text stops at 100 lines and says how much is left; objects have all.
TEST_F(DescribeTree, AListThatIsCutSaysHowMuchIsLeftOut) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1030}}}});
  for (int i = 0; i < 206; ++i) w.submit({.name = "w" + std::to_string(1000 + i), .cpu = 10});
  w.settle();
  const auto& queue = *w.driver().domain().catalog()->queue(Symbol("cq"));
  const auto d = describe_cluster_queue(w.driver(), queue);
  ASSERT_EQ(d["holdingQuota"].size(), 101U);
  EXPECT_EQ(d["holdingQuota"].back()["workload"], "and 3 more (default/cpu 30m)");
  ASSERT_EQ(d["pending"].size(), 101U);
  EXPECT_EQ(d["pending"].back()["workload"], "and 3 more (cpu 30m)");
  const auto whole = cluster_queue_object(w.driver(), queue, Detail::whole)["status"]["hindsight"];
  EXPECT_EQ(whole["holders"].size(), 103U);
  EXPECT_EQ(whole["pending"].size(), 103U);
}

}  // namespace
}  // namespace hindsight::projections
