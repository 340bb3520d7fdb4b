// Configuration kinds: every field that admission needs, its defaults, and the errors for what is not as the API has it.

#include <gtest/gtest.h>

#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

TEST(ObserveResourceFlavor, ReadsLabelsTaintsAndTolerations) {
  Arena arena;
  const auto flavor = observed<ResourceFlavorObserved>(types::resource_flavor, R"({
    "apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
    "metadata":{"name":"spot","uid":"u1","resourceVersion":"42","generation":3,"creationTimestamp":"2026-01-01T00:00:05Z",
      "deletionTimestamp":"2026-01-01T00:00:09Z","finalizers":["x","kueue.x-k8s.io/resource-in-use"]},
    "spec":{"nodeLabels":{"zone":"b","instance":"spot"},"topologyName":"racks","unknown":[1],
      "nodeTaints":[{"key":"spot","value":"yes","effect":"NoSchedule"},{"key":"x","effect":"NoExecute"}],
      "tolerations":[{"operator":"Exists"},{"key":"a","value":"b","effect":"PreferNoSchedule","tolerationSeconds":0},{"key":"n","operator":"Gt","value":"5"}]}})",
                                                       arena);
  EXPECT_EQ(flavor.meta.name, "spot");
  EXPECT_EQ(flavor.meta.namespace_, "");
  EXPECT_EQ(flavor.meta.uid, "u1");
  EXPECT_EQ(flavor.meta.resource_version, 42U);
  EXPECT_EQ(flavor.meta.generation, 3);
  EXPECT_EQ(flavor.meta.created, Time::from_seconds(1767225605));
  EXPECT_TRUE(flavor.meta.deleting);
  EXPECT_TRUE(flavor.meta.in_use_finalizer);
  EXPECT_EQ(joined(flavor.node_labels), "instance=spot zone=b");
  ASSERT_EQ(flavor.node_taints.size(), 2U);
  EXPECT_EQ(flavor.node_taints[0].effect, TaintEffect::no_schedule);
  EXPECT_EQ(flavor.node_taints[1].value, "");
  EXPECT_EQ(flavor.node_taints[1].effect, TaintEffect::no_execute);
  ASSERT_EQ(flavor.tolerations.size(), 2U);  // Gt matches no taint of these
  EXPECT_TRUE(flavor.tolerations[0].exists);
  EXPECT_EQ(flavor.tolerations[0].effect, TaintEffect::unspecified);
  EXPECT_FALSE(flavor.tolerations[1].exists);
  EXPECT_EQ(flavor.tolerations[1].value, "b");
  EXPECT_FALSE(flavor.tolerations[0].seconds);  // 0 is at once, absent is for ever
  EXPECT_EQ(flavor.tolerations[1].seconds, 0);
  EXPECT_EQ(flavor.topology_name, "racks");
}

TEST(ObserveClusterQueue, HasTheDefaultsOfTheApi) {
  Arena arena;
  const auto queue = observed<ClusterQueueObserved>(types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{}})", arena);
  EXPECT_EQ(queue.cohort, "");
  EXPECT_TRUE(queue.resource_groups.empty());
  EXPECT_EQ(queue.queueing_strategy, QueueingStrategy::best_effort_fifo);
  EXPECT_FALSE(queue.has_namespace_selector);
  EXPECT_EQ(queue.when_can_borrow, FungibilityPolicy::may_stop_search);
  EXPECT_EQ(queue.when_can_preempt, FungibilityPolicy::try_next_flavor);
  EXPECT_EQ(queue.preference, FungibilityPreference::unset);
  EXPECT_EQ(queue.within_cluster_queue, PreemptionPolicy::never);
  EXPECT_EQ(queue.reclaim_within_cohort, PreemptionPolicy::never);
  EXPECT_EQ(queue.borrow_within_cohort, PreemptionPolicy::never);
  EXPECT_EQ(queue.max_priority_threshold, std::nullopt);
  EXPECT_EQ(queue.stop_policy, StopPolicy::none);
  EXPECT_FALSE(queue.stop_policy_set);
  EXPECT_EQ(queue.fair_weight_nano, 1'000'000'000);
  EXPECT_EQ(queue.admission_mode, AdmissionMode::unset);
  EXPECT_FALSE(queue.meta.created.is_set());
}

