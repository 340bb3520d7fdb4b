#pragma once

#include "connectors/jobs/job_integration.hpp"
#include "connectors/json/node.hpp"
#include "vocabulary/observations.hpp"

/// One reader for each kind but jobs; errors go to the reading of the object.
namespace hindsight::connectors::readers {

[[nodiscard]] ResourceFlavorObserved resource_flavor(const Node& object);
[[nodiscard]] ClusterQueueObserved cluster_queue(const Node& object);
[[nodiscard]] CohortObserved cohort(const Node& object);
[[nodiscard]] LocalQueueObserved local_queue(const Node& object);
[[nodiscard]] WorkloadPriorityClassObserved workload_priority_class(const Node& object);
[[nodiscard]] PriorityClassObserved priority_class(const Node& object);
[[nodiscard]] NamespaceObserved namespace_(const Node& object);
[[nodiscard]] AdmissionCheckObserved admission_check(const Node& object);
[[nodiscard]] TopologyObserved topology(const Node& object);
[[nodiscard]] NodeObserved node(const Node& object);
[[nodiscard]] PodObserved pod(const Node& object);
/// What the pod of this spec asks for, one of "pods" included; sorted by name.
[[nodiscard]] List<ResourceAmount> pod_requests(const Node& spec);
/// Is the pod, of which this is the metadata, one that gets a place in a topology (2724 §2.6)?
[[nodiscard]] bool asks_for_topology(const Node& meta);
[[nodiscard]] WorkloadObserved workload(const Node& object, const JobContext& context);

/// Has the object's status the condition `type` with status True?
[[nodiscard]] bool has_condition(const Node& object, std::string_view type);

}  // namespace hindsight::connectors::readers
