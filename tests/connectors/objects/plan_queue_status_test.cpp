// Status of queues in the form of base-api §2.2 and §2.4.

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/objects/applying.hpp"

namespace hindsight::connectors {
namespace {

using admission::QueueStatusIntent;

QueueStatusIntent intent(bool local) {
  QueueStatusIntent out;
  out.local = local;
  out.namespace_ = local ? "ns" : "";
  out.name = "q";
  out.pending = 2;
  out.reserving = 1;
  out.active = true;
  out.active_reason = "Ready";
  out.active_message = local ? "Can submit new workloads to localQueue" : "Can admit new workloads";
  out.active_since = Time::from_seconds(1767225600);
  out.reservation = {{"spot", {{"cpu", {1500, 500}}, {"memory", {1LL << 30, 0}}}}};
  out.usage = {{"spot", {{"cpu", {0, 0}}, {"memory", {0, 0}}}}};
  return out;
}

Json queue(bool local) {
  Json out = Json::parse(R"({"metadata":{"name":"q","uid":"u","resourceVersion":"9","generation":2},"spec":{}})");
  if (local) out["metadata"]["namespace"] = "ns";
  return out;
}

std::vector<Write> plan(const QueueStatusIntent& i, const Json& q) {
  auto write = plan_queue_status(i, q);
  return write ? std::vector<Write>{*write} : std::vector<Write>{};
}

// BA-46, BA-153
TEST(PlanQueueStatus, WritesAClusterQueue) {
  auto object = queue(false);
  const auto write = plan_queue_status(intent(false), object);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->type, &types::cluster_queue);
  EXPECT_EQ(Json::parse(write->body), Json::parse(R"({"metadata":{"uid":"u","resourceVersion":"9"},"status":{
    "pendingWorkloads":2,"reservingWorkloads":1,"admittedWorkloads":0,
    "conditions":[{"type":"Active","status":"True","reason":"Ready","message":"Can admit new workloads",
                   "lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":2}],
    "flavorsReservation":[{"name":"spot","resources":[{"name":"cpu","total":"1500m","borrowed":"500m"},{"name":"memory","total":"1Gi","borrowed":"0"}]}],
    "flavorsUsage":[{"name":"spot","resources":[{"name":"cpu","total":"0","borrowed":"0"},{"name":"memory","total":"0","borrowed":"0"}]}]}})"));
  EXPECT_EQ(settle(object, [](const Json& o) { return plan(intent(false), o); }), 1);
  object["status"]["flavorsReservation"][0]["resources"][0]["total"] = "1.5";
  object["status"]["flavorsUsage"][0]["resources"][0].erase("borrowed");
  EXPECT_FALSE(plan_queue_status(intent(false), object));
}

TEST(PlanQueueStatus, WritesALocalQueueWithoutBorrowing) {
  auto object = queue(true);
  object["status"] = Json::parse(R"({"fairSharing":{"weightedShare":0,"admissionFairSharingStatus":{"consumedResources":{"cpu":"1"}}},
    "conditions":[{"type":"example.com/Other","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  const auto write = plan_queue_status(intent(true), object);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->type, &types::local_queue);
  EXPECT_EQ(write->namespace_, "ns");
  EXPECT_EQ(settle(object, [](const Json& o) { return plan(intent(true), o); }), 1);
  EXPECT_EQ(object["status"]["flavorsReservation"],
            Json::parse(R"([{"name":"spot","resources":[{"name":"cpu","total":"1500m"},{"name":"memory","total":"1Gi"}]}])"));
  EXPECT_EQ(object["status"]["fairSharing"]["admissionFairSharingStatus"]["consumedResources"]["cpu"], "1");
  EXPECT_EQ(object["status"]["conditions"].size(), 2U);
}

// BA-168
TEST(PlanQueueStatus, WritesWhatALocalQueueConsumed) {
  auto object = queue(true);
  auto used = intent(true);
  used.consumed.emplace().emplace_back("cpu", "6828427124n");
  used.consumed_at = Time::from_seconds(1767225605);
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan(used, o); }), 1);
  EXPECT_EQ(object["status"]["fairSharing"], Json::parse(R"({"weightedShare":0,"admissionFairSharingStatus":{
      "consumedResources":{"cpu":"6828427124n"},"lastUpdate":"2026-01-01T00:00:05Z"}})"));
  used.consumed->clear();  // forgotten
  settle(object, [&](const Json& o) { return plan(used, o); });
  EXPECT_TRUE(object["status"]["fairSharing"]["admissionFairSharingStatus"]["consumedResources"].empty());
}

TEST(PlanQueueStatus, SetsAndClearsTheWeightedShare) {
  auto object = queue(false);
  auto shared = intent(false);
  shared.weighted_share = std::numeric_limits<std::int64_t>::max();
  settle(object, [&](const Json& o) { return plan(shared, o); });
  EXPECT_EQ(object["status"]["fairSharing"], Json::parse(R"({"weightedShare":9223372036854775807})"));
  settle(object, [&](const Json& o) { return plan(intent(false), o); });
  EXPECT_FALSE(object["status"].contains("fairSharing"));
}

TEST(PlanQueueStatus, ChangesTheActiveCondition) {
  auto object = queue(false);
  settle(object, [](const Json& o) { return plan(intent(false), o); });
  auto stopped = intent(false);
  stopped.active = false;
  stopped.active_reason = "Stopped";
  stopped.active_message = "Can't admit new workloads: is stopped.";
  stopped.active_since = Time::from_seconds(1767225660);
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan(stopped, o); }), 1);
  EXPECT_EQ(object["status"]["conditions"], Json::parse(R"([{"type":"Active","status":"False","reason":"Stopped",
      "message":"Can't admit new workloads: is stopped.","lastTransitionTime":"2026-01-01T00:01:00Z","observedGeneration":2}])"));
}

// Issue 21, point 3: what another controller, or an older log, left is not written again because this log has seen it later.
TEST(PlanQueueStatus, AConditionWhoseStatusStaysKeepsItsTime) {
  auto object = queue(false);
  settle(object, [](const Json& o) { return plan(intent(false), o); });
  auto later = intent(false);
  later.active_since = Time::from_seconds(1767225660);
  EXPECT_TRUE(plan(later, object).empty());
  later.active_message = "Can admit new workloads again";
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan(later, o); }), 1);
  EXPECT_EQ(object["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  object["status"]["conditions"][0]["lastTransitionTime"] = "yesterday";
  EXPECT_EQ(settle(object, [&](const Json& o) { return plan(later, o); }), 1);
  EXPECT_EQ(object["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T00:01:00Z");
}

}  // namespace
}  // namespace hindsight::connectors
