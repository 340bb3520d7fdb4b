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
constexpr FeatureGate gates[] = {
    {"AdjustResourcesOnAdmission", alpha, false, "", ""},
    {"AdmissionFairSharing", beta, true, "", ""},
    {"AdmissionGatedBy", beta, true, "", ""},
    {"AssignQueueLabelsForPods", beta, true, "", ""},
    {"CleanupProvisioningRequestsOnEviction", beta, true, "", ""},
    {"ConcurrentAdmission", alpha, false, "", ""},
    {"ConcurrentAdmissionStrictFIFO", alpha, false, concurrent, ""},
    {"CustomMetricLabels", alpha, false, "", ""},
    {"DeferRayServiceFinalizationForRedisCleanup", beta, true, "", ""},
    {"DisableWaitForPodsReady", alpha, false, "", ""},
    {"ElasticJobsViaWorkloadSlices", beta, true, "", ""},
    {"ElasticJobsViaWorkloadSlicesForProvisioningRequests", alpha, false, elastic, ""},
    {"ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp", alpha, false, elastic, ""},
    {"ElasticJobsViaWorkloadSlicesWithTAS", alpha, false, elastic, tas},
    {"FailureRecoveryPolicy", alpha, false, "", ""},
    {"FairSharingPreemptWithinNominal", beta, true, "", ""},
    {"FairSharingPrioritizeNonBorrowing", beta, true, "", ""},
    {"FastQuotaReleaseInPodIntegration", alpha, false, "", ""},
    {"FinishOrphanedWorkloads", beta, true, "", ""},
    {"FlavorFungibility", beta, true, "", ""},
    {"FlavorFungibilityPreserveScanProgress", beta, true, "", ""},
    {"KueueDRAIntegration", beta, true, "", ""},
    {"KueueDRAIntegrationConsumableCapacity", alpha, false, "", ""},
    {"KueueDRAIntegrationExtendedResource", beta, true, "", ""},
    {"KueueDRAIntegrationPartitionableDevices", beta, true, "", ""},
    {"KueueDRARejectWorkloadsWhenDRADisabled", beta, true, "", ""},
    {"LWSImmutableGroupSize", beta, true, "", ""},
    {"LocalQueueMetrics", beta, true, "", ""},
    {"ManagedJobsNamespaceSelectorAlwaysRespected", stable, true, "", ""},
    {"MetricForWorkloadCreationLatency", beta, true, "", ""},
    {"MetricsForCohorts", beta, true, "", ""},
    {"MultiKueue", beta, true, "", ""},
    {"MultiKueueAdaptersForCustomJobs", beta, true, "", ""},
    {"MultiKueueClusterProfile", alpha, false, "", ""},
    {"MultiKueueIncrementalDispatcherConfig", beta, true, "", ""},
    {"MultiKueueIncrementalDispatcherRespectConfigOrder", beta, true, "", ""},
    {"MultiKueueKubeConfigPathValidation", beta, true, "", ""},
    {"MultiKueueManagerQuotaAutomation", alpha, false, "", ""},
    {"MultiKueueOrchestratedPreemption", alpha, false, "", ""},
    {"MultiKueueRemoteSpecSync", beta, true, "", ""},
    {"PartialAdmission", beta, true, "", ""},
    {"PodIntegrationValidateGroupOwner", beta, true, "", ""},
    {"PrioritizePreemptorWorkloads", alpha, false, "", ""},
    {"PriorityBoost", alpha, false, "", ""},
    {"PrioritySortingWithinCohort", beta, true, "", ""},
    {"QuotaCheckStrategy", beta, true, "", ""},
    {"ReclaimablePods", beta, true, "", ""},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap", beta, true, "", ""},
    {"RejectUpdatesToCQWithInvalidOnFlavors", alpha, false, "", ""},
    {"RemoveFinalizersWithStrictPatch", beta, true, "", ""},
    {"SchedulerLibraryIntegration", alpha, false, "", ""},
    {"SchedulingEquivalenceHashing", beta, true, "", ""},
    {"SchedulingGatedBy", alpha, false, "", ""},
    {"ShortWorkloadNames", alpha, false, "", ""},
    {"SkipAncestorCheckForDeletedWorkloads", beta, true, "", ""},
    {"SkipReassignmentForPodOwnedWorkloads", beta, true, "", ""},
    {"SparkApplicationIntegration", alpha, false, "", ""},
    {"TASAssignmentsEncodingByHostnamePrefix", beta, true, tas, ""},
    {"TASBalancedPlacement", alpha, false, tas, ""},
    {"TASCacheNodeMatchResults", beta, true, tas, ""},
    {"TASCacheTopologyTree", beta, true, tas, ""},
    {"TASCachingRemainingResources", beta, true, tas, ""},
    {"TASFailedNodeReplacement", beta, true, tas, ""},
    {"TASFailedNodeReplacementFailFast", beta, true, tas, failed_node_replacement},
    {"TASHandleOverlappingFlavors", beta, true, tas, ""},
    {"TASMultiLayerTopology", beta, true, tas, ""},
    {"TASProfileMixed", beta, true, tas, ""},
    {"TASRecomputeAssignmentWithinSchedulingCycle", beta, true, tas, ""},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", deprecated, false, tas, failed_node_replacement},
    {"TASReplaceNodeOnNodeTaints", beta, true, tas, failed_node_replacement},
    {"TASReplaceNodeOnPodTermination", beta, true, tas, failed_node_replacement},
    {"TASRespectNodeAffinityPreferred", alpha, false, tas, ""},
    {"TASValidateWorkloadSliceSize", beta, true, tas, ""},
    {"TLSOptions", stable, true, "", ""},
    {"TopologyAwareScheduling", beta, true, "", ""},
    {"UnadmittedWorkloadsExplicitStatus", beta, false, "", ""},
    {"UnadmittedWorkloadsObservability", beta, true, "", ""},
    {"ValidateRayAndSparkJobUpdates", beta, true, "", ""},
    {"VectorizedResourceRequests", beta, true, "", ""},
    {"VisibilityOnDemand", beta, true, "", ""},
    {"WorkloadIdentifierAnnotations", beta, true, "", ""},
    {"WorkloadPriorityClassDefaulting", beta, true, "", ""},
    {"WorkloadRequestUseMergePatch", alpha, false, "", ""},
    {"WorkloadValidateResourcesAreNonNegative", beta, true, "", ""},
    {"WorkloadValidationForPodSetMetadata", beta, true, "", ""},
};
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
