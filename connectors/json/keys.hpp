#pragma once

#include <string_view>

/// Labels and annotations of jobs, templates and Workloads (base-api §5).
namespace hindsight::connectors::keys {

inline constexpr std::string_view queue_name = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view priority_class = "kueue.x-k8s.io/priority-class";
inline constexpr std::string_view prebuilt_workload_name = "kueue.x-k8s.io/prebuilt-workload-name";
inline constexpr std::string_view max_exec_time_seconds = "kueue.x-k8s.io/max-exec-time-seconds";
inline constexpr std::string_view job_uid = "kueue.x-k8s.io/job-uid";
inline constexpr std::string_view pod_set = "kueue.x-k8s.io/podset";
inline constexpr std::string_view cluster_queue_name = "kueue.x-k8s.io/cluster-queue-name";
inline constexpr std::string_view local_queue_name = "kueue.x-k8s.io/local-queue-name";
inline constexpr std::string_view workload = "kueue.x-k8s.io/workload";
inline constexpr std::string_view job_min_parallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view job_completions_equal_parallelism = "kueue.x-k8s.io/job-completions-equal-parallelism";
inline constexpr std::string_view stopping = "kueue.x-k8s.io/stopping";
inline constexpr std::string_view admission_gated_by = "kueue.x-k8s.io/admission-gated-by";
inline constexpr std::string_view scheduling_gated_by = "kueue.x-k8s.io/scheduling-gated-by";
inline constexpr std::string_view raycluster_generation = "kueue.x-k8s.io/raycluster-generation";
inline constexpr std::string_view elastic_job = "kueue.x-k8s.io/elastic-job";
inline constexpr std::string_view slice_replacement_for = "kueue.x-k8s.io/workload-slice-replacement-for";
inline constexpr std::string_view slice_name = "kueue.x-k8s.io/workload-slice-name";
inline constexpr std::string_view priority_boost = "kueue.x-k8s.io/priority-boost";
inline constexpr std::string_view provisioning_parameter_prefix = "provreq.kueue.x-k8s.io/";

// Concurrent admission (8691 §2.6). A Parent has the label and the annotation.
inline constexpr std::string_view parent_label = "kueue.x-k8s.io/concurrent-admission-parent";
inline constexpr std::string_view parent_annotation = "kueue.x-k8s.io/parent-option";
inline constexpr std::string_view allowed_flavors = "kueue.x-k8s.io/workload-allowed-resource-flavors";
inline constexpr std::string_view concurrent_admission_gate = "kueue.x-k8s.io/concurrent-admission";  ///< Of an Option's preemption gate.
inline constexpr std::string_view multikueue_origin = "kueue.x-k8s.io/multikueue-origin";

// Our own: how far resources may be changed at admission (5440 §2.4).
inline constexpr std::string_view resource_policy = "hindsight.dev/resource-policy";
inline constexpr std::string_view resource_bounds = "hindsight.dev/resource-bounds";
inline constexpr std::string_view resource_plan = "hindsight.dev/resource-plan";
/// Our own: who made a job that claims to be part of another one, where that was not the other's controller. The webhook writes it.
inline constexpr std::string_view made_by = "hindsight.dev/made-by";

inline constexpr std::string_view required_topology = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view preferred_topology = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view unconstrained_topology = "kueue.x-k8s.io/podset-unconstrained-topology";
inline constexpr std::string_view slice_required_topology = "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view slice_size = "kueue.x-k8s.io/podset-slice-size";
inline constexpr std::string_view slice_constraints = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
inline constexpr std::string_view pod_set_group_name = "kueue.x-k8s.io/podset-group-name";

inline constexpr std::string_view topology_gate = "kueue.x-k8s.io/topology";  ///< Of the scheduling gate.
inline constexpr std::string_view elastic_gate = elastic_job;                 ///< Of the scheduling gate.
inline constexpr std::string_view pod_index_offset = "kueue.x-k8s.io/pod-index-offset";
inline constexpr std::string_view job_set_job_index = "jobset.sigs.k8s.io/job-index";
inline constexpr std::string_view completion_index = "batch.kubernetes.io/job-completion-index";

}  // namespace hindsight::connectors::keys
