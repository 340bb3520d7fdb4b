// Feature gates that Kueue was told to switch, in its configuration or on its command line.

#include <algorithm>
#include <iterator>

#include "cli/migrate/rules.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "operations/feature_gates.hpp"

namespace hindsight::cli::migrate {
namespace {

enum GateRule { gate_same, gate_inner, gate_always_on, gate_absent, gate_earlier };

constexpr Rule gate_table[] = {
    {"gate-same", Severity::note, "It does the same here.", ""},
    {"gate-inner", Severity::note, "It is about how Kueue works inside, and has no effect here.", ""},
    {"gate-always-on", Severity::differs, "", "Take it out of the configuration, and see that nobody counts on its absence."},
    {"gate-absent", Severity::differs, "", "Take it out of the configuration; keep Kueue where the feature is needed."},
    {"gate-earlier", Severity::blocks, "", "Take it out of a copy of the configuration, and give that with --config."},
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
    {"UnadmittedWorkloadsObservability", Standing::always_on, "conditions and metrics tell for what reason a workload is not admitted"},
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

/// Sorted by name. Of Kueue 0.17 to 0.19, and what Kubernetes components take for many gates at a time.
constexpr EarlierGate earlier_table[] = {
    {"AllAlpha", "groups of gates are not known here, so name each gate that you use"},
    {"AllBeta", "groups of gates are not known here, so name each gate that you use"},
    {"DRAExtendedResources", "devices of resource claims are not counted"},
    {"DynamicResourceAllocation", "devices of resource claims are not counted"},
    {"HierarchicalCohorts", "cohorts form trees"},
    {"LendingLimit", "lending limits hold"},
    {"LocalQueueDefaulting", "with webhooks a job without a queue gets the LocalQueue default of its namespace, where there is one"},
    {"MultiKueueAllowInsecureKubeconfigs", "no job is sent to another cluster"},
    {"MultiKueueBatchJobWithManagedBy", "no job is sent to another cluster"},
    {"MultiKueueRedoAdmissionOnEvictionInWorker", "no job is sent to another cluster"},
    {"MultiKueueWaitForWorkloadAdmitted", "no job is sent to another cluster"},
    {"ObjectRetentionPolicies", "objectRetentionPolicies holds"},
    {"PropagateBatchJobLabelsToWorkload", "labels of a template that the API server adds decide nothing"},
    {"SanitizePodSets", "a template is kept as it is written"},
    {"SchedulerLongRequeueInterval", "a workload is tried again when something changes that could help it"},
    {"SchedulerTimestampPreemptionBuffer", "LowerOrNewerEqualPriority compares times without a buffer"},
    {"SkipFinalizersForPodsSuspendedByParent", "plain pods are not managed"},
};
static_assert(std::is_sorted(std::begin(earlier_table), std::end(earlier_table),
                             [](const EarlierGate& a, const EarlierGate& b) { return a.name < b.name; }));

const EarlierGate* find_earlier_gate(std::string_view name) {
  const auto* it = std::lower_bound(std::begin(earlier_table), std::end(earlier_table), name,
                                    [](const EarlierGate& g, std::string_view n) { return g.name < n; });
  return it != std::end(earlier_table) && it->name == name ? it : nullptr;
}

void look_at_gate(const std::string& source, const std::string& field, const std::string& name, bool on, Findings& out) {
  if (const auto* earlier = find_earlier_gate(name); earlier != nullptr)
    return out.add(gate_table[gate_earlier], source, field, on ? "true" : "false",
                   "hindsight run does not know it, and does not start with it. Here " + std::string(earlier->instead) + ".");
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
std::span<const EarlierGate> earlier_gates() { return earlier_table; }
bool is_earlier_gate(std::string_view name) { return find_earlier_gate(name) != nullptr; }

GatesOfProcess gates_of_process(const World& world) {
  const std::string text = feature_gates_of_process(world);
  GatesOfProcess out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const auto equals = std::min(part.find('='), part.size());
    const auto begin = std::min(part.find_first_not_of(' '), equals);
    std::string name = part.substr(begin, equals - begin);
    name.erase(name.find_last_not_of(' ') + 1);
    if (is_earlier_gate(name))
      out.earlier.emplace_back(std::move(name), equals < part.size() ? part.substr(equals + 1) : std::string());
    else
      out.known += (out.known.empty() ? "" : ",") + part;
  }
  return out;
}

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
  const std::string source = "command line of Kueue", option = "--feature-gates ";
  const auto given = gates_of_process(world);
  if (const auto gates = operations::parse_feature_gates(given.known))
    for (const auto& [name, value] : *gates) look_at_gate(source, option + name, name, value, out);
  for (const auto& [name, value] : given.earlier)
    look_at_gate(source, option + name, name, value.find_first_of("tT1") != std::string::npos, out);
}

}  // namespace hindsight::cli::migrate
