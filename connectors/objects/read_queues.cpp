// ClusterQueue, Cohort, LocalQueue (base-api §2.2 to §2.4; 8691 §2.2 to §2.4).

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

/// Kueue's form calls the list and the last delay otherwise.
List<ExplicitOptionFacts> read_explicit_options(const Node& parent, std::string_view list, std::string_view delete_delay) {
  return parent.list<ExplicitOptionFacts>(list, limits::explicit_options, [&](const Node& option) {
    ExplicitOptionFacts out;
    out.name = option.required_text("name", limits::dns_label);
    out.create_delay_seconds = option.int32_or("createDelaySeconds", 0);
    out.delete_delay_seconds = option.int32(delete_delay, 0);
    out.allowed_flavors = option.texts("allowedResourceFlavors", limits::allowed_flavors, limits::name);
    if (out.allowed_flavors.empty()) option.refuse_value("allowedResourceFlavors", "names of flavors");
    return out;
  });
}

UpgradeFungibility read_upgrades(const Node& holder) {
  return holder.choice<UpgradeFungibility>("upgradeFungibility",
                                           {{"Always", UpgradeFungibility::always},
                                            {"NoPreemption", UpgradeFungibility::no_preemption},
                                            {"NoBorrowing", UpgradeFungibility::no_borrowing}},
                                           UpgradeFungibility::always);
}

ConcurrentAdmissionFacts read_seed_form(const Node& form) {
  ConcurrentAdmissionFacts out;
  out.enabled = true;
  out.on_success = form.choice<OnSuccess>("onSuccess",
                                          {{"RemoveOther", OnSuccess::remove_other},
                                           {"RemoveLower", OnSuccess::remove_lower},
                                           {"RemoveBelowTarget", OnSuccess::remove_below_target}},
                                          OnSuccess::remove_other);
  if (form.text("onSuccess").empty()) form.refuse_value("onSuccess", "RemoveOther, RemoveLower, RemoveBelowTarget");
  if (out.on_success == OnSuccess::remove_below_target) {
    const auto config = form.object("removeBelowTargetConfig");
    if (!config.present()) form.refuse_value("removeBelowTargetConfig", "an object");
    out.target_flavor = config.required_text("targetResourceFlavor", limits::name);
  }
  out.options = read_explicit_options(form, "explicitOptions", "deleteDelaySeconds");
  out.upgrades = read_upgrades(form);
  return out;
}

ConcurrentAdmissionFacts read_kueue_form(const Node& form) {
  ConcurrentAdmissionFacts out;
  out.enabled = true;
  out.kueue_form = true;
  const auto migration = form.object("migration");
  out.on_success = migration.choice<OnSuccess>(
      "mode", {{"TryPreferredFlavors", OnSuccess::remove_lower}, {"RetainFirstAdmission", OnSuccess::remove_other}},
      OnSuccess::remove_lower);
  if (out.on_success == OnSuccess::remove_other) return out;
  const auto constraints = migration.object("constraints");
  out.target_flavor = constraints.text("lastAcceptableFlavorName", limits::name);
  if (!out.target_flavor.empty()) out.on_success = OnSuccess::remove_below_target;
  out.options = read_explicit_options(constraints, "explicitVariants", "maxDeleteDelaySeconds");
  out.upgrades = read_upgrades(constraints);
  return out;
}

/// Webhooks refuse two forms that say different things, but only while the feature is on: the one that can say more counts then.
ConcurrentAdmissionFacts read_concurrent_admission(const Node& spec) {
  if (const auto form = spec.object("concurrentAdmission"); form.present()) return read_seed_form(form);
  if (const auto form = spec.object("concurrentAdmissionPolicy"); form.present()) return read_kueue_form(form);
  return {};
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
  out.concurrent = read_concurrent_admission(spec);
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
