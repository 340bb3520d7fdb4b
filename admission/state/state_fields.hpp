#pragma once

#include "admission/domain/entities.hpp"
#include "admission/model/state_field.hpp"

// Every member of the state of a domain, and what it is (state_field.hpp): all of it state, or in four lists, (state), (kept), (derived),
// (cache). Snapshots, the hash over everything and differences follow from these lists.

// ---- configuration ----------------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(OwnedRequirement, key, op, values)
HINDSIGHT_STATE(OwnedTerm, requirements, fields)
HINDSIGHT_STATE(OwnedTaint, key, value, effect)
HINDSIGHT_STATE(OwnedToleration, key, value, exists, effect, seconds)
HINDSIGHT_STATE(FlavorConfig, name, node_labels, taints, tolerations, topology)
HINDSIGHT_STATE(NodeLabels, hostname, others)
HINDSIGHT_STATE_OF_KINDS(NodeConfig, (name, uid, version, labels, taints, allocatable, ready, unschedulable, silent, not_ready_since), (),
                         (used), ())
HINDSIGHT_STATE(Quota, nominal, borrowing_limit, lending_limit)
HINDSIGHT_STATE(FlavorQuotas, flavor, quotas)
HINDSIGHT_STATE(ResourceGroup, resources, flavors)
HINDSIGHT_STATE(CheckRule, name, on_flavors)
HINDSIGHT_STATE(OptionConfig, name, create_delay_seconds, delete_delay_seconds, flavors)
HINDSIGHT_STATE_OF_KINDS(ConcurrentAdmission, (enabled, kueue_form, on_success, target, options, upgrades), (), (specs), ())
HINDSIGHT_STATE(QueueConfig, name, cohort, groups, strategy, has_namespace_selector, namespace_selector, selector_since, when_can_borrow,
                when_can_preempt, preference, within_cluster_queue, reclaim_within_cohort, borrow_within_cohort, max_priority_threshold,
                checks, stop_policy, stop_policy_set, fair_weight_nano, admission_mode, deleting, concurrent)
HINDSIGHT_STATE(CohortConfig, name, parent, groups, fair_weight_nano)
HINDSIGHT_STATE(LocalQueueConfig, namespace_, name, cluster_queue, stop_policy, stop_policy_set, fair_weight_nano, labels)
HINDSIGHT_STATE(NamespaceConfig, name, labels, labels_since)
HINDSIGHT_STATE(CheckConfig, name, controller, active)
HINDSIGHT_STATE(PriorityClassConfig, value, global_default)
HINDSIGHT_STATE_OF_KINDS(
    Catalog,
    (settings_json, flavors, queues, cohorts, namespaces, checks, topologies, workload_priority_classes, pod_priority_classes,
     local_queues),
    (), (settings, activity, roots, queue_index_, queues_in_, cohorts_in_, members_, trees_of_topologies_, shared_, local_queues_of_), ())

// ---- Workloads and jobs -----------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(ResourceRequest, resource, amount)
HINDSIGHT_STATE(SizedResource, resource, request, limit, low, high, step)
HINDSIGHT_STATE(SizedPart, container, role, amounts)
HINDSIGHT_STATE(PlannedSize, pod_set, container, resource, original, amount)
HINDSIGHT_STATE(PodShape::Preferred, weight, term)
HINDSIGHT_STATE(PodShape, node_selector, has_affinity, affinity_terms, tolerations, preferred)
HINDSIGHT_STATE(TopologyRequest::Layer, level, size)
HINDSIGHT_STATE(TopologyRequest, required, preferred, unconstrained, slices)
HINDSIGHT_STATE(TopologyAssignment, levels, values, counts)
HINDSIGHT_STATE(PodSetSpec, name, count, min_count, requests, shape, shape_hash, template_hash, core_hash, group, limits_error,
                limit_range_error, sized, bare_hash, topology, ranked, groups)
HINDSIGHT_STATE(PodSetReservation, pod_set, count, flavors, usage, topology, delayed)
HINDSIGHT_STATE(Admission, cluster_queue, pod_sets)
HINDSIGHT_STATE(Condition, type, status, reason, message, last_transition)
HINDSIGHT_STATE(PodSetUpdate, pod_set, node_selector, tolerations)
HINDSIGHT_STATE(CheckStatus, name, state, last_transition, message, requeue_after_seconds, retry_count, pod_set_updates, updates)
HINDSIGHT_STATE(EvictionStat, reason, cause, count)
HINDSIGHT_STATE(FamilyFacts, option_of, parent_name, option_made, parent_marked, constrained, allowed, closed_gate)
HINDSIGHT_STATE(OptionState, rejected, cause, message, gate_open, gate_since, passed_over, anew)
HINDSIGHT_STATE(RequestedOption, name, option, flavors, active, message, refused, since)
HINDSIGHT_STATE(OptionStatus, name, flavors, phase, message, last_transition)
HINDSIGHT_STATE(FamilyState, cycle_start, first_admitted, holds_itself, shown, migrating_to, hold, requested, foreign, options, migrated_at,
                undone, paused_until)
HINDSIGHT_STATE_OF_KINDS(WorkloadState,
                         (namespace_, name, uid, owner_uid, created, resource_version, generation, deleting, in_use_finalizer, gone,
                          job_made, queue_name, pod_sets, priority, priority_class_kind, priority_class, active, max_exec_seconds,
                          admission_gated_by, priority_boost, elastic, replacement_for, slice_name, resource_policy, resource_bounds,
                          family_facts, conditions, admission, checks, has_requeue_state, requeue_count, requeue_at, reclaimable,
                          accumulated_exec_seconds, evictions, unhealthy_nodes, second_passes, second_pass_at, plan, unconfirmed,
                          last_decision, resolve_since, revision_pending, revised_for, removal_pending, gate_noted, gated_since,
                          plan_refusals, plan_refusal, sizing_barred, sizing_barred_at, quarantined, family, option),
                         (id), (), ())
