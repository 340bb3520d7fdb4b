#pragma once

// The registry of what observations are made of, in the order of schemas/observations.fbs. New fields go to the end.

#include "events/fields.hpp"
#include "vocabulary/observations.hpp"

// ---- enums: the second name is the API's --------------------------------------------------------------------------------

HINDSIGHT_ENUM(ObjectKind, unspecified, "Unspecified", resource_flavor, "ResourceFlavor", cluster_queue, "ClusterQueue", cohort, "Cohort",
               local_queue, "LocalQueue", workload_priority_class, "WorkloadPriorityClass", priority_class, "PriorityClass", namespace_,
               "Namespace", admission_check, "AdmissionCheck", topology, "Topology", node, "Node", job, "Job", workload, "Workload", pod,
               "Pod")
HINDSIGHT_ENUM(TaintEffect, unspecified, "", no_schedule, "NoSchedule", prefer_no_schedule, "PreferNoSchedule", no_execute, "NoExecute")
HINDSIGHT_ENUM(SelectorOperator, unspecified, "Unspecified", in, "In", not_in, "NotIn", exists, "Exists", does_not_exist, "DoesNotExist",
               gt, "Gt", lt, "Lt")
HINDSIGHT_ENUM(QueueingStrategy, best_effort_fifo, "BestEffortFIFO", strict_fifo, "StrictFIFO")
HINDSIGHT_ENUM(StopPolicy, none, "None", hold, "Hold", hold_and_drain, "HoldAndDrain")
HINDSIGHT_ENUM(FungibilityPolicy, may_stop_search, "MayStopSearch", try_next_flavor, "TryNextFlavor")
HINDSIGHT_ENUM(FungibilityPreference, unset, "", borrowing_over_preemption, "BorrowingOverPreemption", preemption_over_borrowing,
               "PreemptionOverBorrowing")
HINDSIGHT_ENUM(PreemptionPolicy, never, "Never", lower_priority, "LowerPriority", lower_or_newer_equal_priority,
               "LowerOrNewerEqualPriority", any, "Any")
HINDSIGHT_ENUM(AdmissionMode, unset, "", usage_based, "UsageBasedAdmissionFairSharing", none, "NoAdmissionFairSharing")
HINDSIGHT_ENUM(ConditionType, unspecified, "Unspecified", quota_reserved, "QuotaReserved", admitted, "Admitted", finished, "Finished",
               pods_ready, "PodsReady", evicted, "Evicted", preempted, "Preempted", requeued, "Requeued", deactivation_target,
               "DeactivationTarget", waiting_for_replacement_pods, "WaitingForReplacementPods", blocked_on_preemption_gates,
               "BlockedOnPreemptionGates")
HINDSIGHT_ENUM(ConditionStatus, unknown, "Unknown", true_, "True", false_, "False")
HINDSIGHT_ENUM(CheckState, pending, "Pending", ready, "Ready", retry, "Retry", rejected, "Rejected")
HINDSIGHT_ENUM(PriorityClassKind, none, "", workload_priority_class, "WorkloadPriorityClass", pod_priority_class, "PriorityClass")

// ---- parts --------------------------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(Pair, key, value)
HINDSIGHT_RECORD(ObjectMeta, namespace_, name, uid, resource_version, generation, created, deleting, in_use_finalizer)
HINDSIGHT_RECORD(Taint, key, value, effect)
HINDSIGHT_RECORD(Toleration, key, value, exists, effect, seconds)
HINDSIGHT_RECORD(Requirement, key, op, values)
HINDSIGHT_RECORD(SelectorTerm, requirements, fields)
HINDSIGHT_RECORD(PreferredTerm, weight, term)
HINDSIGHT_RECORD(ResourceAmount, resource, amount)
HINDSIGHT_ENUM(ResourcePolicy, none, "", shrink, "Shrink", fit, "Fit")
HINDSIGHT_ENUM(ContainerRole, main, "", init, "init", sidecar, "sidecar")
HINDSIGHT_RECORD(SizedAmount, resource, request, limit, low, high, step)
HINDSIGHT_RECORD(SizedContainer, name, role, amounts)
HINDSIGHT_RECORD(PlannedAmount, pod_set, container, resource, original, amount)
HINDSIGHT_RECORD(TopologyLayerFacts, level, size)
HINDSIGHT_RECORD(PodSetFacts, name, count, min_count, requests, node_selector, has_affinity, affinity_terms, tolerations, shape_hash,
                 template_hash, core_hash, pod_set_group, limits_error, required_topology, preferred_topology, unconstrained_topology,
                 limit_range_error, sized, bare_hash, topology_requested, topology_layers, topology_ranked, topology_groups,
                 preferred_terms)