TEST(ObserveClusterQueue, ReadsEveryPolicy) {
  Arena arena;
  const auto queue = observed<ClusterQueueObserved>(types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{
    "cohortName":"team","queueingStrategy":"StrictFIFO","namespaceSelector":{"matchLabels":{"b":"2","a":"1"},
      "matchExpressions":[{"key":"c","operator":"NotIn","values":["x","y"]},{"key":"d","operator":"Exists"}]},
    "resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[
       {"name":"on-demand","resources":[{"name":"cpu","nominalQuota":"1500m","borrowingLimit":"2","lendingLimit":0},
                                        {"name":"memory","nominalQuota":"1Gi"}]},
       {"name":"spot","resources":[{"name":"cpu","nominalQuota":4},{"name":"memory","nominalQuota":"9223372036854775807"}]}]},
      {"coveredResources":["gpu"],"flavors":[{"name":"g","resources":[{"name":"gpu","nominalQuota":"0"}]}]}],
    "flavorFungibility":{"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor","preference":"PreemptionOverBorrowing"},
    "preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any",
      "borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":-5}},
    "admissionChecksStrategy":{"admissionChecks":[{"name":"budget"},{"name":"prov","onFlavors":["spot","g"]}]},
    "stopPolicy":"None","fairSharing":{"weight":"250m"},"admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"}}})",
                                                    arena);
  EXPECT_EQ(queue.cohort, "team");
  EXPECT_EQ(queue.queueing_strategy, QueueingStrategy::strict_fifo);
  ASSERT_TRUE(queue.has_namespace_selector);
  ASSERT_EQ(queue.namespace_selector.size(), 4U);
  EXPECT_EQ(queue.namespace_selector[0].key, "a");
  EXPECT_EQ(queue.namespace_selector[0].op, SelectorOperator::in);
  EXPECT_EQ(joined(queue.namespace_selector[0].values), "1");
  EXPECT_EQ(queue.namespace_selector[2].op, SelectorOperator::not_in);
  EXPECT_EQ(joined(queue.namespace_selector[2].values), "x y");
  EXPECT_EQ(queue.namespace_selector[3].op, SelectorOperator::exists);
  ASSERT_EQ(queue.resource_groups.size(), 2U);
  const auto& group = queue.resource_groups[0];
  EXPECT_EQ(joined(group.covered_resources), "cpu memory");
  ASSERT_EQ(group.flavors.size(), 2U);
  EXPECT_EQ(group.flavors[0].flavor, "on-demand");
  EXPECT_EQ(group.flavors[0].resources[0].nominal, 1500);
  EXPECT_EQ(group.flavors[0].resources[0].borrowing_limit, 2000);
  EXPECT_EQ(group.flavors[0].resources[0].lending_limit, 0);
  EXPECT_EQ(group.flavors[0].resources[1].nominal, 1 << 30);
  EXPECT_EQ(group.flavors[0].resources[1].borrowing_limit, std::nullopt);
  EXPECT_EQ(group.flavors[1].resources[0].nominal, 4000);
  EXPECT_EQ(group.flavors[1].resources[1].nominal, unlimited);  // BA-35
  EXPECT_EQ(queue.when_can_borrow, FungibilityPolicy::try_next_flavor);
  EXPECT_EQ(queue.preference, FungibilityPreference::preemption_over_borrowing);
  EXPECT_EQ(queue.within_cluster_queue, PreemptionPolicy::lower_or_newer_equal_priority);
  EXPECT_EQ(queue.reclaim_within_cohort, PreemptionPolicy::any);
  EXPECT_EQ(queue.borrow_within_cohort, PreemptionPolicy::lower_priority);
  EXPECT_EQ(queue.max_priority_threshold, -5);
  ASSERT_EQ(queue.admission_checks.size(), 2U);
  EXPECT_TRUE(queue.admission_checks[0].on_flavors.empty());
  EXPECT_EQ(joined(queue.admission_checks[1].on_flavors), "spot g");
  EXPECT_EQ(queue.stop_policy, StopPolicy::none);
  EXPECT_TRUE(queue.stop_policy_set);
  EXPECT_EQ(queue.fair_weight_nano, 250'000'000);
  EXPECT_EQ(queue.admission_mode, AdmissionMode::usage_based);
}

