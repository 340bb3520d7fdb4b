// Records for readers: JSON with the API's names, and one line of text.

#include "events/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/events/random_records.hpp"

namespace hindsight::events {
namespace {

const Envelope envelope{"team", 12, 3, Time{1'767'225'600'500'000}, 11};

TEST(Json, has_the_names_and_forms_of_the_api) {
  const Text covered[] = {"cpu", "memory"};
  const QuotaFacts quotas[] = {{"cpu", 1500, 500, {}}, {"memory", Amount{2} << 30, {}, Amount{1} << 30}};
  const FlavorQuotasFacts flavors[] = {{"on-demand", quotas}};
  const ResourceGroupFacts groups[] = {{covered, flavors}};
  ClusterQueueObserved queue;
  queue.meta = {"", "team-a", "uid-1", 77, 2, Time::from_seconds(1'767'225'600)};
  queue.cohort = "research";
  queue.resource_groups = groups;
  queue.within_cluster_queue = PreemptionPolicy::lower_priority;
  EXPECT_EQ(
      to_json({envelope, Observation(queue)}),
      R"({"domain":"team","sequence":12,"epoch":3,"time":"2026-01-01T00:00:00.500000Z","cause":11,"kind":"ClusterQueueObserved",)"
      R"("body":{"meta":{"name":"team-a","uid":"uid-1","resourceVersion":"77","generation":2,"created":"2026-01-01T00:00:00.000000Z"},)"
      R"("cohort":"research","resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[{"flavor":"on-demand","resources":[)"
      R"({"resource":"cpu","nominalQuota":"1500m","borrowingLimit":"500m"},{"resource":"memory","nominalQuota":"2Gi","lendingLimit":"1Gi"}]}]}],)"
      R"("queueingStrategy":"BestEffortFIFO","whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor",)"
      R"("withinClusterQueue":"LowerPriority","reclaimWithinCohort":"Never","borrowWithinCohort":"Never","stopPolicy":"None",)"
      R"("fairWeightNano":1000000000}})");
}

TEST(Json, writes_maps_where_the_api_does_and_keeps_repeated_keys) {
  const Pair labels[] = {{"b", "2"}, {"a", "1"}};
  NamespaceObserved space;
  space.labels = labels;
  auto body = nlohmann::ordered_json::parse(to_json({envelope, Observation(space)}))["body"];
  EXPECT_EQ(body["labels"].dump(), R"({"b":"2","a":"1"})");
  const Pair repeated[] = {{"a", "1"}, {"a", "2"}};
  space.labels = repeated;
  body = nlohmann::ordered_json::parse(to_json({envelope, Observation(space)}))["body"];
  EXPECT_EQ(body["labels"].dump(), R"([{"key":"a","value":"1"},{"key":"a","value":"2"}])");
}

TEST(Json, leaves_out_false_only_where_false_is_the_default) {
  WorkloadObserved workload;
  workload.active = false;
  const auto body = nlohmann::json::parse(to_json({envelope, Observation(workload)}))["body"];
  EXPECT_EQ(body["active"], false);
  EXPECT_FALSE(body.contains("hasAdmission"));
  EXPECT_FALSE(body.contains("requeueAt"));
  EXPECT_FALSE(body.contains("priority"));
}

TEST(Json, lists_the_events_of_a_step_in_their_order) {
  const Event events[] = {WorkloadAdmitted{{"u1", "default", "w1"}}, TreeReactivated{"root"}};
  const auto body = nlohmann::ordered_json::parse(to_json({envelope, Decisions{11, StepKind::cycle, events}}))["body"];
  EXPECT_EQ(body.dump(), R"({"base":11,"step":"Cycle","events":[{"event":"WorkloadAdmitted","workload":{"uid":"u1","namespace":"default",)"
                         R"("name":"w1"}},{"event":"TreeReactivated","root":"root"}]})");
}

TEST(Json, is_valid_for_every_record_and_never_breaks_the_line) {
  test::RandomRecords random(11);
  for (int i = 0; i < 500; ++i) {
    const RecordView record = random.record();
    const std::string json = to_json(record);
    EXPECT_TRUE(nlohmann::json::accept(json)) << json;
    EXPECT_EQ(json.find('\n'), std::string::npos);
    const std::string text = to_text(record);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_FALSE(text.empty());
  }
}

TEST(Json, replaces_bytes_that_are_not_utf8) {
  const std::string json = to_json({envelope, Observation(ConfigurationObserved{"\xFF\xFE"})});
  EXPECT_TRUE(nlohmann::json::accept(json)) << json;
}

TEST(OneLineText, says_what_happened) {
  const FlavorChoice choice[] = {{"cpu", "spot"}};
  const PodSetAssignmentFacts assignment[] = {{"main", 4, choice, {}}};
  const Event events[] = {
      QuotaReserved{{"u1", "default", "w1"}, "cq", assignment, true},
      EntryRequeued{{"u2", "default", "w2"}, "cq", RequeueReason::no_fit, false, true, "Pending", "insufficient quota"},
      WorkloadPreempted{{"u3", "default", "w3"}, {"u1", "default", "w1"}, "cq", "InClusterQueue", "Preempted"},
      ConditionChanged{{"u3", "default", "w3"}, ConditionType::requeued, ConditionStatus::false_, "Why", "because"},
  };
  EXPECT_EQ(to_text({envelope, Decisions{11, StepKind::cycle, events}}),
            "12  epoch 3  2026-01-01T00:00:00.500000Z  team  Decisions Cycle on 11: "
            "QuotaReserved default/w1 in cq with main x4 cpu=spot, admitted; "
            "EntryRequeued default/w2 in cq NoFit (Pending: insufficient quota); "
            "WorkloadPreempted default/w3 for default/w1 (InClusterQueue: Preempted); "
            "ConditionChanged default/w3 Requeued=False (Why: because)  because of 11");
  JobObserved job;
  job.meta = {"team-a", "train", "uid", 5};
  job.suspended = true;
  EXPECT_EQ(to_text({{"team", 1, 0, Time::never(), 0}, Observation(job)}),
            "1  epoch 0  never  team  JobObserved team-a/train at version 5, suspended");
  EXPECT_EQ(to_text({{"team", 1, 0, Time::never(), 0}, Observation(ObjectDeleted{ObjectKind::node, "", "n\n1", "u"})}),
            "1  epoch 0  never  team  ObjectDeleted Node n 1");
  EXPECT_EQ(to_text({{"team", 1, 0, Time::never(), 0}, Observation(ObjectDeleted{ObjectKind::workload, "ns", "w", "u", "east/queue/b"})}),
            "1  epoch 0  never  team  ObjectDeleted Workload ns/w, now in domain east/queue/b");
  EXPECT_EQ(to_text({{"team", 1, 0, Time::never(), 0}, Observation(MirrorSynced{true})}), "1  epoch 0  never  team  MirrorSynced pending");
}

}  // namespace
}  // namespace hindsight::events
