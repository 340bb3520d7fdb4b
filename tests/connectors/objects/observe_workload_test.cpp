// Workloads: spec and status, field by field.

#include <gtest/gtest.h>

#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

constexpr std::string_view full = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
  "metadata":{"name":"job-a-12345","namespace":"ns","uid":"w1","resourceVersion":"7","generation":2,
    "creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["kueue.x-k8s.io/resource-in-use"],
    "annotations":{"kueue.x-k8s.io/admission-gated-by":"example.com/a,example.com/b","kueue.x-k8s.io/priority-boost":"-3"},
    "ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"m","uid":"u0"},
                       {"apiVersion":"batch/v1","kind":"Job","name":"a","uid":"u1","controller":true}]},
  "spec":{"queueName":"lq","priority":10,"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},
    "active":false,"maximumExecutionTimeSeconds":60,
    "podSets":[{"name":"main","count":4,"minCount":2,
       "topologyRequest":{"required":"rack","podSetGroupName":"g"},
       "template":{"metadata":{"annotations":{"kueue.x-k8s.io/podset-preferred-topology":"block"}},
         "spec":{"nodeSelector":{"zone":"b","arch":"arm"},"tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"}],
          "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"a","operator":"In","values":["1","2"]},{"key":"g","operator":"Gt","values":["5"]}]},
            {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]},
            "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":{"matchExpressions":[
              {"key":"fast","operator":"Exists"}]}}]}},
          "containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}},
      {"count":0,"template":{"spec":{}}}]},
  "status":{
    "conditions":[
      {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"Quota reserved in ClusterQueue cq",
       "lastTransitionTime":"2026-01-01T00:00:10Z","observedGeneration":1},
      {"type":"example.com/Other","status":"True","reason":"X","message":"","lastTransitionTime":"2026-01-01T00:00:10Z"},
      {"type":"Evicted","status":"False","reason":"QuotaReserved","message":"Previously: x","lastTransitionTime":"2026-01-01T00:00:11Z"}],
    "admission":{"clusterQueue":"cq","podSetAssignments":[
      {"name":"main","count":3,"flavors":{"memory":"default","cpu":"spot"},"resourceUsage":{"memory":"3Gi","cpu":"3"}},{"count":0}]},
    "admissionChecks":[{"name":"prov","state":"Ready","message":"ok","lastTransitionTime":"2026-01-01T00:00:12Z","requeueAfterSeconds":5,
      "retryCount":2,"podSetUpdates":[ {"name": "main", "labels": {"a": "b"}} ]},{"name":"other","state":"Retry","podSetUpdates":[]}],
    "requeueState":{"count":2,"requeueAt":"2026-01-01T00:05:00Z"},
    "reclaimablePods":[{"name":"main","count":1}],
    "accumulatedPastExecutionTimeSeconds":33,
    "schedulingStats":{"evictions":[{"reason":"Preempted","underlyingCause":"","count":2},
      {"reason":"PodsReadyTimeout","underlyingCause":"WaitForStart","count":1}]},
    "resourceRequests":[{"name":"main","resources":{"cpu":"4"}}]}})";

