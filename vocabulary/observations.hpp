#pragma once

// What the world was seen to be: one struct for every kind of object that the mirror watches, with the facts that
// admission needs and nothing else. All of them are views: the strings and lists belong to the record's buffer and arena
// (or, on the way in, to whoever encodes the observation). Since they are level-triggered, a repeated one changes nothing.
//
// The wire form is schemas/observations.fbs; add fields at the end of both.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "vocabulary/amount.hpp"
#include "vocabulary/time.hpp"

namespace hindsight {

using Text = std::string_view;
template <class T>
using List = std::span<const T>;

// ---- parts ------------------------------------------------------------------------------------------------------------

/// A label, annotation, node selector entry.
struct Pair {
  Text key;
  Text value;
  friend bool operator==(const Pair&, const Pair&) = default;
};

enum class ObjectKind : std::uint8_t {
  unspecified = 0,
  resource_flavor = 1,
  cluster_queue = 2,
  cohort = 3,
  local_queue = 4,
  workload_priority_class = 5,
  priority_class = 6,
  namespace_ = 7,
  admission_check = 8,
  topology = 9,
  node = 10,
  job = 11,  ///< Any job kind that an integration manages (batch Job, JobSet, ...).
  workload = 12,
  pod = 13,
};

struct ObjectMeta {
  Text namespace_;  ///< Empty for cluster-scoped kinds.
  Text name;
  Text uid;
  std::uint64_t resource_version = 0;  ///< 0: unknown. Equal uid and version = the same observation (rule 4).
  std::int64_t generation = 0;
  Time created;
  bool deleting = false;          ///< deletionTimestamp is set.
  bool in_use_finalizer = false;  ///< Carries finalizer kueue.x-k8s.io/resource-in-use.
};

enum class TaintEffect : std::uint8_t { unspecified = 0, no_schedule = 1, prefer_no_schedule = 2, no_execute = 3 };

struct Taint {
  Text key;
  Text value;
  TaintEffect effect = TaintEffect::unspecified;
};

struct Toleration {
  Text key;  ///< Empty with `exists`: every key.
  Text value;
  bool exists = false;                            ///< Operator Exists; otherwise Equal.
  TaintEffect effect = TaintEffect::unspecified;  ///< unspecified: every effect.
  std::optional<std::int64_t> seconds;            ///< tolerationSeconds; absent: for ever. Says nothing of flavors, but goes into the pods.
};

enum class SelectorOperator : std::uint8_t { unspecified = 0, in = 1, not_in = 2, exists = 3, does_not_exist = 4, gt = 5, lt = 6 };

/// One requirement of a label selector or of a node selector term.
struct Requirement {
  Text key;
  SelectorOperator op = SelectorOperator::unspecified;
  List<Text> values;
};

/// Requirements that are AND-ed; matchLabels become `in` requirements with one value.
struct SelectorTerm {
  List<Requirement> requirements;
  List<Requirement> fields = {};  ///< Of the object itself (matchFields), likewise.
};

/// Nodes that pods prefer, and how much.
struct PreferredTerm {
  std::int32_t weight = 0;
  SelectorTerm term;
};

struct ResourceAmount {
  Text resource;
  Amount amount = 0;
};

/// How far the resources of a job may be changed when it is admitted (5440 §2.4).
enum class ResourcePolicy : std::uint8_t { none = 0, shrink = 1, fit = 2 };

/// One resource of one container of a job that may be sized. Values are those of the template.
struct SizedAmount {
  Text resource;
  std::optional<Amount> request;
  std::optional<Amount> limit;
  Amount low = 0;   ///< The least that a plan may give.
  Amount high = 0;  ///< The most.
  Amount step = 0;  ///< 0: the container is not bounded, and keeps what it has.
};

enum class ContainerRole : std::uint8_t { main = 0, init = 1, sidecar = 2 };

/// A container of a job that may be sized, with the resources that any container of its pod set has bounds for.
struct SizedContainer {
  Text name;
  ContainerRole role = ContainerRole::main;
  List<SizedAmount> amounts;  ///< Sorted by resource.
};

/// What a plan makes of one resource of one container. Requests and limits that were equal stay equal.
struct PlannedAmount {
  Text pod_set;
  Text container;
  Text resource;
  Amount original = 0;
  Amount amount = 0;
};

/// Groups of equal size, each within one domain of a level (2724 §2.3).
struct TopologyLayerFacts {
  Text level;
  std::optional<std::int32_t> size;
};

/// The part of a pod template that admission looks at (one pod set of a job or of a Workload).
struct PodSetFacts {
  Text name;
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;
  List<ResourceAmount> requests;  ///< Per pod, effective: containers, init steps, sidecars, pod level, overhead (BA-43); sorted by name.
  List<Pair> node_selector;       ///< Sorted by key.
  bool has_affinity = false;      ///< requiredDuringScheduling node affinity is present: `affinity_terms` are OR-ed.
  List<SelectorTerm> affinity_terms;
  List<Toleration> tolerations;
  std::uint64_t shape_hash = 0;     ///< Of the scheduling shape of the pod spec (base-admission §3.6).
  std::uint64_t template_hash = 0;  ///< Of the normalised template: two suspended jobs with equal hash have equal templates.
  std::uint64_t core_hash = 0;      ///< As above without what a start injects: node selector, tolerations, labels, annotations, gates.
  Text pod_set_group;               ///< podset-group-name annotation.
  Text limits_error;                ///< Non-empty: "requests must not exceed its limits" finding, ready for the message.
  Text required_topology, preferred_topology;  ///< Level label; empty: not asked for.
  bool unconstrained_topology = false;
  Text limit_range_error;  ///< Non-empty: what of it breaks a LimitRange, ready for the message; looked at only without `limits_error`.
  /// All containers, where bounds apply to some: containers, then init containers, in the order of the template.
  List<SizedContainer> sized;
  std::uint64_t bare_hash = 0;                    ///< With `sized`: as core_hash, without what the bounds are about.
  bool topology_requested = false;                ///< It says something of topologies, if only `unconstrained: false`.
  List<TopologyLayerFacts> topology_layers = {};  ///< The outermost first.
  bool topology_ranked = false;                   ///< The request names a label that PodObserved::index is read from.
  std::optional<std::int32_t> topology_groups;    ///< Sub-groups of equal size, by PodObserved::group.
  List<PreferredTerm> preferred_terms = {};       ///< Of the node affinity; their weights add up.
};

// ---- configuration kinds ------------------------------------------------------------------------------------------------

struct ResourceFlavorObserved {
  ObjectMeta meta;
  List<Pair> node_labels;
  List<Taint> node_taints;
  List<Toleration> tolerations;
  Text topology_name;
};

struct QuotaFacts {
  Text resource;
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit;
  std::optional<Amount> lending_limit;
};

struct FlavorQuotasFacts {
  Text flavor;
  List<QuotaFacts> resources;  ///< In the order of covered_resources.
};

struct ResourceGroupFacts {
  List<Text> covered_resources;
  List<FlavorQuotasFacts> flavors;  ///< In try order.
};

enum class QueueingStrategy : std::uint8_t { best_effort_fifo = 0, strict_fifo = 1 };
enum class StopPolicy : std::uint8_t { none = 0, hold = 1, hold_and_drain = 2 };
enum class FungibilityPolicy : std::uint8_t { may_stop_search = 0, try_next_flavor = 1 };
enum class FungibilityPreference : std::uint8_t { unset = 0, borrowing_over_preemption = 1, preemption_over_borrowing = 2 };
/// withinClusterQueue, reclaimWithinCohort and borrowWithinCohort.policy in one enum; each field allows some of them.
enum class PreemptionPolicy : std::uint8_t { never = 0, lower_priority = 1, lower_or_newer_equal_priority = 2, any = 3 };
enum class AdmissionMode : std::uint8_t { unset = 0, usage_based = 1, none = 2 };

struct AdmissionCheckRule {
  Text name;
  List<Text> on_flavors;  ///< Empty: every flavor.
};

/// Which attempts of a family survive an admission (8691 §3.2).
enum class OnSuccess : std::uint8_t { unset = 0, remove_other = 1, remove_lower = 2, remove_below_target = 3 };

/// An attempt that a ClusterQueue asks for in place of one for each flavor (8691 §2.2).
struct ExplicitOptionFacts {
  Text name;
  std::int32_t create_delay_seconds = 0;
  std::optional<std::int32_t> delete_delay_seconds;
  List<Text> allowed_flavors;
};

/// What an Option may do to get quota while another one of its family is admitted (CA-146).
enum class UpgradeFungibility : std::uint8_t { always = 0, no_preemption = 1, no_borrowing = 2 };

/// In either form of the API (8691 §2.4).
struct ConcurrentAdmissionFacts {
  bool enabled = false;
  bool kueue_form = false;  ///< It stands in `concurrentAdmissionPolicy` alone: texts speak of variants.
  OnSuccess on_success = OnSuccess::unset;
  Text target_flavor;  ///< With remove_below_target.
  List<ExplicitOptionFacts> options;
  UpgradeFungibility upgrades = UpgradeFungibility::always;
};

struct ClusterQueueObserved {
  ObjectMeta meta;
  Text cohort;
  List<ResourceGroupFacts> resource_groups;
  QueueingStrategy queueing_strategy = QueueingStrategy::best_effort_fifo;
  bool has_namespace_selector = false;  ///< false: null, no namespace matches; true and empty: every namespace.
  List<Requirement> namespace_selector;
  FungibilityPolicy when_can_borrow = FungibilityPolicy::may_stop_search;
  FungibilityPolicy when_can_preempt = FungibilityPolicy::try_next_flavor;
  FungibilityPreference preference = FungibilityPreference::unset;
  PreemptionPolicy within_cluster_queue = PreemptionPolicy::never;
  PreemptionPolicy reclaim_within_cohort = PreemptionPolicy::never;
  PreemptionPolicy borrow_within_cohort = PreemptionPolicy::never;
  std::optional<std::int32_t> max_priority_threshold;
  List<AdmissionCheckRule> admission_checks;
  StopPolicy stop_policy = StopPolicy::none;
  bool stop_policy_set = false;  ///< `stopPolicy: None` and an absent field differ for wake-ups (base-api §6.3).
  std::int64_t fair_weight_nano = 1'000'000'000;
  AdmissionMode admission_mode = AdmissionMode::unset;
  ConcurrentAdmissionFacts concurrent = {};
};

struct CohortObserved {
  ObjectMeta meta;
  Text parent;
  List<ResourceGroupFacts> resource_groups;
  std::int64_t fair_weight_nano = 1'000'000'000;
};

struct LocalQueueObserved {
  ObjectMeta meta;
  Text cluster_queue;
  StopPolicy stop_policy = StopPolicy::none;
  bool stop_policy_set = false;
  std::int64_t fair_weight_nano = 1'000'000'000;
  List<Pair> consumed;  ///< status.fairSharing.admissionFairSharingStatus.consumedResources: resource → quantity; sorted by resource.
  Time consumed_at;     ///< Its lastUpdate; never: there is no such status.
  List<Pair> labels;    ///< For the selector of metrics; sorted by key.
};

struct WorkloadPriorityClassObserved {
  ObjectMeta meta;
  std::int32_t value = 0;
};

struct PriorityClassObserved {
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;
};

struct NamespaceObserved {
  ObjectMeta meta;
  List<Pair> labels;
};

struct AdmissionCheckObserved {
  ObjectMeta meta;
  Text controller_name;
  bool active = false;  ///< Condition Active is True.
};

struct TopologyObserved {
  ObjectMeta meta;
  List<Text> levels;  ///< Node labels, highest level first.
};

struct NodeObserved {
  ObjectMeta meta;
  List<Pair> labels;
  List<Taint> taints;
  List<ResourceAmount> allocatable;
  bool ready = false;
  bool unschedulable = false;
  bool silent = false;  ///< It has no condition Ready at all.
};

// ---- jobs and workloads ---------------------------------------------------------------------------------------------------

struct PodSetCount {
  Text pod_set;
  std::int32_t count = 0;
};

/// A job as its integration reads it (connectors/jobs): everything that a Workload parent needs to know of it.
struct JobObserved {
  ObjectMeta meta;
  Text kind;                ///< "Job", "JobSet", ...
  Text group;               ///< API group, "batch".
  Text queue_name;          ///< Label; empty: not ours unless manageJobsWithoutQueueName.
  Text priority_class;      ///< Label kueue.x-k8s.io/priority-class (a WorkloadPriorityClass).
  Text pod_priority_class;  ///< priorityClassName of the integration or of the first pod template.
  Text prebuilt_workload;
  std::optional<std::int32_t> max_exec_seconds;
  bool suspended = false;
  bool active = false;  ///< Still occupies resources (base-api §7.2).
  bool pods_ready = false;
  bool stopping = false;  ///< A stop is in progress: annotation `stopping`.
  bool finished = false;
  bool succeeded = false;
  Text finish_message;
  bool on_hold = false;
  bool managed = true;  ///< false: namespace or managed ancestor excludes it (BA-171, BA-172); never queued.
  Text admission_gated_by;
  List<PodSetFacts> pod_sets;
  List<PodSetCount> reclaimable;  ///< Only pod sets with a count above 0.
  Text workload_name;             ///< The name that its Workload gets (base-api §3).
  bool elastic = false;           ///< Annotation elastic-job: "true".
  Text owner_uid;                 ///< Controller owner; empty: none. A managed one makes this job its child (BA-171).
  Text owner_kind;
  Text owner_name;
  /// Of elastic jobs: how many pods have still to run to the end, for the pod sets that reclaim pods (EJ-60); absent: all of them.
  List<PodSetCount> remaining;
  std::int32_t ready_pods = -1;  ///< Pods that are ready or have succeeded; -1: not told.
  Text scheduling_gated_by;      ///< Annotation scheduling-gated-by: no Workload is made until it has gone (6915).
  ResourcePolicy resource_policy = ResourcePolicy::none;
  Text resource_bounds;  ///< The annotation as it is.
  /// What JobIntent::settles named: the job is suspended, and no start of it is under way any more. 0: nothing is said of that.
  std::uint64_t start_settled = 0;
  /// Of a RayCluster: each of its pod templates carries the scheduling gate elastic-job, so that all of its pods wait until a slice has
  /// them.
  bool pods_gated = false;
};

enum class ConditionType : std::uint8_t {
  unspecified = 0,
  quota_reserved = 1,
  admitted = 2,
  finished = 3,
  pods_ready = 4,
  evicted = 5,
  preempted = 6,
  requeued = 7,
  deactivation_target = 8,
  waiting_for_replacement_pods = 9,
  blocked_on_preemption_gates = 10,
};

enum class ConditionStatus : std::uint8_t { unknown = 0, true_ = 1, false_ = 2 };

struct ConditionFacts {
  ConditionType type = ConditionType::unspecified;
  ConditionStatus status = ConditionStatus::unknown;
  Text reason;
  Text message;
  Time last_transition;
};

struct FlavorChoice {
  Text resource;
  Text flavor;
};

/// A domain of the lowest level of a topology, and how many pods stand there.
struct TopologyDomainFacts {
  List<Text> values;
  std::int32_t count = 0;
};

/// Are the places of a pod set found later than its quota (2724 §2.5)?
enum class DelayedTopology : std::uint8_t { none = 0, pending = 1, ready = 2 };

/// What one pod set was given. `usage` is the total for all `count` pods.
struct PodSetAssignmentFacts {
  Text pod_set;
  std::int32_t count = 0;
  List<FlavorChoice> flavors;
  List<ResourceAmount> usage;
  List<Text> topology_levels = {};          ///< Node labels of `topology`; empty: it has none.
  List<TopologyDomainFacts> topology = {};  ///< In the order of ranks (2724 §2.4).
  DelayedTopology delayed = DelayedTopology::none;
};

enum class CheckState : std::uint8_t { pending = 0, ready = 1, retry = 2, rejected = 3 };

/// What a check adds to the pods of a pod set, as far as it says where they can stand.
struct PodSetUpdateFacts {
  Text pod_set;
  List<Pair> node_selector;  ///< Sorted by key.
  List<Toleration> tolerations;
};

struct CheckFacts {
  Text name;
  CheckState state = CheckState::pending;
  Time last_transition;
  Text message;
  std::optional<std::int32_t> requeue_after_seconds;
  std::optional<std::int32_t> retry_count;
  Text pod_set_updates;  ///< The JSON text of podSetUpdates, handed through to the start of the job.
  List<PodSetUpdateFacts> updates = {};
};

struct EvictionCount {
  Text reason;
  Text underlying_cause;
  std::int32_t count = 0;
};

enum class PriorityClassKind : std::uint8_t { none = 0, workload_priority_class = 1, pod_priority_class = 2 };

struct PreemptionGateFacts {
  Text name;
  bool open = false;  ///< A gate that the status does not speak of is closed.
};

/// One entry of status.options (8691 §2.5).
enum class OptionPhase : std::uint8_t { pending = 0, admitted = 1, deactivated = 2, finished = 3 };
struct OptionStatusFacts {
  Text name;
  List<Text> flavors;
  OptionPhase phase = OptionPhase::pending;
  Text message;
  Time last_transition;
};

struct WorkloadObserved {
  ObjectMeta meta;
  Text owner_uid;  ///< Controller owner; empty: no Job owns it.
  Text owner_kind;
  Text owner_name;
  Text queue_name;
  List<PodSetFacts> pod_sets;
  std::optional<std::int32_t> priority;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  Text priority_class;
  bool active = true;
  std::optional<std::int32_t> max_exec_seconds;
  Text admission_gated_by;
  std::int32_t priority_boost = 0;
  // status
  List<ConditionFacts> conditions;
  bool has_admission = false;
  Text admission_cluster_queue;
  List<PodSetAssignmentFacts> assignments;
  List<CheckFacts> checks;
  std::int32_t requeue_count = 0;
  Time requeue_at;  ///< never: not set.
  bool has_requeue_state = false;
  List<PodSetCount> reclaimable;
  std::optional<std::int32_t> accumulated_exec_seconds;
  List<EvictionCount> evictions;
  bool has_resource_requests = false;
  Text job_uid;          ///< Label job-uid: a job owned it when it was made. Without owner it is orphaned (BA-149).
  bool elastic = false;  ///< Annotation elastic-job: "true".
  Text replacement_for;  ///< Annotation workload-slice-replacement-for: "<namespace>/<name>"; empty: none.
  Text slice_name;       ///< Annotation workload-slice-name: name of the chain's origin; empty: its own name.
  ResourcePolicy resource_policy = ResourcePolicy::none;
  Text resource_bounds;
  List<PlannedAmount> plan;  ///< Annotation resource-plan: the sizes in force.
  List<Text> unhealthy_nodes = {};
  bool parent_marked = false;       ///< Carries both markers of a Parent (8691 §2.6).
  bool constrained = false;         ///< Only `allowed_flavors` may be assigned: what both forms have in common, perhaps nothing.
  List<Text> allowed_flavors = {};  ///< In the order of the spec, else of the annotation.
  List<PreemptionGateFacts> preemption_gates = {};
  List<OptionStatusFacts> options = {};
};

/// A pod of an elastic job, which waits behind the gate elastic-job or belongs to a chain of slices, or one of a pod set that has places in
/// a topology (2724 §2.6).
struct PodObserved {
  ObjectMeta meta;
  Text owner_uid;                      ///< Controller owner.
  Text pod_set;                        ///< Label podset; empty: it belongs to none (EJ-75).
  Text slice_name;                     ///< Annotation workload-slice-name, else workload.
  bool gated = false;                  ///< Carries the scheduling gate elastic-job.
  bool ended = false;                  ///< Succeeded or Failed.
  std::int32_t index = -1;             ///< Completion index; -1: none.
  bool placed = false;                 ///< Carries annotations of topologies.
  bool topology_gated = false;         ///< Carries the scheduling gate topology.
  Text workload_name;                  ///< Annotation workload.
  std::int32_t group = -1;             ///< Index of its sub-group; -1: none.
  std::int32_t index_offset = 0;       ///< Annotation pod-index-offset.
  bool index_offset_bad = false;       ///< There is such an annotation, and it is no number (TAS-82).
  List<Pair> node_selector = {};       ///< With `placed`; sorted by key.
  Text node;                           ///< With `placed`: the node that it is bound to.
  bool terminating = false;            ///< With `placed`: it is being deleted.
  List<ResourceAmount> requests = {};  ///< With `node`: what it asks for, sorted by name, one of "pods" included.
};

/// What pods that no assignment stands for take of a node (TAS-25): all of it, whatever was told before, so that a repetition changes
/// nothing.
struct NodeUsageObserved {
  Text node;                   ///< Name of the Node.
  List<ResourceAmount> usage;  ///< Sorted by name; with "pods", how many these are.
};

// ---- the rest -------------------------------------------------------------------------------------------------------------

struct ObjectDeleted {
  ObjectKind kind = ObjectKind::unspecified;
  Text namespace_;
  Text name;
  Text uid;
  Text departed_to;  ///< The object is not gone: this domain concerns it no more, and the one of this name does. Empty: it is gone.
};

/// Time has come to this point; wakes what waits for it (rule 3).
struct TimerFired {};

/// The mirror has listed everything once since it started; before this no decision is made in a fresh log.
struct MirrorSynced {
  /// The opposite: what follows, up to the next one, belongs together, and nothing is decided before it is complete. So a tree that joins
  /// or leaves a domain does so in one step, whatever the order of its objects.
  bool pending = false;
};

/// A write of the applier was refused for good (not a conflict): BA-75.
struct WriteRefused {
  ObjectKind kind = ObjectKind::unspecified;
  Text namespace_;
  Text name;
  Text uid;
  std::uint64_t decision_sequence = 0;  ///< What it tried to carry out.
  std::int32_t http_status = 0;
  Text message;
};

/// Settings and feature gates that decisions depend on, canonical JSON of the configuration file (base-api §11).
struct ConfigurationObserved {
  Text json;
};

/// A clock stood elsewhere than the time in the log, by more than the two may differ (actors/day_clock.hpp). Nothing is decided by it: time
/// is that of the envelopes, which goes on evenly. It tells whoever reads the log why its times are not those of the world.
struct ClockStepped {
  Time from;    ///< The time in the log.
  Time to;      ///< What the clock said at that moment.
  Text source;  ///< Whose clock, for people.
};

/// What failed about an object that was set aside.
enum class QuarantineStage : std::uint8_t {
  read = 0,   ///< Its newest version cannot be read, or is beyond a limit (vocabulary/limits.hpp).
  plan = 1,   ///< What is wanted of it cannot be worked out.
  write = 2,  ///< What is wanted of it cannot be written down.
};

/// An object was set aside: something about this one object failed, and all others go on. What the domain knew of it before stays as it
/// was, quota included, until it is gone or comes in a version that can be read; until then it is not started and gets no quota.
struct ObjectQuarantined {
  ObjectKind kind = ObjectKind::unspecified;  ///< Unspecified: of a kind that is never observed, as LimitRange.
  Text api_kind;                              ///< "Job", "JobSet", "LimitRange".
  Text namespace_;
  Text name;
  Text uid;
  std::uint64_t resource_version = 0;  ///< Of the version that failed.
  QuarantineStage stage = QuarantineStage::read;
  Text reason;          ///< What was found and what is allowed.
  bool lifted = false;  ///< The opposite: it is set aside no more. Said where no other observation says so.
  /// Of a job: what could be read of it all the same, without pod sets; at most one. It tells whether the job runs, so that one that runs
  /// without quota can be stopped and one that was evicted gives its quota back.
  List<JobObserved> outline;
};

/// A record of this domain is passed over by every reader, wherever it reads (events/quarantine.hpp): no entity could take it, and
/// somebody who knows has said so. It keeps its place and its number, and has no effect.
struct RecordQuarantined {
  std::uint64_t sequence = 0;  ///< Of that record in the domain.
  std::uint64_t position = 0;  ///< Where it stood in the log in which this was said first; for people.
  Text writer;                 ///< Who said so.
  Text release;                ///< Of the software that wrote this.
  Text reason;
};

/// How many writes the API server does well with at a time, as the connector has found out; told when it changes by much. Where several
/// domains share a server, so much of it as this one may have.
struct WriteLimitObserved {
  std::uint32_t writes = 0;  ///< 0: it is not known.
};

/// Somebody took the domain: the first record of every epoch (rule 4).
struct EpochStarted {
  Text writer;              ///< Host and process, for people.
  Text release;             ///< Version of the software that decides in this epoch.
  std::uint32_t rules = 0;  ///< Version of the rules that it decides by (admission/rules.hpp); 0: from before they had one.
  bool observes = false;    ///< In this epoch nothing is decided: what would be is noted (DecisionsNoted).
};

using Observation =
    std::variant<ResourceFlavorObserved, ClusterQueueObserved, CohortObserved, LocalQueueObserved, WorkloadPriorityClassObserved,
                 PriorityClassObserved, NamespaceObserved, AdmissionCheckObserved, TopologyObserved, NodeObserved, JobObserved,
                 WorkloadObserved, ObjectDeleted, TimerFired, MirrorSynced, WriteRefused, ConfigurationObserved, PodObserved, ClockStepped,
                 ObjectQuarantined, RecordQuarantined, NodeUsageObserved, WriteLimitObserved>;

}  // namespace hindsight
