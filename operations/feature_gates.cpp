#include "operations/feature_gates.hpp"

#include <algorithm>
#include <array>

#include "connectors/manifests/syntax.hpp"

namespace hindsight::operations {
namespace {

using connectors::manifests::Problem;
using connectors::manifests::ProblemKind;

constexpr std::string_view tas = "TopologyAwareScheduling";
constexpr std::string_view concurrent = "ConcurrentAdmission";
constexpr std::string_view elastic = "ElasticJobsViaWorkloadSlices";
constexpr std::string_view failed_node_replacement = "TASFailedNodeReplacement";

constexpr auto alpha = GateStage::alpha;
constexpr auto beta = GateStage::beta;
constexpr auto stable = GateStage::stable;
constexpr auto deprecated = GateStage::deprecated;

/// Sorted by name.
// clang-format off
constexpr FeatureGate gates[] = {
    {"AdjustResourcesOnAdmission", alpha, false, "", "", "A batch Job may say how far its requests can be changed, and is admitted with what fits", false},
    {"AdmissionFairSharing", beta, true, "", "", "LocalQueues of a ClusterQueue are ordered by what they have used, where the configuration and the queue ask for it"},
    {"AdmissionGatedBy", beta, true, "", "", "The annotation that keeps a Workload from being admitted has an effect"},
    {"AssignQueueLabelsForPods", beta, true, "", "", "Pods carry the names of their LocalQueue and ClusterQueue as labels"},
    {"CleanupProvisioningRequestsOnEviction", beta, true, "", "", "ProvisioningRequests of an evicted Workload are deleted"},
    {"ConcurrentAdmission", alpha, false, "", "", "A Workload may have several Options, one a flavor, that are tried at the same time"},
    {"ConcurrentAdmissionStrictFIFO", alpha, false, concurrent, "", "ClusterQueues with StrictFIFO may have concurrent admission, too", false},
    {"CustomMetricLabels", alpha, false, "", "", "Labels and annotations of objects become labels of metrics"},
    {"DeferRayServiceFinalizationForRedisCleanup", beta, true, "", "", "A RayService keeps its quota until its Redis has been cleaned"},
    {"DisableWaitForPodsReady", alpha, false, "", "", "waitForPodsReady is off, whatever the configuration says"},
    {"ElasticJobsViaWorkloadSlices", beta, true, "", "", "A job may change its size while it runs, by a second Workload"},
    {"ElasticJobsViaWorkloadSlicesForProvisioningRequests", alpha, false, elastic, "", "Elastic jobs work with ProvisioningRequests"},
    {"ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp", alpha, false, elastic, "", "A job that grows may get a part of what it asks for"},
    {"ElasticJobsViaWorkloadSlicesWithTAS", alpha, false, elastic, tas, "Elastic jobs may ask for a topology"},
    {"FailureRecoveryPolicy", alpha, false, "", "", "Pods that are stuck on lost nodes are deleted by force"},
    {"FairSharingPreemptWithinNominal", beta, true, "", "", "With fair sharing, a queue within its nominal quota may preempt whatever the shares are"},
    {"FairSharingPrioritizeNonBorrowing", beta, true, "", "", "With fair sharing, entries that do not borrow go first"},
    {"FastQuotaReleaseInPodIntegration", alpha, false, "", "", "Plain pods give their quota back when they begin to end"},
    {"FinishOrphanedWorkloads", beta, true, "", "", "A Workload whose job is gone finishes"},
    {"FlavorFungibility", beta, true, "", "", "spec.flavorFungibility says when the next flavor is tried"},
    {"FlavorFungibilityPreserveScanProgress", beta, true, "", "", "The flavor from which the next try goes on is remembered over more changes"},
    {"KueueDRAIntegration", beta, true, "", "", "Devices of resource claims count as quota"},
    {"KueueDRAIntegrationConsumableCapacity", alpha, false, "", "", "Shares of a device count as quota"},
    {"KueueDRAIntegrationExtendedResource", beta, true, "", "", "Extended resources that a device class backs count as quota"},
    {"KueueDRAIntegrationPartitionableDevices", beta, true, "", "", "Parts of a device count as quota"},
    {"KueueDRARejectWorkloadsWhenDRADisabled", beta, true, "", "", "Workloads with resource claims are refused while claims are not counted"},
    {"LWSImmutableGroupSize", beta, true, "", "", "The group size of a queued LeaderWorkerSet cannot be changed"},
    {"LocalQueueMetrics", beta, true, "", "", "The metrics kueue_local_queue_* are served, where the configuration asks for them"},
    {"ManagedJobsNamespaceSelectorAlwaysRespected", stable, true, "", "", "managedJobsNamespaceSelector also holds for jobs that name a queue"},
    {"MetricForWorkloadCreationLatency", beta, true, "", "", "kueue_workload_creation_latency_seconds is served"},
    {"MetricsForCohorts", beta, true, "", "", "The metrics kueue_cohort_* are served"},
    {"MultiKueue", beta, true, "", "", "Jobs are sent to other clusters"},
    {"MultiKueueAdaptersForCustomJobs", beta, true, "", "", "Jobs of any kind are sent to other clusters"},
    {"MultiKueueClusterProfile", alpha, false, "", "", "Worker clusters may be named by a ClusterProfile"},
    {"MultiKueueIncrementalDispatcherConfig", beta, true, "", "", "The incremental dispatcher can be configured"},
    {"MultiKueueIncrementalDispatcherRespectConfigOrder", beta, true, "", "", "The incremental dispatcher keeps the order of the configuration"},
    {"MultiKueueKubeConfigPathValidation", beta, true, "", "", "Paths of kubeconfigs of worker clusters are judged"},
    {"MultiKueueManagerQuotaAutomation", alpha, false, "", "", "The manager's quota follows from that of the workers"},
    {"MultiKueueOrchestratedPreemption", alpha, false, "", "", "The manager decides in which worker cluster a Workload may preempt"},
    {"MultiKueueRemoteSpecSync", beta, true, "", "", "Changes of a job reach its copy in the worker cluster"},
    {"PartialAdmission", beta, true, "", "", "A job may be admitted with fewer pods, down to its minCount"},
    {"PodIntegrationValidateGroupOwner", beta, true, "", "", "The owner of a pod group is judged"},
    {"PrioritizePreemptorWorkloads", alpha, false, "", "", "Who has preempted somebody goes first, and quota is kept for it until its victims are gone"},
    {"PriorityBoost", alpha, false, "", "", "An annotation raises or lowers the priority of a Workload"},
    {"PrioritySortingWithinCohort", beta, true, "", "", "Of the entries of a cohort the one with the higher priority goes first"},
    {"QuotaCheckStrategy", beta, true, "", "", "resources.quotaCheckStrategy says which requests are compared with quota"},
    {"ReclaimablePods", beta, true, "", "", "Quota of pods that are done is given back while the job runs"},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap", beta, true, "", "", "An entry whose victims another entry took is looked at again in the same cycle"},
    {"RejectUpdatesToCQWithInvalidOnFlavors", alpha, false, "", "", "A ClusterQueue in which onFlavors names a flavor that the queue does not have cannot be changed before that is mended"},
    {"RemoveFinalizersWithStrictPatch", beta, true, "", "", "Finalizers are removed by a patch with a precondition"},
    {"SchedulerLibraryIntegration", alpha, false, "", "", "The scheduler's library places pods"},
    {"SchedulingEquivalenceHashing", beta, true, "", "", "Workloads that are equal for scheduling are parked together"},
    {"SchedulingGatedBy", alpha, false, "", "", "The annotation that keeps a job from getting a Workload has an effect", false},
    {"ShortWorkloadNames", alpha, false, "", "", "Names of Options are at most 63 characters long"},
    {"SkipAncestorCheckForDeletedWorkloads", beta, true, "", "", "A missing owner is tolerated while the object is being deleted"},
    {"SkipReassignmentForPodOwnedWorkloads", beta, true, "", "", "A Workload of one pod keeps its assignment when it is evicted"},
    {"SparkApplicationIntegration", alpha, false, "", "", "SparkApplications are managed"},
    {"TASAssignmentsEncodingByHostnamePrefix", beta, true, tas, "", "Assignments of hosts are written by their common prefixes"},
    {"TASBalancedPlacement", alpha, false, tas, "", "Pods are spread evenly over the domains that are needed"},
    {"TASCacheNodeMatchResults", beta, true, tas, "", "Whether a node matches is remembered"},
    {"TASCacheTopologyTree", beta, true, tas, "", "The tree of a topology is remembered"},
    {"TASCachingRemainingResources", beta, true, tas, "", "What is left of nodes is remembered"},
    {"TASFailedNodeReplacement", beta, true, tas, "", "The place on a failed node is replaced by another"},
    {"TASFailedNodeReplacementFailFast", beta, true, tas, failed_node_replacement, "A Workload for which there is no other node is evicted at once"},
    {"TASHandleOverlappingFlavors", beta, true, tas, "", "What pods use of a node counts for every flavor that selects the node"},
    {"TASMultiLayerTopology", beta, true, tas, "", "A job may name more than two levels of a topology"},
    {"TASProfileMixed", beta, true, tas, "", "Where no level is asked for, the least free capacity is used first"},
    {"TASRecomputeAssignmentWithinSchedulingCycle", beta, true, tas, "", "Places that another entry of the cycle took are looked for again in that cycle"},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", deprecated, false, tas, failed_node_replacement, "A node counts as failed when it was not ready for a fixed time"},
    {"TASReplaceNodeOnNodeTaints", beta, true, tas, failed_node_replacement, "A node with a NoExecute taint counts as failed"},
    {"TASReplaceNodeOnPodTermination", beta, true, tas, failed_node_replacement, "A node that is not ready counts as failed as soon as the pods on it end"},
    {"TASRespectNodeAffinityPreferred", alpha, false, tas, "", "Places that preferred node affinity names go first"},
    {"TASValidateWorkloadSliceSize", beta, true, tas, "", "The slice size of a topology request is judged when the job is made"},
    {"TLSOptions", stable, true, "", "", "The section tls of the configuration has an effect"},
    {"TopologyAwareScheduling", beta, true, "", "", "Flavors may name a Topology, and pods get their places in it"},
    {"UnadmittedWorkloadsExplicitStatus", beta, false, "", "", "A Workload that is parked because an equal one failed says in its status for what reason"},
    {"UnadmittedWorkloadsObservability", beta, true, "", "", "Conditions and metrics tell for what reason a Workload is not admitted"},
    {"ValidateRayAndSparkJobUpdates", beta, true, "", "", "Webhooks judge changes of Ray and Spark jobs"},
    {"VectorizedResourceRequests", beta, true, "", "", "Requests are compared as vectors of numbers"},
    {"VisibilityOnDemand", beta, true, "", "", "The visibility API is served"},
    {"WorkloadIdentifierAnnotations", beta, true, "", "", "The name of a prebuilt Workload may stand in an annotation, too"},
    {"WorkloadPriorityClassDefaulting", beta, true, "", "", "A job without a priority class gets the default WorkloadPriorityClass, where there is one"},
    {"WorkloadRequestUseMergePatch", alpha, false, "", "", "The status of a Workload is written by a merge patch"},
    {"WorkloadValidateResourcesAreNonNegative", beta, true, "", "", "Negative requests are refused"},
    {"WorkloadValidationForPodSetMetadata", beta, true, "", "", "Labels and annotations of pod sets are judged"},
};
// clang-format on
static_assert(std::is_sorted(std::begin(gates), std::end(gates),
                             [](const FeatureGate& a, const FeatureGate& b) { return a.name < b.name; }));

/// "unknown feature gate; did you mean "A" or "B"?", or where to look when nothing is near.
std::string unknown_gate(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& gate : gates) names.push_back(gate.name);
  std::vector<std::string_view> near;
  while (near.size() < 3) {
    const auto next = connectors::manifests::nearest(name, names);
    if (next.empty()) break;
    near.push_back(next);
    names.erase(std::find(names.begin(), names.end(), next));
  }
  // A part of a name ("FlavorFungib", "TAS") is far from all of them, yet says enough.
  for (const auto& gate : gates) {
    if (near.size() >= 3 || name.size() < 3) break;
    if (gate.name.find(name) != std::string_view::npos && std::find(near.begin(), near.end(), gate.name) == near.end())
      near.push_back(gate.name);
  }
  if (near.empty()) return "unknown feature gate; allowed: the gates that the documentation lists";
  std::string text = "unknown feature gate; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i)
    text.append(i == 0 ? "\"" : i + 1 == near.size() ? " or \"" : ", \"").append(near[i]).append("\"");
  return text + "?";
}

std::optional<bool> parse_switch(std::string_view text) {
  // What Kubernetes components take.
  for (const auto word : {"true", "True", "TRUE", "t", "T", "1"})
    if (text == word) return true;
  for (const auto word : {"false", "False", "FALSE", "f", "F", "0"})
    if (text == word) return false;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::span<const FeatureGate> feature_gates() { return gates; }

const FeatureGate* find_feature_gate(std::string_view name) {
  const auto* it =
      std::lower_bound(std::begin(gates), std::end(gates), name, [](const FeatureGate& g, std::string_view n) { return g.name < n; });
  return it != std::end(gates) && it->name == name ? it : nullptr;
}

Result<GateValues> parse_feature_gates(std::string_view text) {
  GateValues values;
  while (!trimmed(text).empty()) {
    const auto comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (part.empty()) continue;
    const auto equals = part.find('=');
    const std::string name(trimmed(part.substr(0, equals)));
    const auto value = equals == std::string_view::npos ? std::nullopt : parse_switch(trimmed(part.substr(equals + 1)));
    if (!value || name.empty())
      return fail(ErrorKind::invalid,
                  "--feature-gates: found \"" + std::string(part) + "\"; allowed: NAME=true or NAME=false, with commas between");
    if (find_feature_gate(name) == nullptr) return fail(ErrorKind::invalid, "--feature-gates: " + name + ": " + unknown_gate(name));
    const auto [it, added] = values.emplace(name, *value);
    if (!added && it->second != *value)
      return fail(ErrorKind::invalid, "--feature-gates: " + name + ": found both true and false; allowed: one value");
  }
  return values;
}

void judge_gates(const GateValues& given, std::vector<Problem>& problems) {
  const auto is_on = [&](std::string_view name) {
    const auto it = given.find(name);
    if (it != given.end()) return it->second;
    const auto* gate = find_feature_gate(name);
    return gate != nullptr && gate->enabled;
  };
  for (const auto& [name, value] : given) {
    const std::string field = "featureGates." + name;
    const auto* gate = find_feature_gate(name);
    if (gate == nullptr) {
      problems.push_back({ProblemKind::invalid, field, value ? "true" : "false", unknown_gate(name)});
      continue;
    }
    if (gate->stage == GateStage::stable && value != gate->enabled)
      problems.push_back({ProblemKind::invalid, field, value ? "true" : "false",
                          std::string("cannot be changed any more; allowed: ") + (gate->enabled ? "true" : "false")});
    for (const auto needed : {gate->needs, gate->needs_also})
      if (value && !needed.empty() && !is_on(needed))
        problems.push_back({ProblemKind::invalid, field, "true", "needs the feature gate " + std::string(needed) + ", which is off"});
  }
}

GateValues resolve_gates(const GateValues& given) {
  GateValues values;
  for (const auto& gate : gates) values.emplace(gate.name, gate.enabled);
  for (const auto& [name, value] : given)
    if (const auto it = values.find(name); it != values.end()) it->second = value;
  return values;
}

}  // namespace hindsight::operations