TEST(ObserveWorkload, ReadsTheSpec) {
  Arena arena;
  const auto wl = observed<WorkloadObserved>(types::workload, full, arena);
  EXPECT_EQ(wl.meta.namespace_, "ns");
  EXPECT_TRUE(wl.meta.in_use_finalizer);
  EXPECT_FALSE(wl.meta.deleting);
  EXPECT_EQ(wl.owner_uid, "u1");
  EXPECT_EQ(wl.owner_kind, "Job");
  EXPECT_EQ(wl.owner_name, "a");
  EXPECT_EQ(wl.queue_name, "lq");
  EXPECT_EQ(wl.priority, 10);
  EXPECT_EQ(wl.priority_class_kind, PriorityClassKind::workload_priority_class);
  EXPECT_EQ(wl.priority_class, "high");
  EXPECT_FALSE(wl.active);
  EXPECT_EQ(wl.max_exec_seconds, 60);
  EXPECT_EQ(wl.admission_gated_by, "example.com/a,example.com/b");  // SG-59
  EXPECT_EQ(wl.priority_boost, -3);                                 // BA-194

  ASSERT_EQ(wl.pod_sets.size(), 2U);
  const auto& main = wl.pod_sets[0];
  EXPECT_EQ(main.name, "main");
  EXPECT_EQ(main.count, 4);
  EXPECT_EQ(main.min_count, 2);
  EXPECT_EQ(joined(main.requests), "cpu=1000 memory=1073741824");
  EXPECT_EQ(joined(main.node_selector), "arch=arm zone=b");
  ASSERT_EQ(main.tolerations.size(), 1U);
  EXPECT_TRUE(main.tolerations[0].exists);
  EXPECT_TRUE(main.has_affinity);
  ASSERT_EQ(main.affinity_terms.size(), 2U);
  ASSERT_EQ(main.affinity_terms[0].requirements.size(), 2U);
  EXPECT_EQ(joined(main.affinity_terms[0].requirements[0].values), "1 2");
  EXPECT_EQ(main.affinity_terms[0].requirements[1].op, SelectorOperator::gt);
  EXPECT_TRUE(main.affinity_terms[1].requirements.empty());
  ASSERT_EQ(main.affinity_terms[1].fields.size(), 1U);
  EXPECT_EQ(main.affinity_terms[1].fields[0].key, "metadata.name");
  EXPECT_EQ(joined(main.affinity_terms[1].fields[0].values), "n");
  ASSERT_EQ(main.preferred_terms.size(), 1U);
  EXPECT_EQ(main.preferred_terms[0].weight, 7);
  EXPECT_EQ(main.preferred_terms[0].term.requirements[0].key, "fast");
  EXPECT_EQ(main.required_topology, "rack");
  EXPECT_EQ(main.preferred_topology, "");
  EXPECT_EQ(main.pod_set_group, "g");
  EXPECT_EQ(wl.pod_sets[1].name, "main");
  EXPECT_EQ(wl.pod_sets[1].count, 0);
  EXPECT_EQ(wl.pod_sets[1].min_count, std::nullopt);
}

TEST(ObserveWorkload, ReadsTheStatus) {
  Arena arena;
  const auto wl = observed<WorkloadObserved>(types::workload, full, arena);
  ASSERT_EQ(wl.conditions.size(), 2U);
  EXPECT_EQ(wl.conditions[0].type, ConditionType::quota_reserved);
  EXPECT_EQ(wl.conditions[0].status, ConditionStatus::true_);
  EXPECT_EQ(wl.conditions[0].message, "Quota reserved in ClusterQueue cq");
  EXPECT_EQ(wl.conditions[0].last_transition, Time::from_seconds(1767225610));
  EXPECT_EQ(wl.conditions[1].type, ConditionType::evicted);
  EXPECT_EQ(wl.conditions[1].status, ConditionStatus::false_);
  EXPECT_TRUE(wl.has_admission);
  EXPECT_EQ(wl.admission_cluster_queue, "cq");
  ASSERT_EQ(wl.assignments.size(), 2U);
  EXPECT_EQ(wl.assignments[0].count, 3);
  ASSERT_EQ(wl.assignments[0].flavors.size(), 2U);
  EXPECT_EQ(wl.assignments[0].flavors[0].resource, "cpu");
  EXPECT_EQ(wl.assignments[0].flavors[0].flavor, "spot");
  EXPECT_EQ(joined(wl.assignments[0].usage), "cpu=3000 memory=3221225472");
  EXPECT_EQ(wl.assignments[1].pod_set, "main");
  ASSERT_EQ(wl.checks.size(), 2U);
  EXPECT_EQ(wl.checks[0].state, CheckState::ready);
  EXPECT_EQ(wl.checks[0].requeue_after_seconds, 5);
  EXPECT_EQ(wl.checks[0].retry_count, 2);
  EXPECT_EQ(wl.checks[0].pod_set_updates, R"([{"name":"main","labels":{"a":"b"}}])");
  EXPECT_EQ(wl.checks[1].state, CheckState::retry);
  EXPECT_EQ(wl.checks[1].pod_set_updates, "");
  EXPECT_TRUE(wl.has_requeue_state);
  EXPECT_EQ(wl.requeue_count, 2);
  EXPECT_EQ(wl.requeue_at, Time::from_seconds(1767225900));
  EXPECT_EQ(joined(wl.reclaimable), "main=1");
  EXPECT_EQ(wl.accumulated_exec_seconds, 33);
  ASSERT_EQ(wl.evictions.size(), 2U);
  EXPECT_EQ(wl.evictions[1].underlying_cause, "WaitForStart");
  EXPECT_EQ(wl.evictions[1].count, 1);
  EXPECT_TRUE(wl.has_resource_requests);
}

