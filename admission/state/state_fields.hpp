#pragma once

#include "admission/domain/entities.hpp"
#include "admission/model/state_field.hpp"

// Every member of the state of a domain, and what it is (state_field.hpp). Snapshots, the hash over everything and differences follow from
// these lists.

// ---- configuration ----------------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(OwnedRequirement, key, op, values)
HINDSIGHT_STATE(OwnedTerm, requirements)
HINDSIGHT_STATE(OwnedTaint, key, value, effect)
HINDSIGHT_STATE(OwnedToleration, key, value, exists, effect, seconds)
HINDSIGHT_STATE(FlavorConfig, name, node_labels, taints, tolerations, topology)
HINDSIGHT_STATE(Quota, nominal, borrowing_limit, lending_limit)
HINDSIGHT_STATE(FlavorQuotas, flavor, quotas)
HINDSIGHT_STATE(ResourceGroup, resources, flavors)
HINDSIGHT_STATE(CheckRule, name, on_flavors)
HINDSIGHT_STATE(QueueConfig, name, cohort, groups, strategy, has_namespace_selector, namespace_selector, selector_since, when_can_borrow,
                when_can_preempt, preference, within_cluster_queue, reclaim_within_cohort, borrow_within_cohort, max_priority_threshold,
                checks, stop_policy, stop_policy_set, fair_weight_nano, admission_mode, deleting)
HINDSIGHT_STATE(CohortConfig, name, parent, groups, fair_weight_nano)
HINDSIGHT_STATE(LocalQueueConfig, namespace_, name, cluster_queue, stop_policy, stop_policy_set, fair_weight_nano, labels)
HINDSIGHT_STATE(NamespaceConfig, name, labels, labels_since)
HINDSIGHT_STATE(CheckConfig, name, controller, active)
HINDSIGHT_STATE(PriorityClassConfig, value, global_default)
HINDSIGHT_STATE_OF_KINDS(Catalog, derived, settings, state, settings_json, state, flavors, state, queues, state, cohorts, state, namespaces,
                         state, checks, state, topologies, state, workload_priority_classes, state, pod_priority_classes, state,
                         local_queues, derived, activity, derived, roots, derived, queue_index_, derived, queues_in_, derived, cohorts_in_,
                         derived, members_, derived, local_queues_of_)

// ---- Workloads and jobs -----------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(ResourceRequest, resource, amount)
HINDSIGHT_STATE(SizedResource, resource, request, limit, low, high, step)
HINDSIGHT_STATE(SizedPart, container, role, amounts)
HINDSIGHT_STATE(PlannedSize, pod_set, container, resource, original, amount)
HINDSIGHT_STATE(PodShape, node_selector, has_affinity, affinity_terms, tolerations)
HINDSIGHT_STATE(PodSetSpec, name, count, min_count, requests, shape, shape_hash, template_hash, core_hash, group, limits_error,
                limit_range_error, sized, bare_hash)
HINDSIGHT_STATE(PodSetReservation, pod_set, count, flavors, usage)
HINDSIGHT_STATE(Admission, cluster_queue, pod_sets)
HINDSIGHT_STATE(Condition, type, status, reason, message, last_transition)
HINDSIGHT_STATE(CheckStatus, name, state, last_transition, message, requeue_after_seconds, retry_count, pod_set_updates)
HINDSIGHT_STATE(EvictionStat, reason, cause, count)
HINDSIGHT_STATE_OF_KINDS(WorkloadState, kept, id, state, namespace_, state, name, state, uid, state, owner_uid, state, created, state,
                         resource_version, state, generation, state, deleting, state, in_use_finalizer, state, job_made, state, queue_name,
                         state, pod_sets, state, priority, state, priority_class_kind, state, priority_class, state, active, state,
                         max_exec_seconds, state, admission_gated_by, state, priority_boost, state, elastic, state, replacement_for, state,
                         slice_name, state, resource_policy, state, resource_bounds, state, conditions, state, admission, state, checks,
                         state, has_requeue_state, state, requeue_count, state, requeue_at, state, reclaimable, state,
                         accumulated_exec_seconds, state, evictions, state, plan, state, unconfirmed, state, last_decision, state,
                         resolve_since, state, revision_pending, state, revised_for, state, removal_pending, state, gate_noted, state,
                         gated_since, state, plan_refusals, state, plan_refusal, state, sizing_barred, state, sizing_barred_at, state,
                         quarantined)
HINDSIGHT_STATE(JobState, uid, name, kind, group, namespace_, resource_version, generation, deleting, queue_name, priority_class,
                pod_priority_class, prebuilt_workload, max_exec_seconds, suspended, active, pods_ready, stopping, finished, succeeded,
                on_hold, managed, finish_message, admission_gated_by, workload_name, pod_sets, reclaimable, remaining, ready_pods, elastic,
                pods_gated, start_error, removal_pending, requested_since, requested_name, requested_for, scheduling_gated_by, gate_noted,
                gated_since, gate_ignored, by_itself, stop_noted, start_due, start_left, resource_policy, resource_bounds, plan,
                quarantined)
