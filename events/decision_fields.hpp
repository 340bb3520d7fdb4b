#pragma once

// The registry of what decisions are made of, in the order of schemas/decisions.fbs. New fields go to the end.

#include "events/observation_fields.hpp"
#include "vocabulary/decisions.hpp"

HINDSIGHT_ENUM(RequeueReason, generic, "Generic", failed_after_nomination, "FailedAfterNomination", namespace_mismatch, "NamespaceMismatch",
               preemption_gated, "PreemptionGated", pending_preemption, "PendingPreemption", pending_migration, "PendingMigration",
               preemption_failed, "PreemptionFailed", no_fit, "NoFit", preemption_no_candidates, "PreemptionNoCandidates")
HINDSIGHT_ENUM(Recomputation, none, "", new_targets, "new_targets", deferred_fit, "deferred_fit", skipped, "skipped")
HINDSIGHT_ENUM(StepKind, unspecified, "Unspecified", life_cycle, "LifeCycle", timers, "Timers", cycle, "Cycle")

HINDSIGHT_RECORD(WorkloadRef, uid, namespace_, name)
HINDSIGHT_RECORD(JobRef, uid, kind, group, namespace_, name)

// ---- the job and its Workload -------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(WorkloadRequested, job, name, queue_name, priority, priority_class_kind, priority_class, max_exec_seconds, job_generation,
                 replaces, slice_name, counts)
HINDSIGHT_RECORD(WorkloadRevised, workload, job, pod_sets, queue_name, priority, priority_class_kind, priority_class, max_exec_seconds,
                 job_generation, counts)
HINDSIGHT_RECORD(WorkloadRemoved, workload, message, job, parent)
HINDSIGHT_RECORD(JobStopped, job, message)

// ---- admission ----------------------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(QuotaReserved, workload, cluster_queue, assignments, admitted, checks, checks_changed, borrowing_level, replaces, plan)
HINDSIGHT_RECORD(ScanProgress, pod_set, resource, flavor_index)
HINDSIGHT_RECORD(EntryRequeued, workload, cluster_queue, requeue_reason, to_heap, write_status, reason, message, progress, bulk_parked,
                 scan_generation, preemption_skipped, recomputed, claimant)
HINDSIGHT_RECORD(WorkloadPreempted, workload, preemptor, preemptor_cluster_queue, reason, message)
HINDSIGHT_RECORD(WorkloadEvicted, workload, reason, cause, message, has_requeue_state, requeue_count, requeue_at)
HINDSIGHT_RECORD(ReservationCleared, workload, reason, message, writes_requeued, requeued, requeued_reason, requeued_message,
                 resources_restored)
HINDSIGHT_RECORD(WorkloadAdmitted, workload)
HINDSIGHT_RECORD(WorkloadFinished, workload, reason, message)
HINDSIGHT_RECORD(SliceReplaced, workload, replacement, job, slice_name, message, delta, counts)
HINDSIGHT_RECORD(ConditionChanged, workload, type, status, reason, message, remove)
HINDSIGHT_RECORD(WorkloadDeactivated, workload)
HINDSIGHT_RECORD(ChecksChanged, workload, checks)
HINDSIGHT_RECORD(RequeueStateChanged, workload, present, count, at)
HINDSIGHT_RECORD(ReclaimableChanged, workload, reclaimable)
HINDSIGHT_RECORD(ExecutionTimeReset, workload)

HINDSIGHT_RECORD(SizingBarred, workload, job, barred, unsupported, message)
HINDSIGHT_RECORD(PodRef, uid, namespace_, name, pod_set)
HINDSIGHT_RECORD(PodsReleased, workload, job, slice_name, pods)
HINDSIGHT_RECORD(PlacedPod, uid, name, values)
HINDSIGHT_RECORD(PodsPlaced, workload, job, pod_set, levels, pods)
HINDSIGHT_RECORD(NodesUnhealthy, workload, nodes)
HINDSIGHT_RECORD(TopologyReassigned, workload, nodes, assignments, given_up)
HINDSIGHT_RECORD(TopologyAssigned, workload, assignments)
HINDSIGHT_RECORD(SecondPassFailed, workload, message, attempt)
HINDSIGHT_RECORD(PodsFailed, workload, job, pods)

// ---- gates --------------------------------------------------------------------------------------------------------------

HINDSIGHT_ENUM(GateContract, scheduling, "Scheduling", admission, "Admission")
HINDSIGHT_ENUM(GateChange, observed, "Observed", shrunk, "Shrunk", cleared, "Cleared", ignored, "Ignored")
HINDSIGHT_RECORD(GateChanged, workload, job, contract, change, value, job_generation, since)

// ---- families of concurrent admission ------------------------------------------------------------------------------------

HINDSIGHT_ENUM(OptionCause, none, "", policy, "Policy", create_delay, "CreateDelay", delete_delay, "DeleteDelay", parent_inactive,
               "ParentInactive", rejected, "Rejected")
HINDSIGHT_RECORD(FamilyFormed, workload)
HINDSIGHT_RECORD(FamilyDissolved, workload, message)
HINDSIGHT_RECORD(FamilyReset, workload, message)
HINDSIGHT_RECORD(OptionRequested, workload, name, option, flavors, active, message)
HINDSIGHT_RECORD(OptionSwitched, workload, parent, active, cause, message)
HINDSIGHT_RECORD(OptionAdopted, workload, parent, from)
HINDSIGHT_RECORD(OptionAdmitted, workload, option)
HINDSIGHT_RECORD(MigrationStarted, workload, parent, from, cluster_queue, assignments)
HINDSIGHT_RECORD(PreemptionGateChanged, workload, parent, open, unused)

// ---- queues -------------------------------------------------------------------------------------------------------------

HINDSIGHT_RECORD(TreeReactivated, root)
