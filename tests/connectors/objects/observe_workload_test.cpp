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

// ---- concurrent admission ---------------------------------------------------------------------------------------------------

WorkloadObserved workload_with(std::string_view metadata, std::string_view rest, Arena& arena) {
  return observed<WorkloadObserved>(
      types::workload, R"({"metadata":{"name":"w","namespace":"n",)" + std::string(metadata) + R"("uid":"u"})" + std::string(rest) + "}",
      arena);
}

// CA-1, CA-10, 8691 §2.6: both markers make a Parent; one alone is somebody's label.
TEST(ObserveWorkload, KnowsAParentByBothMarkers) {
  Arena arena;
  const auto marked = [&](std::string_view label, std::string_view annotation) {
    return workload_with(R"("labels":{"kueue.x-k8s.io/concurrent-admission-parent":")" + std::string(label) +
                             R"("},"annotations":{"kueue.x-k8s.io/parent-option":")" + std::string(annotation) + R"("},)",
                         "", arena)
        .parent_marked;
  };
  EXPECT_TRUE(marked("true", "true"));
  for (const auto* other : {"", "false", "True", "1", " true"}) {
    EXPECT_FALSE(marked(other, "true")) << other;
    EXPECT_FALSE(marked("true", other)) << other;
  }
  EXPECT_FALSE(workload_with(R"("labels":{"kueue.x-k8s.io/concurrent-admission-parent":"true"},)", "", arena).parent_marked);
  EXPECT_FALSE(workload_with(R"("annotations":{"kueue.x-k8s.io/parent-option":"true"},)", "", arena).parent_marked);
  EXPECT_FALSE(workload_with("", "", arena).parent_marked);
}

// CA-8, CA-13, 8691 §2.5: the list of the spec, that of the annotation, or what both have in common.
TEST(ObserveWorkload, ReadsAllowedFlavorsInEitherForm) {
  struct Case {
    const char *listed, *noted;  // null: not there
    bool constrained;
    const char* allowed;
  };
  const Case cases[] = {{nullptr, nullptr, false, ""},
                        {"[]", nullptr, false, ""},
                        {nullptr, "", false, ""},
                        {"[]", " , ,", false, ""},
                        {"null", nullptr, false, ""},
                        {R"(["b","a"])", nullptr, true, "b a"},
                        {R"(["b","a"])", "", true, "b a"},
                        {R"(["b","a"])", " ", true, "b a"},
                        {nullptr, "b,a", true, "b a"},
                        {"[]", " b ,\\ta,, b", true, "b a"},
                        {R"(["c","b","a"])", "a,x,c", true, "c a"},
                        {R"(["a"])", "a", true, "a"},
                        {R"(["a"])", "b", true, ""},
                        {nullptr, "a b", true, "a b"}};
  Arena arena;
  for (const auto& c : cases) {
    const std::string metadata =
        c.noted == nullptr ? ""
                           : R"("annotations":{"kueue.x-k8s.io/workload-allowed-resource-flavors":")" + std::string(c.noted) + R"("},)";
    const std::string rest =
        c.listed == nullptr ? "" : R"(,"spec":{"admissionConstraints":{"allowedResourceFlavors":)" + std::string(c.listed) + "}}";
    const auto wl = workload_with(metadata, rest, arena);
    EXPECT_EQ(wl.constrained, c.constrained) << metadata << rest;
    EXPECT_EQ(joined(wl.allowed_flavors), c.allowed) << metadata << rest;
  }
  EXPECT_FALSE(workload_with("", R"(,"spec":{"admissionConstraints":{}})", arena).constrained);
}