HINDSIGHT_STATE(JobState, uid, name, kind, group, namespace_, resource_version, generation, deleting, queue_name, priority_class,
                pod_priority_class, prebuilt_workload, max_exec_seconds, suspended, active, pods_ready, stopping, finished, succeeded,
                on_hold, managed, finish_message, admission_gated_by, workload_name, pod_sets, reclaimable, remaining, ready_pods, elastic,
                pods_gated, start_error, removal_pending, requested_since, requested_name, requested_for, scheduling_gated_by, gate_noted,
                gated_since, gate_ignored, by_itself, stop_noted, start_due, start_left, resource_policy, resource_bounds, plan,
                quarantined)
HINDSIGHT_STATE(NodeSelector, entries)
HINDSIGHT_STATE(PodAmounts, amounts)
HINDSIGHT_STATE(PodState, uid, name, pod_set, index, resource_version, gated, ended, released, released_at, placed, topology_gated,
                index_offset_bad, index_offset, group, workload, selector, place, node, terminating, requests, failing)
HINDSIGHT_STATE(RepeatedSteps, last_, steps_)
HINDSIGHT_STATE(WorkloadParent::Image, job, workloads, pods, repeats)
HINDSIGHT_STATE_OF_KINDS(WorkloadParent, (job_, workloads_, pods_, repeats_), (self_),
                         (placements_, announced_due_, told_places_, told_lingering_, child_, ancestor_runs_, beyond_, watched_, weighed_,
                          told_runs_),
                         (told_next_, told_of_slice_, hash_, pods_settled_, families_untold_, family_table_))

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
HINDSIGHT_STATE_OF_KINDS(ClusterQueue, (pending_, records_, sticky_, sticky_generation_, holding_, generation_, published_, local_),
                         (name_),
                         (tree_, tree_version_, heap_, shared_lane_, alone_, told_, told_nonempty_, told_waiting_, live_, families_,
                          family_pending_, forgotten_locals_, fair_, sampling_due_),
                         (refreshed_at_, hash_))

// ---- the domain -------------------------------------------------------------------------------------------------------------------

HINDSIGHT_STATE(UsageVector::Part, resource, amount)
HINDSIGHT_STATE(UsageVector, parts_)
HINDSIGHT_STATE(Consumed, usage, at)
HINDSIGHT_STATE_OF_KINDS(Lineage, (owner_uid, owner_kind, created, child, ancestor, beyond), (), (counted_in), ())
HINDSIGHT_STATE_OF_KINDS(PodPlace, (namespace_), (owner, keeper), (), ())
HINDSIGHT_STATE_OF_KINDS(WorkloadPlace, (member, holder), (), (version), ())
HINDSIGHT_STATE(RepeatedPreemptions::Count, victim, in_a_row, in_all, last, left_alone)
HINDSIGHT_STATE_OF_KINDS(RepeatedPreemptions, (counts_, news_), (), (left_alone_), ())
HINDSIGHT_STATE(Claims::Claim, cluster_queue, since)
HINDSIGHT_STATE(Claims, claims_)
HINDSIGHT_STATE(WriteBacklog::Entry, uid, since)
HINDSIGHT_STATE(WriteBacklog, limit_, entries_)
HINDSIGHT_STATE(SeenVersions::Key, kind, namespace_, name)
HINDSIGHT_STATE(SeenVersions::Seen, uid, version, gone)
HINDSIGHT_STATE_OF_KINDS(SeenVersions, (seen_), (), (gone_), ())
HINDSIGHT_STATE(Domain::HeldKey, kind, name)
HINDSIGHT_STATE(Domain::Held, deleting, finalizer)
HINDSIGHT_STATE(Domain::Quarantined, kind, api_kind, namespace_, name, resource_version, stage, reason, since)
HINDSIGHT_STATE_OF_KINDS(Domain,
                         (catalog_, nodes_, node_usage_, sequence_, epoch_, decided_base_, cycles_, stale_decisions_, resolved_base_,
                          life_cycle_steps_, rules_, now_, synced_, workload_places_, job_kinds_, lineages_, pods_, held_, listed_,
                          reactivations_, consumed_, seen_cycles_, seen_, repeated_, claims_, backlog_, quarantined_, passed_over_,
                          configured_),
                         (registry_, tree_version_),
                         (members_, holders_, job_places_, children_, owned_, descendants_, pods_of_owners_, running_ancestors_, hosts_,
                          said_, lingering_, lingers_on_, stands_on_, standing_, not_ready_, due_, due_of_, sampling_, sampling_of_,
                          second_passes_, quarantined_queues_),
                         (read_settings_, shared_catalog_, catalog_hash_, nodes_hash_, nodes_hashed_, nodes_version_, node_changes_,
                          held_changes_, quarantine_changes_, quarantined_queue_changes_, to_pass_over_, claims_asked_, asked_kinds_,
                          took_decision_, edited_, catalog_changed_, restored_configured_, dirty_, restored_dirty_, is_dirty_, dirty_trees_,
                          is_dirty_tree_, resting_trees_, seen_index_, seen_indexed_, waiting_for_, parents_asked_, step_bytes_,
                          part_leaves_, life_cycle_steps_max_, circling_, answers_, answers_bytes_, admitting_, contenders_, step_))
