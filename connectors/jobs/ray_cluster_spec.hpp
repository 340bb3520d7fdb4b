#pragma once

#include "connectors/jobs/job_integration.hpp"
#include "connectors/json/json_value.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/result.hpp"

// What RayCluster and RayJob have in common: the RayClusterSpec, in which a head and groups of workers are described (base-api §7.2, 77
// §3.14).
namespace hindsight::connectors::ray {

/// One list entry for each pod set, as in spec.podSets of a Workload: the head, then the worker groups by their lower-cased names. The head
/// of a cluster that scales itself counts with its autoscaler (EJ-130).
[[nodiscard]] Json pod_sets(const Json& cluster_spec);

/// Reads pod sets as pod_sets() makes them. Errors are told to `job`.
void observe_pod_sets(const Json& pod_sets, const Node& job, const JobContext& context, JobObserved& out);

/// Does each pod template of the cluster spec carry the scheduling gate elastic-job (EJ-65)?
[[nodiscard]] bool are_gated(const Json& cluster_spec);

/// Counts of the worker groups of another cluster spec, by lower-cased name: what the autoscaler has made of them.
[[nodiscard]] List<PodSetCount> worker_counts(const Json& cluster_spec, Arena& arena);

/// The cluster spec with what a start injects. Errors: invalid, as inject(), or when a pod set is not told of.
[[nodiscard]] Result<Json> started(Json cluster_spec, const std::vector<PodSetInjection>& pod_sets);

/// The cluster spec with its templates as `originals` (spec.podSets of the Workload) has them.
[[nodiscard]] Json restored(Json cluster_spec, const Json& originals);

/// Is a RayCluster's status.state "ready"?
[[nodiscard]] bool is_ready(const Node& cluster_status);

}  // namespace hindsight::connectors::ray