ConcurrentAdmissionFacts concurrent_facts(std::string_view spec, Arena& arena) {
  return observed<ClusterQueueObserved>(types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{)" + std::string(spec) + "}}", arena)
      .concurrent;
}

// CA-20, 8691 §2.2 to §2.4: what each form says of the survivors of an admission.
TEST(ObserveClusterQueue, ReadsThePolicyOfEitherForm) {
  struct Case {
    std::string_view spec;
    bool enabled, kueue_form;
    OnSuccess on_success;
    std::string_view target;
  };
  const Case cases[] = {
      {"", false, false, OnSuccess::unset, ""},
      {R"("concurrentAdmission":null,"concurrentAdmissionPolicy":null)", false, false, OnSuccess::unset, ""},
      {R"("concurrentAdmission":{"onSuccess":"RemoveOther"})", true, false, OnSuccess::remove_other, ""},
      {R"("concurrentAdmission":{"onSuccess":"RemoveLower"})", true, false, OnSuccess::remove_lower, ""},
      {R"("concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"t"}})", true, false,
       OnSuccess::remove_below_target, "t"},
      {R"("concurrentAdmission":{"onSuccess":"RemoveLower","removeBelowTargetConfig":{"targetResourceFlavor":"t"}})", true, false,
       OnSuccess::remove_lower, ""},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission"}})", true, true, OnSuccess::remove_other, ""},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors"}})", true, true, OnSuccess::remove_lower, ""},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":{}}})", true, true, OnSuccess::remove_lower,
       ""},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":{"lastAcceptableFlavorName":"t"}}})", true,
       true, OnSuccess::remove_below_target, "t"},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"","constraints":{"lastAcceptableFlavorName":"t"}}})", true, true,
       OnSuccess::remove_below_target, "t"},
      {R"("concurrentAdmissionPolicy":{"migration":{}})", true, true, OnSuccess::remove_lower, ""},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission","constraints":{"lastAcceptableFlavorName":"t"}}})", true,
       true, OnSuccess::remove_other, ""},
      // Both: they say the same, or the feature was off when they were written.
      {R"("concurrentAdmission":{"onSuccess":"RemoveLower"},"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors"}})",
       true, false, OnSuccess::remove_lower, ""},
      {R"("concurrentAdmission":{"onSuccess":"RemoveOther"},"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors"}})",
       true, false, OnSuccess::remove_other, ""}};
  Arena arena;
  for (const auto& c : cases) {
    const auto facts = concurrent_facts(c.spec, arena);
    EXPECT_EQ(facts.enabled, c.enabled) << c.spec;
    EXPECT_EQ(facts.kueue_form, c.kueue_form) << c.spec;
    EXPECT_EQ(facts.on_success, c.on_success) << c.spec;
    EXPECT_EQ(facts.target_flavor, c.target) << c.spec;
    EXPECT_TRUE(facts.options.empty()) << c.spec;
  }
}

// CA-146
TEST(ObserveClusterQueue, ReadsWhatAnUpgradeMayDo) {
  Arena arena;
  const std::pair<std::string, UpgradeFungibility> values[] = {
      {"{}", UpgradeFungibility::always},
      {R"({"upgradeFungibility":""})", UpgradeFungibility::always},
      {R"({"upgradeFungibility":"Always"})", UpgradeFungibility::always},
      {R"({"upgradeFungibility":"NoPreemption"})", UpgradeFungibility::no_preemption},
      {R"({"upgradeFungibility":"NoBorrowing"})", UpgradeFungibility::no_borrowing}};
  for (const auto& [form, upgrades] : values) {
    const std::string seed = form == "{}" ? R"({"onSuccess":"RemoveLower"})" : R"({"onSuccess":"RemoveLower",)" + form.substr(1);
    EXPECT_EQ(concurrent_facts(R"("concurrentAdmission":)" + seed, arena).upgrades, upgrades) << seed;
    EXPECT_EQ(
        concurrent_facts(R"("concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":)" + form + "}}", arena)
            .upgrades,
        upgrades)
        << form;
  }
}