TEST(ObserveWorkload, HasTheDefaultsOfTheApi) {
  Arena arena;
  const auto wl = observed<WorkloadObserved>(
      types::workload, R"({"metadata":{"name":"w","namespace":"n"},"spec":{"podSets":[{"template":{"spec":{}}}]}})", arena);
  EXPECT_TRUE(wl.active);
  EXPECT_EQ(wl.priority, std::nullopt);
  EXPECT_EQ(wl.priority_class_kind, PriorityClassKind::none);
  EXPECT_EQ(wl.owner_uid, "");
  EXPECT_EQ(wl.pod_sets[0].name, "main");
  EXPECT_EQ(wl.pod_sets[0].count, 1);
  EXPECT_TRUE(wl.conditions.empty());
  EXPECT_FALSE(wl.has_admission);
  EXPECT_FALSE(wl.has_requeue_state);
  EXPECT_EQ(wl.accumulated_exec_seconds, std::nullopt);
  EXPECT_FALSE(wl.has_resource_requests);
}

TEST(ObserveWorkload, NamesWhatIsWrong) {
  struct Case {
    std::string_view part, error;
  };
  const Case cases[] = {
      {R"("spec":{"podSets":[{"name":"a"}]})", "spec.podSets[0].template: found nothing, allowed: an object"},
      {R"("spec":{"podSets":[{"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"a"}}}]}}}]})",
       R"(spec.podSets[0].template.spec.containers[0].resources.requests.cpu: found "a", allowed: a quantity such as 500m, 2 or 1Gi)"},
      {R"("status":{"conditions":[{"type":"Evicted","status":"true"}]})",
       R"(status.conditions[0].status: found "true", allowed: True, False, Unknown)"},
      {R"("status":{"admissionChecks":[{"name":"a","state":"Done"}]})",
       R"(status.admissionChecks[0].state: found "Done", allowed: Pending, Ready, Retry, Rejected)"},
      {R"("spec":{"maximumExecutionTimeSeconds":0})",
       "spec.maximumExecutionTimeSeconds: found 0, allowed: an integer from 1 to 2147483647"},
      {R"("status":{"admission":{}})", "status.admission.clusterQueue: found nothing, allowed: a text that is not empty"},
      {R"("status":{"requeueState":{"requeueAt":5}})", "status.requeueState.requeueAt: found 5, allowed: a text"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(refusal(types::workload, R"({"metadata":{"name":"w","namespace":"n"},)" + std::string(c.part) + "}"),
              "Workload n/w: " + std::string(c.error));
  }
}

TEST(ObserveWorkload, LeavesNothingInTheDocument) {
  Arena arena;
  WorkloadObserved wl;
  {
    std::string text(full);
    wl = observed<WorkloadObserved>(types::workload, text, arena);
    text.assign(text.size(), '!');
    Arena other;
    (void)observed<WorkloadObserved>(types::workload, R"({"metadata":{"name":"another","namespace":"x"}})", other);
  }
  EXPECT_EQ(wl.meta.name, "job-a-12345");
  EXPECT_EQ(wl.conditions[0].message, "Quota reserved in ClusterQueue cq");
  EXPECT_EQ(joined(wl.pod_sets[0].node_selector), "arch=arm zone=b");
}

}  // namespace
}  // namespace hindsight::connectors
