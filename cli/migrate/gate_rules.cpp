// Feature gates that Kueue was told to switch, in its configuration or on its command line.

#include <algorithm>
#include <iterator>

#include "cli/migrate/rules.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "operations/feature_gates.hpp"

namespace hindsight::cli::migrate {
namespace {

enum GateRule { gate_same, gate_inner, gate_always_on, gate_absent };

constexpr Rule gate_table[] = {
    {"gate-same", Severity::note, "It does the same here.", ""},
    {"gate-inner", Severity::note, "It is about how Kueue works inside, and has no effect here.", ""},
    {"gate-always-on", Severity::differs, "", "Take it out of the configuration, and see that nobody counts on its absence."},
    {"gate-absent", Severity::differs, "", "Take it out of the configuration; keep Kueue where the feature is needed."},
};

/// Sorted by name. Whether code asks for a gate is compared with this by tests/cli/migrate_rules_test.cpp.
constexpr GateStanding standing_table[] = {
    {"AdjustResourcesOnAdmission", Standing::same, ""},
    {"AdmissionFairSharing", Standing::same, ""},
    {"AdmissionGatedBy", Standing::same, ""},
    {"AssignQueueLabelsForPods", Standing::always_on, "pods carry the labels of their queues"},
    {"CleanupProvisioningRequestsOnEviction", Standing::absent, "no ProvisioningRequests are made"},
    {"ConcurrentAdmission", Standing::same, ""},
    {"ConcurrentAdmissionStrictFIFO", Standing::same, ""},
    {"CustomMetricLabels", Standing::absent, "metrics carry no labels of your own"},
    {"DeferRayServiceFinalizationForRedisCleanup", Standing::absent, "RayServices are not managed"},
    {"DisableWaitForPodsReady", Standing::same, ""},
    {"ElasticJobsViaWorkloadSlices", Standing::same, ""},
    {"ElasticJobsViaWorkloadSlicesForProvisioningRequests", Standing::absent, "no ProvisioningRequests are made"},
    {"ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp", Standing::absent, "a job that grows gets all that it asks for, or waits"},
    {"ElasticJobsViaWorkloadSlicesWithTAS", Standing::same, ""},
    {"FailureRecoveryPolicy", Standing::absent, "pods on lost nodes are left to Kubernetes"},
    {"FairSharingPreemptWithinNominal", Standing::same, ""},
    {"FairSharingPrioritizeNonBorrowing", Standing::same, ""},
    {"FastQuotaReleaseInPodIntegration", Standing::absent, "plain pods are not managed"},
    {"FinishOrphanedWorkloads", Standing::same, ""},
    {"FlavorFungibility", Standing::same, ""},
    {"FlavorFungibilityPreserveScanProgress", Standing::same, ""},
    {"KueueDRAIntegration", Standing::absent, "devices of resource claims are not counted"},
    {"KueueDRAIntegrationConsumableCapacity", Standing::absent, "devices of resource claims are not counted"},
    {"KueueDRAIntegrationExtendedResource", Standing::absent, "devices of resource claims are not counted"},
    {"KueueDRAIntegrationPartitionableDevices", Standing::absent, "devices of resource claims are not counted"},
    {"KueueDRARejectWorkloadsWhenDRADisabled", Standing::absent, "workloads with resource claims are admitted by their other requests"},
    {"LWSImmutableGroupSize", Standing::absent, "LeaderWorkerSets are not managed"},
    {"LocalQueueMetrics", Standing::same, ""},
    {"ManagedJobsNamespaceSelectorAlwaysRespected", Standing::always_on, "the namespace selector holds for every job"},
    {"MetricForWorkloadCreationLatency", Standing::always_on, "the metric is served"},
    {"MetricsForCohorts", Standing::always_on, "the metrics of cohorts are served"},
    {"MultiKueue", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueAdaptersForCustomJobs", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueClusterProfile", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueIncrementalDispatcherConfig", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueIncrementalDispatcherRespectConfigOrder", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueKubeConfigPathValidation", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueManagerQuotaAutomation", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueOrchestratedPreemption", Standing::absent, "no job is sent to another cluster"},
    {"MultiKueueRemoteSpecSync", Standing::absent, "no job is sent to another cluster"},
    {"PartialAdmission", Standing::same, ""},
    {"PodIntegrationValidateGroupOwner", Standing::absent, "plain pods are not managed"},
    {"PrioritizePreemptorWorkloads", Standing::same, ""},
    {"PriorityBoost", Standing::same, ""},
    {"PrioritySortingWithinCohort", Standing::same, ""},
    {"QuotaCheckStrategy", Standing::same, ""},
    {"ReclaimablePods", Standing::same, ""},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap", Standing::same, ""},
    {"RejectUpdatesToCQWithInvalidOnFlavors", Standing::same, ""},
    {"RemoveFinalizersWithStrictPatch", Standing::inner, ""},
    {"SchedulerLibraryIntegration", Standing::inner, ""},
    {"SchedulingEquivalenceHashing", Standing::same, ""},
    {"SchedulingGatedBy", Standing::same, ""},
    {"ShortWorkloadNames", Standing::same, ""},
    {"SkipAncestorCheckForDeletedWorkloads", Standing::inner, ""},
    {"SkipReassignmentForPodOwnedWorkloads", Standing::absent, "plain pods are not managed"},
    {"SparkApplicationIntegration", Standing::absent, "SparkApplications are not managed"},
    {"TASAssignmentsEncodingByHostnamePrefix", Standing::always_on, "assignments of hosts are written by their common prefixes"},
    {"TASBalancedPlacement", Standing::same, ""},
    {"TASCacheNodeMatchResults", Standing::inner, ""},
    {"TASCacheTopologyTree", Standing::inner, ""},
    {"TASCachingRemainingResources", Standing::inner, ""},
    {"TASFailedNodeReplacement", Standing::same, ""},
    {"TASFailedNodeReplacementFailFast", Standing::same, ""},
    {"TASHandleOverlappingFlavors", Standing::always_on, "what pods use of a node counts for every flavor that selects it"},
    {"TASMultiLayerTopology", Standing::same, ""},
    {"TASProfileMixed", Standing::same, ""},
    {"TASRecomputeAssignmentWithinSchedulingCycle", Standing::same, ""},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", Standing::absent, "nodes are replaced when they are found failed"},
    {"TASReplaceNodeOnNodeTaints", Standing::same, ""},
    {"TASReplaceNodeOnPodTermination", Standing::same, ""},
    {"TASRespectNodeAffinityPreferred", Standing::same, ""},
    {"TASValidateWorkloadSliceSize", Standing::same, ""},
    {"TLSOptions", Standing::always_on, "the section tls holds"},
    {"TopologyAwareScheduling", Standing::same, ""},
    {"UnadmittedWorkloadsExplicitStatus", Standing::same, ""},
    {"UnadmittedWorkloadsObservability", Standing::always_on, "the metrics of workloads that are not admitted are served"},
    {"ValidateRayAndSparkJobUpdates", Standing::always_on, "webhooks judge changes of RayClusters and RayJobs"},
    {"VectorizedResourceRequests", Standing::inner, ""},
    {"VisibilityOnDemand", Standing::always_on, "--visibility serves the visibility API"},
    {"WorkloadIdentifierAnnotations", Standing::same, ""},
    {"WorkloadPriorityClassDefaulting", Standing::same, ""},
    {"WorkloadRequestUseMergePatch", Standing::inner, ""},
    {"WorkloadValidateResourcesAreNonNegative", Standing::same, ""},
    {"WorkloadValidationForPodSetMetadata", Standing::same, ""},
};
static_assert(std::is_sorted(std::begin(standing_table), std::end(standing_table),
                             [](const GateStanding& a, const GateStanding& b) { return a.name < b.name; }));

void look_at_gate(const std::string& source, const std::string& field, const std::string& name, bool on, Findings& out) {
  const auto* it = std::lower_bound(std::begin(standing_table), std::end(standing_table), name,
                                    [](const GateStanding& g, const std::string& n) { return g.name < n; });
  if (it == std::end(standing_table) || it->name != name) return;  // unknown: the configuration is refused, and says so
  const std::string value = on ? "true" : "false";
  if (it->standing == Standing::inner) return out.add(gate_table[gate_inner], source, field, value);
  if (it->standing == Standing::always_on && !on)
    return out.add(gate_table[gate_always_on], source, field, value, "It cannot be switched off: " + std::string(it->instead) + ".");
  if (it->standing == Standing::absent && on)
    return out.add(gate_table[gate_absent], source, field, value, "Not there: " + std::string(it->instead) + ".");
  out.add(gate_table[gate_same], source, field, value);
}

}  // namespace

std::span<const Rule> gate_rules() { return gate_table; }
std::span<const GateStanding> gate_standings() { return standing_table; }

void look_at_gates(const World& world, Findings& out) {
  if (world.configuration) {
    const auto documents = connectors::manifests::read_yaml(world.configuration->text, {.bytes = std::size_t{4} << 20U, .values = 100'000});
    if (documents && documents->size() == 1) {
      const Json& gates = connectors::manifests::member(documents->front().value, "featureGates");
      if (gates.is_object())
        for (const auto& [name, value] : gates.items())
          if (value.is_boolean()) look_at_gate(world.configuration->source, "featureGates." + name, name, value.get<bool>(), out);
    }
  }
  if (const auto gates = operations::parse_feature_gates(feature_gates_of_process(world)))
    for (const auto& [name, value] : *gates) look_at_gate("command line of Kueue", "--feature-gates " + name, name, value, out);
}

}  // namespace hindsight::cli::migrate
