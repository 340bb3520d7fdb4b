// ClusterQueue, Cohort, LocalQueue (base-api §2.2 to §2.4).

#include "connectors/json/object_meta.hpp"
#include "connectors/json/pod_template.hpp"
#include "connectors/objects/readers.hpp"

namespace hindsight::connectors::readers {
namespace {

constexpr std::int64_t weight_of_one = 1'000'000'000;

List<ResourceGroupFacts> read_resource_groups(const Node& spec) {
  return spec.list<ResourceGroupFacts>("resourceGroups", limits::resource_groups, [](const Node& group) {
    ResourceGroupFacts out;
    out.covered_resources = group.texts("coveredResources", limits::covered_resources, limits::key);
    out.flavors = group.list<FlavorQuotasFacts>("flavors", limits::flavors, [](const Node& flavor) {
      FlavorQuotasFacts quotas;
      quotas.flavor = flavor.required_text("name");
      quotas.resources = flavor.list<QuotaFacts>("resources", limits::flavor_resources, [](const Node& resource) {
        QuotaFacts quota;
        quota.resource = resource.required_text("name", limits::key);
        const auto nominal = resource.quantity("nominalQuota", quota.resource);
        if (!nominal) resource.refuse_value("nominalQuota", "a quantity such as 500m, 2 or 1Gi");
        quota.nominal = nominal.value_or(0);
        quota.borrowing_limit = resource.quantity("borrowingLimit", quota.resource);
        quota.lending_limit = resource.quantity("lendingLimit", quota.resource);
        return quota;
      });
      return quotas;
    });
    return out;
  });
}

std::int64_t read_weight(const Node& spec) { return spec.object("fairSharing").nano("weight").value_or(weight_of_one); }

StopPolicy read_stop_policy(const Node& spec) {
  return spec.choice<StopPolicy>("stopPolicy",
                                 {{"None", StopPolicy::none}, {"Hold", StopPolicy::hold}, {"HoldAndDrain", StopPolicy::hold_and_drain}},
                                 StopPolicy::none);
}

void read_fungibility(const Node& spec, ClusterQueueObserved& out) {
  const auto fungibility = spec.object("flavorFungibility");
  // The old values come from v1beta1 (base-api §4).
  out.when_can_borrow = fungibility.choice<FungibilityPolicy>("whenCanBorrow",
                                                              {{"MayStopSearch", FungibilityPolicy::may_stop_search},
                                                               {"TryNextFlavor", FungibilityPolicy::try_next_flavor},
                                                               {"Borrow", FungibilityPolicy::may_stop_search}},
                                                              FungibilityPolicy::may_stop_search);
  out.when_can_preempt = fungibility.choice<FungibilityPolicy>("whenCanPreempt",
                                                               {{"MayStopSearch", FungibilityPolicy::may_stop_search},
                                                                {"TryNextFlavor", FungibilityPolicy::try_next_flavor},
                                                                {"Preempt", FungibilityPolicy::may_stop_search}},
                                                               FungibilityPolicy::try_next_flavor);
  out.preference =
      fungibility.choice<FungibilityPreference>("preference",
                                                {{"BorrowingOverPreemption", FungibilityPreference::borrowing_over_preemption},
                                                 {"PreemptionOverBorrowing", FungibilityPreference::preemption_over_borrowing}},
                                                FungibilityPreference::unset);
}

void read_preemption(const Node& spec, ClusterQueueObserved& out) {
  const auto preemption = spec.object("preemption");
  out.within_cluster_queue =
      preemption.choice<PreemptionPolicy>("withinClusterQueue",
                                          {{"Never", PreemptionPolicy::never},
                                           {"LowerPriority", PreemptionPolicy::lower_priority},
                                           {"LowerOrNewerEqualPriority", PreemptionPolicy::lower_or_newer_equal_priority}},
                                          PreemptionPolicy::never);
  out.reclaim_within_cohort = preemption.choice<PreemptionPolicy>(
      "reclaimWithinCohort",
      {{"Never", PreemptionPolicy::never}, {"LowerPriority", PreemptionPolicy::lower_priority}, {"Any", PreemptionPolicy::any}},
      PreemptionPolicy::never);
  const auto borrow = preemption.object("borrowWithinCohort");
  out.borrow_within_cohort = borrow.choice<PreemptionPolicy>(
      "policy", {{"Never", PreemptionPolicy::never}, {"LowerPriority", PreemptionPolicy::lower_priority}}, PreemptionPolicy::never);
  out.max_priority_threshold = borrow.int32("maxPriorityThreshold");
}

}  // namespace

ClusterQueueObserved cluster_queue(const Node& object) {
  ClusterQueueObserved out;
  out.meta = read_meta(object);
  const auto spec = object.object("spec");
  out.cohort = spec.text("cohortName", limits::name);
  out.resource_groups = read_resource_groups(spec);
  out.queueing_strategy = spec.choice<QueueingStrategy>(
      "queueingStrategy", {{"BestEffortFIFO", QueueingStrategy::best_effort_fifo}, {"StrictFIFO", QueueingStrategy::strict_fifo}},
      QueueingStrategy::best_effort_fifo);
  const auto selector = spec.object("namespaceSelector");
  out.has_namespace_selector = selector.present();
  out.namespace_selector = read_label_selector(selector);
  read_fungibility(spec, out);
  read_preemption(spec, out);
  out.admission_checks =
      spec.object("admissionChecksStrategy").list<AdmissionCheckRule>("admissionChecks", limits::queue_checks, [](const Node& check) {
        return AdmissionCheckRule{check.required_text("name", limits::check_name),
                                  check.texts("onFlavors", limits::check_flavors, limits::name)};
      });
  out.stop_policy = read_stop_policy(spec);
  out.stop_policy_set = spec.has("stopPolicy");
  out.fair_weight_nano = read_weight(spec);
  out.admission_mode = spec.object("admissionScope")
                           .choice<AdmissionMode>("admissionMode",
                                                  {{"UsageBasedAdmissionFairSharing", AdmissionMode::usage_based},
                                                   {"NoAdmissionFairSharing", AdmissionMode::none}},
                                                  AdmissionMode::unset);
  return out;
}

CohortObserved cohort(const Node& object) {
  CohortObserved out;
  out.meta = read_meta(object);
  const auto spec = object.object("spec");
  out.parent = spec.text("parentName", limits::name);
  out.resource_groups = read_resource_groups(spec);
  out.fair_weight_nano = read_weight(spec);
  return out;
}

LocalQueueObserved local_queue(const Node& object) {
  LocalQueueObserved out;
  out.meta = read_meta(object);
  const auto spec = object.object("spec");
  out.cluster_queue = spec.text("clusterQueue", limits::name);
  out.stop_policy = read_stop_policy(spec);
  out.stop_policy_set = spec.has("stopPolicy");
  out.fair_weight_nano = read_weight(spec);
  out.labels = object.object("metadata").pairs("labels");
  const auto sharing = object.object("status").object("fairSharing").object("admissionFairSharingStatus");
  out.consumed_at = sharing.time("lastUpdate");
  if (out.consumed_at.is_set()) out.consumed = sharing.quantities("consumedResources");
  return out;
}

}  // namespace hindsight::connectors::readers