// CA-4, CA-9, CA-28
TEST(ObserveClusterQueue, ReadsExplicitOptionsOfEitherForm) {
  Arena arena;
  const std::string options = R"([{"name":"best","allowedResourceFlavors":["a"]},
      {"name":"any","createDelaySeconds":60,"%":0,"allowedResourceFlavors":["b","a"]},
      {"name":"last","createDelaySeconds":0,"%":2147483647,"allowedResourceFlavors":["c"]}])";
  const auto with = [&](std::string before, std::string_view delay, std::string_view after) {
    before += options;
    for (auto at = before.find('%'); at != std::string::npos; at = before.find('%')) before.replace(at, 1, delay);
    return concurrent_facts(before.append(after), arena);
  };
  const auto seed = with(R"("concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":)", "deleteDelaySeconds", "}");
  const auto kueue = with(R"("concurrentAdmissionPolicy":{"migration":{"constraints":{"lastAcceptableFlavorName":"b","explicitVariants":)",
                          "maxDeleteDelaySeconds", "}}}");
  EXPECT_FALSE(seed.kueue_form);
  EXPECT_TRUE(kueue.kueue_form);
  EXPECT_EQ(kueue.on_success, OnSuccess::remove_below_target);
  for (const auto* facts : {&seed, &kueue}) {
    ASSERT_EQ(facts->options.size(), 3U);
    EXPECT_EQ(facts->options[0].name, "best");
    EXPECT_EQ(facts->options[0].create_delay_seconds, 0);
    EXPECT_EQ(facts->options[0].delete_delay_seconds, std::nullopt);
    EXPECT_EQ(joined(facts->options[0].allowed_flavors), "a");
    EXPECT_EQ(facts->options[1].create_delay_seconds, 60);
    EXPECT_EQ(facts->options[1].delete_delay_seconds, 0);
    EXPECT_EQ(joined(facts->options[1].allowed_flavors), "b a");
    EXPECT_EQ(facts->options[2].delete_delay_seconds, 2147483647);
  }
}

// 8691 V6, V7, V8: what the definitions refuse is set aside where it was stored all the same.
TEST(ObserveClusterQueue, NamesWhatIsWrongWithConcurrentAdmission) {
  std::string variants, flavors;
  for (int i = 0; i < 65; ++i) {
    variants += std::string(i == 0 ? "" : ",") + R"({"name":"o","allowedResourceFlavors":["a"]})";
    flavors += std::string(i == 0 ? "" : ",") + R"("a")";
  }
  const std::string seed = R"("concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":)";
  const std::string kueue = R"("concurrentAdmissionPolicy":{"migration":{"constraints":{"explicitVariants":)";
  const std::string list = "spec.concurrentAdmission.explicitOptions";
  const std::string variant_list = "spec.concurrentAdmissionPolicy.migration.constraints.explicitVariants";
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"("concurrentAdmission":7)", "spec.concurrentAdmission: found 7, allowed: an object"},
      {R"("concurrentAdmission":{})",
       "spec.concurrentAdmission.onSuccess: found nothing, allowed: RemoveOther, RemoveLower, RemoveBelowTarget"},
      {R"("concurrentAdmission":{"onSuccess":"Remove"})",
       R"(spec.concurrentAdmission.onSuccess: found "Remove", allowed: RemoveOther, RemoveLower, RemoveBelowTarget)"},
      {R"("concurrentAdmission":{"onSuccess":"RemoveBelowTarget"})",
       "spec.concurrentAdmission.removeBelowTargetConfig: found nothing, allowed: an object"},
      {R"("concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{}})",
       "spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor: found nothing, allowed: a text that is not empty"},
      {R"("concurrentAdmissionPolicy":{"migration":{"mode":"Try"}})",
       R"(spec.concurrentAdmissionPolicy.migration.mode: found "Try", allowed: TryPreferredFlavors, RetainFirstAdmission)"},
      {R"("concurrentAdmissionPolicy":{"migration":[]})", "spec.concurrentAdmissionPolicy.migration: found a list, allowed: an object"},
      {seed + R"([{"allowedResourceFlavors":["a"]}]})", list + "[0].name: found nothing, allowed: a text that is not empty"},
      {seed + R"([{"name":"o"}]})", list + "[0].allowedResourceFlavors: found nothing, allowed: names of flavors"},
      {seed + R"([{"name":"o","allowedResourceFlavors":[]}]})",
       list + "[0].allowedResourceFlavors: found a list, allowed: names of flavors"},
      {seed + R"([{"name":"o","allowedResourceFlavors":["a"],"createDelaySeconds":-1}]})",
       list + "[0].createDelaySeconds: found -1, allowed: an integer from 0 to 2147483647"},
      {seed + R"([{"name":"o","allowedResourceFlavors":["a"],"deleteDelaySeconds":-1}]})",
       list + "[0].deleteDelaySeconds: found -1, allowed: an integer from 0 to 2147483647"},
      {kueue + R"([{"name":"o","allowedResourceFlavors":["a"],"maxDeleteDelaySeconds":-1}]}}})",
       variant_list + "[0].maxDeleteDelaySeconds: found -1, allowed: an integer from 0 to 2147483647"},
      {kueue + "[" + variants + "]}}}", variant_list + ": found 65 elements, allowed: at most 64 elements"},
      {kueue + R"([{"name":"o","allowedResourceFlavors":[)" + flavors + "]}]}}}",
       variant_list + "[0].allowedResourceFlavors: found 65 elements, allowed: at most 64 elements"}};
  for (const auto& [spec, error] : cases)
    EXPECT_EQ(refusal(types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{)" + spec + "}}"), "ClusterQueue cq: " + error);
}