// ---- configuration kinds ------------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(ResourceFlavorObserved, meta, node_labels, node_taints, tolerations, topology_name)
HINDSIGHT_RECORD(QuotaFacts, resource, nominal, borrowing_limit, lending_limit)
HINDSIGHT_RECORD(FlavorQuotasFacts, flavor, resources)
HINDSIGHT_RECORD(ResourceGroupFacts, covered_resources, flavors)
HINDSIGHT_RECORD(AdmissionCheckRule, name, on_flavors)
HINDSIGHT_ENUM(OnSuccess, unset, "", remove_other, "RemoveOther", remove_lower, "RemoveLower", remove_below_target, "RemoveBelowTarget")
HINDSIGHT_RECORD(ExplicitOptionFacts, name, create_delay_seconds, delete_delay_seconds, allowed_flavors)
HINDSIGHT_ENUM(UpgradeFungibility, always, "", no_preemption, "NoPreemption", no_borrowing, "NoBorrowing")
HINDSIGHT_RECORD(ConcurrentAdmissionFacts, enabled, kueue_form, on_success, target_flavor, options, upgrades)
HINDSIGHT_RECORD(ClusterQueueObserved, meta, cohort, resource_groups, queueing_strategy, has_namespace_selector, namespace_selector,
                 when_can_borrow, when_can_preempt, preference, within_cluster_queue, reclaim_within_cohort, borrow_within_cohort,
                 max_priority_threshold, admission_checks, stop_policy, stop_policy_set, fair_weight_nano, admission_mode, concurrent)
HINDSIGHT_RECORD(CohortObserved, meta, parent, resource_groups, fair_weight_nano)
HINDSIGHT_RECORD(LocalQueueObserved, meta, cluster_queue, stop_policy, stop_policy_set, fair_weight_nano, consumed, consumed_at, labels)
HINDSIGHT_RECORD(WorkloadPriorityClassObserved, meta, value)
HINDSIGHT_RECORD(PriorityClassObserved, meta, value, global_default)
HINDSIGHT_RECORD(NamespaceObserved, meta, labels)
HINDSIGHT_RECORD(AdmissionCheckObserved, meta, controller_name, active)
HINDSIGHT_RECORD(TopologyObserved, meta, levels)
HINDSIGHT_RECORD(NodeObserved, meta, labels, taints, allocatable, ready, unschedulable, silent)

// ---- jobs and workloads -------------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(PodSetCount, pod_set, count)
HINDSIGHT_RECORD(JobObserved, meta, kind, group, queue_name, priority_class, pod_priority_class, prebuilt_workload, max_exec_seconds,
                 suspended, active, pods_ready, stopping, finished, succeeded, finish_message, on_hold, managed, admission_gated_by,
                 pod_sets, reclaimable, workload_name, elastic, owner_uid, owner_kind, owner_name, remaining, ready_pods,
                 scheduling_gated_by, resource_policy, resource_bounds, start_settled, pods_gated)
HINDSIGHT_RECORD(ConditionFacts, type, status, reason, message, last_transition)
HINDSIGHT_RECORD(FlavorChoice, resource, flavor)
HINDSIGHT_RECORD(TopologyDomainFacts, values, count)
HINDSIGHT_ENUM(DelayedTopology, none, "", pending, "Pending", ready, "Ready")
HINDSIGHT_RECORD(PodSetAssignmentFacts, pod_set, count, flavors, usage, topology_levels, topology, delayed)
HINDSIGHT_RECORD(PodSetUpdateFacts, pod_set, node_selector, tolerations)
HINDSIGHT_RECORD(CheckFacts, name, state, last_transition, message, requeue_after_seconds, retry_count, pod_set_updates, updates)
HINDSIGHT_RECORD(EvictionCount, reason, underlying_cause, count)
HINDSIGHT_RECORD(PreemptionGateFacts, name, open)
HINDSIGHT_ENUM(OptionPhase, pending, "Pending", admitted, "Admitted", deactivated, "Deactivated", finished, "Finished")
HINDSIGHT_RECORD(OptionStatusFacts, name, flavors, phase, message, last_transition)
HINDSIGHT_RECORD(WorkloadObserved, meta, owner_uid, owner_kind, owner_name, queue_name, pod_sets, priority, priority_class_kind,
                 priority_class, active, max_exec_seconds, admission_gated_by, priority_boost, conditions, has_admission,
                 admission_cluster_queue, assignments, checks, requeue_count, requeue_at, has_requeue_state, reclaimable,
                 accumulated_exec_seconds, evictions, has_resource_requests, job_uid, elastic, replacement_for, slice_name, resource_policy,
                 resource_bounds, plan, unhealthy_nodes, parent_marked, constrained, allowed_flavors, preemption_gates, options)

HINDSIGHT_RECORD(PodObserved, meta, owner_uid, pod_set, slice_name, gated, ended, index, placed, topology_gated, workload_name, group,
                 index_offset, index_offset_bad, node_selector, node, terminating, requests)

HINDSIGHT_RECORD(NodeUsageObserved, node, usage)

// ---- the rest -----------------------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(ObjectDeleted, kind, namespace_, name, uid, departed_to)
HINDSIGHT_EMPTY_RECORD(TimerFired)
HINDSIGHT_RECORD(MirrorSynced, pending)
HINDSIGHT_RECORD(WriteRefused, kind, namespace_, name, uid, decision_sequence, http_status, message)
HINDSIGHT_RECORD(ConfigurationObserved, json)
HINDSIGHT_RECORD(ClockStepped, from, to, source)
HINDSIGHT_ENUM(QuarantineStage, read, "read", plan, "plan", write, "write")
HINDSIGHT_RECORD(ObjectQuarantined, kind, api_kind, namespace_, name, uid, resource_version, stage, reason, lifted, outline)
HINDSIGHT_RECORD(RecordQuarantined, sequence, position, writer, release, reason)
HINDSIGHT_RECORD(WriteLimitObserved, writes)
HINDSIGHT_RECORD(EpochStarted, writer, release, rules, observes)