// CA-73, CA-79, 8691 §2.5: a gate that the status does not speak of is closed; one that the spec does not have is none.
TEST(ObserveWorkload, ReadsPreemptionGatesWithTheirPositions) {
  Arena arena;
  const auto wl = workload_with("", R"(,"spec":{"preemptionGates":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]},
      "status":{"preemptionGates":[{"name":"x","position":"Open"},{"name":"c","position":"Closed"},{"name":"b","position":"Open"},{"name":"d"}]})",
                                arena);
  ASSERT_EQ(wl.preemption_gates.size(), 4U);
  std::string text;
  for (const auto& gate : wl.preemption_gates) text.append(gate.name).append(gate.open ? "+" : "-");
  EXPECT_EQ(text, "a-b+c-d-");
  EXPECT_TRUE(workload_with("", R"(,"status":{"preemptionGates":[{"name":"x","position":"Open"}]})", arena).preemption_gates.empty());
}

// CA-100, CA-101, 8691 §2.5
TEST(ObserveWorkload, ReadsTheOptionsOfAParent) {
  Arena arena;
  const auto wl = workload_with("", R"(,"status":{"options":[
      {"name":"w-option-a","resourceFlavors":["a","b"],"state":"Admitted","message":"m","lastTransitionTime":"2026-01-01T00:00:10Z"},
      {"name":"w-option-c","state":"Deactivated"},{"name":"d","state":"Finished"},{"name":"e","state":"Pending"},{"name":"f"}]})",
                                arena);
  ASSERT_EQ(wl.options.size(), 5U);
  EXPECT_EQ(wl.options[0].name, "w-option-a");
  EXPECT_EQ(joined(wl.options[0].flavors), "a b");
  EXPECT_EQ(wl.options[0].phase, OptionPhase::admitted);
  EXPECT_EQ(wl.options[0].message, "m");
  EXPECT_EQ(wl.options[0].last_transition, Time::from_seconds(1767225610));
  EXPECT_EQ(wl.options[1].phase, OptionPhase::deactivated);
  EXPECT_TRUE(wl.options[1].flavors.empty());
  EXPECT_FALSE(wl.options[1].last_transition.is_set());
  EXPECT_EQ(wl.options[2].phase, OptionPhase::finished);
  EXPECT_EQ(wl.options[3].phase, OptionPhase::pending);
  EXPECT_EQ(wl.options[4].phase, OptionPhase::pending);
}

// CA-10: of an Option its Parent is known by the controller's reference.
TEST(ObserveWorkload, NamesTheParentOfAnOption) {
  Arena arena;
  const auto wl = workload_with(R"("ownerReferences":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"p","uid":"p1",
      "controller":true,"blockOwnerDeletion":true}],)",
                                "", arena);
  EXPECT_EQ(wl.owner_kind, "Workload");
  EXPECT_EQ(wl.owner_name, "p");
  EXPECT_EQ(wl.owner_uid, "p1");
  EXPECT_FALSE(wl.parent_marked);
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
      // 8691 §2.5
      {R"("spec":{"admissionConstraints":[]})", "spec.admissionConstraints: found a list, allowed: an object"},
      {R"("spec":{"admissionConstraints":{"allowedResourceFlavors":"a"}})",
       R"(spec.admissionConstraints.allowedResourceFlavors: found "a", allowed: a list)"},
      {R"("spec":{"admissionConstraints":{"allowedResourceFlavors":["a",7]}})",
       "spec.admissionConstraints.allowedResourceFlavors[1]: found 7, allowed: a text"},
      {R"("spec":{"preemptionGates":[{}]})", "spec.preemptionGates[0].name: found nothing, allowed: a text that is not empty"},
      {R"("status":{"preemptionGates":[{"name":"a","position":"Ajar"}]})",
       R"(status.preemptionGates[0].position: found "Ajar", allowed: Open, Closed)"},
      {R"("status":{"options":[{"state":"Pending"}]})", "status.options[0].name: found nothing, allowed: a text that is not empty"},
      {R"("status":{"options":[{"name":"a","state":"Gone"}]})",
       R"(status.options[0].state: found "Gone", allowed: Pending, Admitted, Deactivated, Finished)"},
      {R"("status":{"options":[{"name":"a","lastTransitionTime":5}]})", "status.options[0].lastTransitionTime: found 5, allowed: a text"},
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