// BA-152
TEST(ObserveClusterQueue, TellsANullSelectorFromAnEmptyOne) {
  Arena arena;
  const auto with = [&](std::string_view spec) {
    return observed<ClusterQueueObserved>(types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":)" + std::string(spec) + "}", arena);
  };
  EXPECT_FALSE(with(R"({"namespaceSelector":null})").has_namespace_selector);
  EXPECT_TRUE(with(R"({"namespaceSelector":{}})").has_namespace_selector);
  EXPECT_TRUE(with(R"({"namespaceSelector":{}})").namespace_selector.empty());
}

TEST(ObserveSmallKinds, ReadTheirFields) {
  Arena arena;
  const auto cohort =
      observed<CohortObserved>(types::cohort, R"({"metadata":{"name":"c"},"spec":{"parentName":"root","fairSharing":{"weight":0},
    "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})",
                               arena);
  EXPECT_EQ(cohort.parent, "root");
  EXPECT_EQ(cohort.fair_weight_nano, 0);
  EXPECT_EQ(cohort.resource_groups.size(), 1U);

  const auto queue = observed<LocalQueueObserved>(types::local_queue, R"({"metadata":{"name":"lq","namespace":"ns"},
    "spec":{"clusterQueue":"cq","stopPolicy":"HoldAndDrain","fairSharing":{"weight":"2"}}})",
                                                  arena);
  EXPECT_EQ(queue.meta.namespace_, "ns");
  EXPECT_EQ(queue.cluster_queue, "cq");
  EXPECT_EQ(queue.stop_policy, StopPolicy::hold_and_drain);
  EXPECT_EQ(queue.fair_weight_nano, 2'000'000'000);
  EXPECT_FALSE(queue.consumed_at.is_set());

  // BA-168: what admission fair sharing kept in the status
  const auto used = observed<LocalQueueObserved>(types::local_queue, R"({"metadata":{"name":"lq","namespace":"ns","labels":{"team":"a"}},
    "spec":{"clusterQueue":"cq"},"status":{"fairSharing":{"weightedShare":0,"admissionFairSharingStatus":{
      "consumedResources":{"memory":"1500m","cpu":"6828427124n"},"lastUpdate":"2026-01-01T00:00:05Z"}}}})",
                                                 arena);
  EXPECT_EQ(joined(used.consumed), "cpu=6828427124n memory=1500m");
  EXPECT_EQ(used.consumed_at, Time::from_seconds(1767225605));
  EXPECT_EQ(joined(used.labels), "team=a");

  EXPECT_EQ(observed<WorkloadPriorityClassObserved>(types::workload_priority_class, R"({"metadata":{"name":"p"},"value":-7})", arena).value,
            -7);
  const auto priority =
      observed<PriorityClassObserved>(types::priority_class, R"({"metadata":{"name":"p"},"value":100,"globalDefault":true})", arena);
  EXPECT_EQ(priority.value, 100);
  EXPECT_TRUE(priority.global_default);

  EXPECT_EQ(joined(observed<NamespaceObserved>(types::namespace_, R"({"metadata":{"name":"n","labels":{"b":"","a":"1"}}})", arena).labels),
            "a=1 b=");

  const auto check = observed<AdmissionCheckObserved>(types::admission_check, R"({"metadata":{"name":"c"},"spec":{"controllerName":"x/y"},
    "status":{"conditions":[{"type":"Other","status":"True"},{"type":"Active","status":"True"}]}})",
                                                      arena);
  EXPECT_EQ(check.controller_name, "x/y");
  EXPECT_TRUE(check.active);
  EXPECT_FALSE(observed<AdmissionCheckObserved>(types::admission_check,
                                                R"({"metadata":{"name":"c"},"status":{"conditions":[{"type":"Active","status":"False"}]}})",
                                                arena)
                   .active);

  EXPECT_EQ(
      joined(observed<TopologyObserved>(
                 types::topology, R"({"metadata":{"name":"t"},"spec":{"levels":[{"nodeLabel":"block"},{"nodeLabel":"rack"}]}})", arena)
                 .levels),
      "block rack");

  const auto node = observed<NodeObserved>(types::node, R"({"metadata":{"name":"n","labels":{"zone":"a"}},
    "spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule","timeAdded":"2026-01-01T00:00:00Z"}]},
    "status":{"allocatable":{"cpu":"3920m","memory":"1Ki","pods":"110"},
      "conditions":[{"type":"MemoryPressure","status":"True"},{"type":"Ready","status":"True"}]}})",
                                           arena);
  EXPECT_EQ(joined(node.labels), "zone=a");
  EXPECT_EQ(node.taints.size(), 1U);
  EXPECT_EQ(joined(node.allocatable), "cpu=3920 memory=1024 pods=110");
  EXPECT_TRUE(node.ready);
  EXPECT_TRUE(node.unschedulable);
}