HINDSIGHT_STATE(PodState, uid, name, pod_set, index, resource_version, gated, ended, released, released_at)
HINDSIGHT_STATE(RepeatedSteps, last_, steps_)
HINDSIGHT_STATE(WorkloadParent::Image, job, workloads, pods, repeats)
HINDSIGHT_STATE_OF_KINDS(WorkloadParent, kept, self_, state, job_, state, workloads_, derived, placements_, state, pods_, cache, told_next_,
                         cache, told_of_slice_, derived, announced_due_, state, repeats_, derived, child_, derived, ancestor_runs_, derived,
                         beyond_, derived, watched_, derived, weighed_, derived, told_runs_)

// ---- queues -----------------------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(ScanState::Entry, pod_set, resource, flavor_index)
HINDSIGHT_STATE(ScanState, entries, cycle, generation, equivalence_hash)
HINDSIGHT_STATE(QueueCounters::Cell, flavor, resource, reserved, used)
HINDSIGHT_STATE(QueueCounters, pending, reserving, admitted, cells)
HINDSIGHT_STATE(ClusterQueue::Image::Entry, uid, parked, by_record, scan)
HINDSIGHT_STATE(ClusterQueue::Image::Record, hash, reason)
HINDSIGHT_STATE(ClusterQueue::Image::Ledger, namespace_, name, sampled_at, consumed)
HINDSIGHT_STATE(ClusterQueue::Image::Penalty, uid, amounts)
HINDSIGHT_STATE(ClusterQueue::Image, entries, sticky_uid, sticky_generation, generation, records, published, ledgers, penalties)
// What is state here is in the Image; the rest is said again by the Workloads.
HINDSIGHT_STATE_OF_KINDS(ClusterQueue, kept, name_, derived, tree_, derived, tree_version_, state, pending_, derived, heap_, derived,
                         shared_lane_, derived, alone_, derived, told_, state, records_, state, sticky_, state, sticky_generation_, state,
                         holding_, state, generation_, derived, told_nonempty_, derived, told_waiting_, derived, live_, state, published_,
                         cache, refreshed_at_, state, local_, derived, forgotten_locals_, derived, fair_, derived, sampling_due_)

// ---- the domain -------------------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(UsageVector::Part, resource, amount)
HINDSIGHT_STATE(UsageVector, parts_)
HINDSIGHT_STATE(Consumed, usage, at)
HINDSIGHT_STATE_OF_KINDS(Lineage, state, owner_uid, state, owner_kind, state, created, state, child, state, ancestor, state, beyond,
                         derived, counted_in)
HINDSIGHT_STATE_OF_KINDS(PodPlace, kept, owner, kept, keeper, state, namespace_)
HINDSIGHT_STATE_OF_KINDS(WorkloadPlace, state, member, state, holder, derived, version)
HINDSIGHT_STATE(RepeatedPreemptions::Count, victim, in_a_row, in_all, last, left_alone)
HINDSIGHT_STATE_OF_KINDS(RepeatedPreemptions, state, counts_, state, news_, derived, left_alone_)
HINDSIGHT_STATE(SeenVersions::Key, kind, namespace_, name)
HINDSIGHT_STATE(SeenVersions::Seen, uid, version, gone)
HINDSIGHT_STATE_OF_KINDS(SeenVersions, state, seen_, derived, gone_)
HINDSIGHT_STATE(Domain::HeldKey, kind, name)
HINDSIGHT_STATE(Domain::Held, deleting, finalizer)
HINDSIGHT_STATE(Domain::Quarantined, kind, api_kind, namespace_, name, resource_version, stage, reason, since)
HINDSIGHT_STATE_OF_KINDS(Domain, cache, read_settings_, state, catalog_, cache, shared_catalog_, state, sequence_, state, epoch_, state,
                         decided_base_, state, cycles_, state, stale_decisions_, state, resolved_base_, state, life_cycle_steps_, state,
                         rules_, state, now_, state, synced_, kept, registry_, state, workload_places_, derived, members_, derived,
                         holders_, state, job_kinds_, derived, job_places_, state, lineages_, derived, children_, derived, owned_, derived,
                         descendants_, state, pods_, derived, pods_of_owners_, derived, running_ancestors_, state, held_, cache,
                         held_changes_, state, listed_, derived, not_ready_, derived, due_, derived, due_of_, state, reactivations_, state,
                         consumed_, derived, sampling_, derived, sampling_of_, kept, tree_version_, state, seen_cycles_, state, seen_,
                         state, repeated_, state, quarantined_, derived, quarantined_queues_, cache, quarantine_changes_, cache,
                         quarantined_queue_changes_, cache, to_pass_over_, state, passed_over_, cache, asked_kinds_, cache, took_decision_,
                         cache, edited_, cache, catalog_changed_, state, configured_, cache, restored_configured_, cache, dirty_, cache,
                         restored_dirty_, cache, is_dirty_, cache, dirty_trees_, cache, is_dirty_tree_, cache, waiting_for_, cache,
                         parents_asked_, cache, step_bytes_, cache, life_cycle_steps_max_, cache, circling_, cache, answers_, cache,
                         answers_bytes_, cache, admitting_, cache, contenders_, cache, step_)