TEST(Observe, NamesObjectPathFindingAndWhatIsAllowed) {
  struct Case {
    const ResourceType& type;
    std::string_view json, error;
  };
  const Case cases[] = {
      {types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{"queueingStrategy":"LIFO"}})",
       R"(ClusterQueue cq: spec.queueingStrategy: found "LIFO", allowed: BestEffortFIFO, StrictFIFO)"},
      {types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{"preemption":{"reclaimWithinCohort":"LowerOrNewerEqualPriority"}}})",
       R"(ClusterQueue cq: spec.preemption.reclaimWithinCohort: found "LowerOrNewerEqualPriority", allowed: Never, LowerPriority, Any)"},
      {types::cluster_queue,
       R"({"metadata":{"name":"cq"},"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu"}]}]}]}})",
       "ClusterQueue cq: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: found nothing, allowed: a quantity such as 500m, 2 "
       "or 1Gi"},
      {types::resource_flavor, R"({"metadata":{"name":"f"},"spec":{"nodeTaints":[{"key":"k"}]}})",
       "ResourceFlavor f: spec.nodeTaints[0].effect: found nothing, allowed: NoSchedule, PreferNoSchedule, NoExecute"},
      {types::local_queue, R"({"metadata":{"name":"lq","namespace":"ns"},"spec":{"clusterQueue":["a"]}})",
       "LocalQueue ns/lq: spec.clusterQueue: found a list, allowed: a text"},
      {types::cohort, R"({"kind":"ClusterQueue","metadata":{"name":"c"}})", R"(Cohort c: kind: found "ClusterQueue", allowed: Cohort)"},
      {types::cohort, R"({"apiVersion":"kueue.x-k8s.io/v1beta1","metadata":{"name":"c"}})",
       R"(Cohort c: apiVersion: found "kueue.x-k8s.io/v1beta1", allowed: kueue.x-k8s.io/v1beta2)"},
      {types::namespace_, R"({"metadata":{}})", "Namespace: metadata.name: found nothing, allowed: a text that is not empty"},
      {types::namespace_, R"({})", "Namespace: metadata: found nothing, allowed: an object with a name"},
      {types::namespace_, R"([])", "Namespace: found a list, allowed: an object"},
      {types::job, R"([])", "Job: found a list, allowed: an object"},
      {types::workload_priority_class, R"({"metadata":{"name":"p"}})",
       "WorkloadPriorityClass p: value: found nothing, allowed: an integer"},
  };
  for (const auto& c : cases) EXPECT_EQ(refusal(c.type, c.json), c.error);
  EXPECT_EQ(refusal(types::namespace_, "{").rfind("Namespace: not a JSON text: ", 0), 0U);
}

TEST(Observe, SaysWhichKindsHaveNoObservation) {
  Arena arena;
  for (const auto* type : {&types::limit_range, &types::runtime_class, &types::multikueue_config}) {
    const auto result = observe_text(*type, R"({"metadata":{"name":"x"}})", arena);
    ASSERT_FALSE(result) << type->kind;
    EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  }
}

// EJ-70, EJ-75: of a pod only what its scheduling gate is about
TEST(Observe, ReadsTheGateOfAPod) {
  Arena arena;
  const auto result = observe_text(types::pod,
                                   R"({"metadata":{"name":"p","namespace":"ns","uid":"u","labels":{"kueue.x-k8s.io/podset":"main"},
      "annotations":{"kueue.x-k8s.io/workload-slice-name":"s","batch.kubernetes.io/job-completion-index":"4"},
      "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","uid":"j","controller":true}]},
      "spec":{"schedulingGates":[{"name":"other"},{"name":"kueue.x-k8s.io/elastic-job"}]},"status":{"phase":"Pending"}})",
                                   arena);
  ASSERT_TRUE(result) << result.error().message;
  const auto& pod = std::get<PodObserved>(*result);
  EXPECT_EQ(pod.owner_uid, "j");
  EXPECT_EQ(pod.pod_set, "main");
  EXPECT_EQ(pod.slice_name, "s");
  EXPECT_EQ(pod.index, 4);
  EXPECT_TRUE(pod.gated);
  EXPECT_FALSE(pod.ended);
}

// TAS-77, TAS-81, TAS-82: of a pod with a place in a topology its gate, rank and what it selects
TEST(Observe, ReadsThePlaceOfAPod) {
  Arena arena;
  const auto read = [&](const std::string& annotations, const std::string& spec) {
    const auto result = observe_text(types::pod,
                                     R"({"metadata":{"name":"p","namespace":"ns","uid":"u","labels":{"kueue.x-k8s.io/podset":"main",
        "batch.kubernetes.io/job-completion-index":"4","jobset.sigs.k8s.io/job-index":"2"},"annotations":{)" +
                                         annotations + R"("kueue.x-k8s.io/workload":"wl"}},"spec":{)" + spec + "}}",
                                     arena);
    EXPECT_TRUE(result) << result.error().message;
    return std::get<PodObserved>(*result);
  };
  const std::string asks = R"("kueue.x-k8s.io/podset-preferred-topology":"rack",)";
  const auto waits = read(asks, R"("schedulingGates":[{"name":"kueue.x-k8s.io/topology"}])");
  EXPECT_TRUE(waits.placed);
  EXPECT_TRUE(waits.topology_gated);
  EXPECT_FALSE(waits.gated);
  EXPECT_EQ(waits.workload_name, "wl");
  EXPECT_EQ(waits.index, 4);
  EXPECT_EQ(waits.group, 2);
  EXPECT_EQ(waits.index_offset, 0);
  const auto runs = read(asks + R"("kueue.x-k8s.io/pod-index-offset":"3",)", R"("nodeSelector":{"z":"1","a":"2"})");
  EXPECT_FALSE(runs.topology_gated);
  EXPECT_EQ(runs.index_offset, 3);
  ASSERT_EQ(runs.node_selector.size(), 2U);
  EXPECT_EQ(runs.node_selector[0].key, "a");
  EXPECT_TRUE(read(asks + R"("kueue.x-k8s.io/pod-index-offset":"x",)", "").index_offset_bad);
  const auto other = read("", R"("nodeSelector":{"z":"1"})");
  EXPECT_FALSE(other.placed);
  EXPECT_TRUE(other.node_selector.empty());
}

TEST(Observe, TellsWhatWasDeleted) {
  Arena arena;
  const auto result = observe_deleted_text(types::job, R"({"metadata":{"name":"j","namespace":"ns","uid":"u"},"spec":"unread"})", arena);
  ASSERT_TRUE(result);
  const auto& gone = std::get<ObjectDeleted>(*result);
  EXPECT_EQ(gone.kind, ObjectKind::job);
  EXPECT_EQ(gone.namespace_, "ns");
  EXPECT_EQ(gone.name, "j");
  EXPECT_EQ(gone.uid, "u");
  EXPECT_FALSE(observe_deleted_text(types::event, R"({"metadata":{"name":"e"}})", arena));
}

}  // namespace
}  // namespace hindsight::connectors
