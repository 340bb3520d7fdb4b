#pragma once

// What was decided: the events of one atomic step (rule 2). One `Decisions` record holds all that one scheduling cycle or one
// round of life-cycle rules decided. Views, as in observations.hpp; the wire form is schemas/decisions.fbs.
// Events are past tense: applying one never fails; one whose object has meanwhile gone, finished or been deactivated is void.

#include <span>
#include <variant>

#include "vocabulary/observations.hpp"

namespace hindsight {

/// Names one Workload object. The uid identifies; namespace and name are for readers.
struct WorkloadRef {
  Text uid;
  Text namespace_;
  Text name;
};

struct JobRef {
  Text uid;
  Text kind;
  Text group;
  Text namespace_;
  Text name;
};

// ---- the job and its Workload ---------------------------------------------------------------------------------------------

/// The job shall have this Workload (BA-173); the applier creates it from the job's templates.
struct WorkloadRequested {
  JobRef job;
  Text name;
  Text queue_name;
  std::int32_t priority = 0;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  Text priority_class;
  std::optional<std::int32_t> max_exec_seconds;
  std::int64_t job_generation = 0;  ///< The version of the job that it was made from.
  // Of elastic jobs (EJ-7, EJ-8):
  WorkloadRef replaces;      ///< The slice that the new one shall replace; empty uid: none.
  Text slice_name;           ///< Name of the chain's origin; empty: the new one is the origin, or the job is not elastic.
  List<PodSetCount> counts;  ///< The size that was asked for.
};

/// The spec of the Workload shall follow the changed job (in place: suspended job, no reservation), or its changed queue,
/// priority class or priority value.
struct WorkloadRevised {
  WorkloadRef workload;
  JobRef job;
  bool pod_sets = false;  ///< Take the pod sets of the job anew.
  Text queue_name;
  std::int32_t priority = 0;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  Text priority_class;
  std::optional<std::int32_t> max_exec_seconds;
  std::int64_t job_generation = 0;
  List<PodSetCount> counts;  ///< Of elastic jobs: the slice takes these counts and keeps its templates (EJ-16, EJ-17, EJ-19).
};

/// The Workload shall go: it does not match its running job, or is one too many, or its time of retention is over.
struct WorkloadRemoved {
  WorkloadRef workload;
  Text message;
  JobRef job;               ///< With a uid: this job shall be deleted, and the Workload goes with it (BA-148).
  WorkloadRef parent = {};  ///< With a uid: it is an Option of this Parent (CA-115).
};

/// The job shall be suspended although no Workload says so ("Not admitted by cluster queue", missing Workload, removed one).
struct JobStopped {
  JobRef job;
  Text message;
};

// ---- admission --------------------------------------------------------------------------------------------------------------

/// Quota is reserved; Admitted too when `admitted` (no checks to wait for).
struct QuotaReserved {
  WorkloadRef workload;
  Text cluster_queue;
  List<PodSetAssignmentFacts> assignments;
  bool admitted = false;
  List<CheckFacts> checks;  ///< The synchronised check list where it changed; see `checks_changed`.
  bool checks_changed = false;
  std::int32_t borrowing_level = 0;
  WorkloadRef replaces;      ///< The slice that it replaces and against whose quota it was charged; empty uid: none.
  List<PlannedAmount> plan;  ///< Sizes other than those of the template, which the job shall be started with; empty: none.
};

/// Why an entry was not admitted, in the terms of base-admission §3.4.
enum class RequeueReason : std::uint8_t {
  generic = 0,
  failed_after_nomination = 1,
  namespace_mismatch = 2,
  preemption_gated = 3,
  pending_preemption = 4,
  pending_migration = 5,
  preemption_failed = 6,
  no_fit = 7,
  preemption_no_candidates = 8,
};

/// Flavor index to resume behind, for one resource of one pod set; -1: start anew (base-admission §5.4.7).
struct ScanProgress {
  Text pod_set;
  Text resource;
  std::int32_t flavor_index = -1;
};

/// What came of choosing victims anew, because an earlier entry of the cycle had taken them (base-admission §6.2 step 1).
enum class Recomputation : std::uint8_t { none = 0, new_targets = 1, deferred_fit = 2, skipped = 3 };

/// The outcome of an entry that did not get quota in a cycle.
struct EntryRequeued {
  WorkloadRef workload;
  Text cluster_queue;
  RequeueReason requeue_reason = RequeueReason::generic;
  bool to_heap = false;      ///< Back into the heap, else into the inadmissible set.
  bool write_status = true;  ///< Conditions are written (not after an internal error).
  Text reason;               ///< Reason of QuotaReserved=False.
  Text message;
  List<ScanProgress> progress;        ///< Empty: none kept.
  std::uint64_t bulk_parked = 0;      ///< How many equal workloads were parked with it (BA-55), for readers.
  std::uint64_t scan_generation = 0;  ///< Generation of the ClusterQueue that `progress` was recorded at (§2.3).
  bool preemption_skipped = false;    ///< It would have preempted, and an earlier entry was in the way (BA-74).
  Recomputation recomputed = Recomputation::none;
  /// It had room, which is kept for this one, passed over before it, which would preempt it in the next cycle (D14). Mostly empty.
  WorkloadRef claimant = {};
};

/// A victim was chosen: Evicted=True reason Preempted and Preempted=True reason `reason` (BA-116).
struct WorkloadPreempted {
  WorkloadRef workload;
  WorkloadRef preemptor;
  Text preemptor_cluster_queue;
  Text reason;  ///< InClusterQueue, InCohortReclamation, InCohortFairSharing, InCohortReclaimWhileBorrowing.
  Text message;
};

/// Evicted=True; everything that §8.2 resets is reset.
struct WorkloadEvicted {
  WorkloadRef workload;
  Text reason;
  Text cause;  ///< Underlying cause; empty: none.
  Text message;
  bool has_requeue_state = false;  ///< PodsReady time-out: the new back-off (BA-139).
  std::int32_t requeue_count = 0;
  Time requeue_at;
};

/// QuotaReserved=False after the job is inactive: quota is free (BA-131).
struct ReservationCleared {
  WorkloadRef workload;
  Text reason;
  Text message;
  bool writes_requeued = false;  ///< Also set Requeued.
  bool requeued = false;
  Text requeued_reason;
  Text requeued_message;
  bool resources_restored = false;  ///< The job ran with other sizes than its own, and has its own again.
};

struct WorkloadAdmitted {
  WorkloadRef workload;
};

struct WorkloadFinished {
  WorkloadRef workload;
  Text reason;
  Text message;
};

/// The slice `workload` of an elastic job gives its place to `replacement`, which is admitted: it is finished, and what it held belongs to
/// the other (EJ-51). Void when the replacement is not admitted after all, so that the job never stands without an admitted slice (EJ-55).
struct SliceReplaced {
  WorkloadRef workload;
  WorkloadRef replacement;
  JobRef job;
  Text slice_name;             ///< Name of the chain's origin.
  Text message;                ///< Of the condition Finished.
  List<ResourceAmount> delta;  ///< What the replacement is charged more (or less) than the old slice, by resource.
  List<PodSetCount> counts;    ///< Pods that the replacement was granted.
};

/// Any condition that no richer event sets: pending reasons resolved by the controller, Requeued, PodsReady, DeactivationTarget.
struct ConditionChanged {
  WorkloadRef workload;
  ConditionType type = ConditionType::unspecified;
  ConditionStatus status = ConditionStatus::unknown;
  Text reason;
  Text message;
  bool remove = false;  ///< The condition is taken away.
};

/// spec.active was set to false because of DeactivationTarget.
struct WorkloadDeactivated {
  WorkloadRef workload;
};

struct ChecksChanged {
  WorkloadRef workload;
  List<CheckFacts> checks;
};

struct RequeueStateChanged {
  WorkloadRef workload;
  bool present = false;
  std::int32_t count = 0;
  Time at;
};

struct ReclaimableChanged {
  WorkloadRef workload;
  List<PodSetCount> reclaimable;
};

/// The accumulated execution time was cleared (BA-141).
struct ExecutionTimeReset {
  WorkloadRef workload;
};

/// The API server does not take the sizes of this job, which is admitted as it is from now on; or may be asked for them again (5440 MR-51,
/// MR-53).
struct SizingBarred {
  WorkloadRef workload;
  JobRef job;
  bool barred = true;
  bool unsupported = false;  ///< Resources of jobs cannot be changed at all.
  Text message;              ///< What the API server said.
};

/// One pod, named as a Workload is.
struct PodRef {
  Text uid;
  Text namespace_;
  Text name;
  Text pod_set;
};

/// These pods shall lose the scheduling gate elastic-job: the slice grants their place (EJ-70).
struct PodsReleased {
  WorkloadRef workload;  ///< The active slice.
  JobRef job;
  Text slice_name;  ///< Name of the chain's origin.
  List<PodRef> pods;
};

/// A pod, and the domain that it shall stand in.
struct PlacedPod {
  Text uid;
  Text name;
  List<Text> values;  ///< One for each level.
};

/// These pods shall lose the scheduling gate topology, and select the nodes of the domain that each was given (TAS-80).
struct PodsPlaced {
  WorkloadRef workload;
  JobRef job;
  Text pod_set;
  List<Text> levels;  ///< Node labels, as in the assignment.
  List<PlacedPod> pods;
};

/// Hosts of the assignment whose nodes failed, all of them; of those that were listed before and are no more the nodes are well (TAS-96).
struct NodesUnhealthy {
  WorkloadRef workload;
  List<Text> nodes;  ///< Values of the hostname label, sorted.
};

/// Other hosts take the place of those whose nodes failed (TAS-98), or hosts that came back the place of others; or a slice that became
/// smaller gives places up (EJ-113).
struct TopologyReassigned {
  WorkloadRef workload;
  List<Text> nodes;                         ///< Those that failed; none: its pods run on hosts that came back.
  List<PodSetAssignmentFacts> assignments;  ///< Of the pod sets that stood there.
  bool given_up = false;                    ///< It keeps the places of the pods that are left.
};

/// The places of pod sets that have had their quota before (TAS-91).
struct TopologyAssigned {
  WorkloadRef workload;
  List<PodSetAssignmentFacts> assignments;  ///< Of the pod sets that waited for them.
};

/// There were no places for them, once more: they are looked for again later (TAS-92).
struct SecondPassFailed {
  WorkloadRef workload;
  Text message;
  std::int32_t attempt = 0;  ///< How many there have been, this one included.
};

/// What their status and an event say (2724 §2.8).
inline constexpr const char* pod_failed_message = "Pod terminated by Kueue NodeController due to node taint";

/// These pods shall fail: they were told to start on hosts where they cannot (TAS-89, TAS-103).
struct PodsFailed {
  WorkloadRef workload;
  JobRef job;
  List<PodRef> pods;
};

// ---- gates ------------------------------------------------------------------------------------------------------------------

/// Which of the two gate annotations (6915 §1).
enum class GateContract : std::uint8_t {
  scheduling = 0,  ///< scheduling-gated-by: the job gets no Workload.
  admission = 1,   ///< admission-gated-by: the Workload is not admissible.
};

enum class GateChange : std::uint8_t {
  observed = 0,  ///< It holds something back from now on.
  shrunk = 1,    ///< Its value is another; it holds on.
  cleared = 2,   ///< Released.
  ignored = 3,   ///< The job has a Workload already: it comes too late (SG-5).
};

/// A gate annotation holds a job or its Workload back, or no more (SG-74).
struct GateChanged {
  WorkloadRef workload;  ///< Empty uid: the gate holds back the job itself, and there is no Workload.
  JobRef job;            ///< Empty uid: the gate stands on the Workload alone.
  GateContract contract = GateContract::scheduling;
  GateChange change = GateChange::observed;
  Text value;  ///< As it is now; of one that was cleared: as it was.
  std::int64_t job_generation = 0;
  Time since;  ///< When it was observed.
};

// ---- families of concurrent admission (8691) --------------------------------------------------------------------------------

/// The Workload is a Parent from here on: its Options are queued in its place. What it holds it keeps until an Option takes it over (CA-1,
/// CA-120).
struct FamilyFormed {
  WorkloadRef workload;
};

/// The Workload is one like any other again. What its admitted Option holds is its own from here on, and the Options go (CA-120).
struct FamilyDissolved {
  WorkloadRef workload;
  Text message;
};

/// The family begins anew: delays, rejections and the right to preempt are those of the beginning (CA-60).
struct FamilyReset {
  WorkloadRef workload;  ///< The Parent.
  Text message;
};

/// The family shall have this Option; the applier makes it from the Parent (CA-3 to CA-9).
struct OptionRequested {
  WorkloadRef workload;  ///< The Parent.
  Text name;             ///< Of the object.
  Text option;           ///< Flavor or name of the explicit Option.
  List<Text> flavors;
  bool active = true;
  Text message;  ///< Why it is not active.
};

/// Why an Option is active or not (8691 §2.9, CA-29).
enum class OptionCause : std::uint8_t {
  none = 0,
  policy = 1,           ///< OnSuccess, or nothing is admitted.
  create_delay = 2,     ///< createDelaySeconds has not passed, or has.
  delete_delay = 3,     ///< deleteDelaySeconds has passed.
  parent_inactive = 4,  ///< The Parent is inactive.
  rejected = 5,         ///< A check rejected it, until the next reset (CA-84).
};

/// spec.active of an Option shall be this.
struct OptionSwitched {
  WorkloadRef workload;
  WorkloadRef parent;
  bool active = false;
  OptionCause cause = OptionCause::none;
  Text message;
};

/// What `from` holds is the Option's from here on: its Parent's that has become one (CA-120), or that of an Option which it takes the place
/// of (CA-118).
struct OptionAdopted {
  WorkloadRef workload;
  WorkloadRef parent;
  WorkloadRef from;
};

/// The Parent shows the admission of its Option, and the job runs by it (CA-41, CA-42).
struct OptionAdmitted {
  WorkloadRef workload;  ///< The Parent.
  WorkloadRef option;
};

/// A better Option goes before the one that is admitted, which is evicted for it. Where it does not hold quota already, what is asked for
/// is kept for it (CA-44, CA-45, CA-47).
struct MigrationStarted {
  WorkloadRef workload;  ///< The better Option.
  WorkloadRef parent;
  WorkloadRef from;
  Text cluster_queue;
  List<PodSetAssignmentFacts> assignments;  ///< Empty: it holds quota.
};

/// The right to preempt, of which a family has one (CA-70 to CA-74).
struct PreemptionGateChanged {
  WorkloadRef workload;
  WorkloadRef parent;
  bool open = false;
  bool unused = false;  ///< It is taken away because nothing came of it in its time (CA-74).
};

// ---- queues -----------------------------------------------------------------------------------------------------------------

/// A batched reactivation was carried out over one tree (§3.7): parked workloads went back to their heaps.
struct TreeReactivated {
  Text root;  ///< Root cohort, or the ClusterQueue without one.
};

using Event = std::variant<WorkloadRequested, WorkloadRevised, WorkloadRemoved, JobStopped, QuotaReserved, EntryRequeued, WorkloadPreempted,
                           WorkloadEvicted, ReservationCleared, WorkloadAdmitted, WorkloadFinished, ConditionChanged, WorkloadDeactivated,
                           ChecksChanged, RequeueStateChanged, ReclaimableChanged, ExecutionTimeReset, TreeReactivated, SliceReplaced,
                           PodsReleased, GateChanged, SizingBarred, PodsPlaced, NodesUnhealthy, TopologyReassigned, PodsFailed,
                           TopologyAssigned, SecondPassFailed, FamilyFormed, FamilyDissolved, FamilyReset, OptionRequested, OptionSwitched,
                           OptionAdopted, OptionAdmitted, MigrationStarted, PreemptionGateChanged>;

enum class StepKind : std::uint8_t { unspecified = 0, life_cycle = 1, timers = 2, cycle = 3 };

/// One atomic step.
struct Decisions {
  std::uint64_t base = 0;  ///< Sequence of the last record that was applied when this was decided.
  StepKind step = StepKind::unspecified;
  List<Event> events;
};

/// What would be decided, if this process and not another one decided (`run --observe`): a note, which changes no state. It has what is
/// new in that, and nothing that the notes before it say already.
struct DecisionsNoted {
  std::uint64_t base = 0;       ///< Sequence of the last record that was applied when this was found.
  std::uint32_t rules = 0;      ///< Version of the rules by which it was.
  List<Event> events;           ///< Of all steps that the state at `base` leads to, one after another, if nobody else does anything.
  List<WorkloadRef> withdrawn;  ///< Would get quota by an earlier note, have not got it, and would not get it any more.
  /// The record after `base` shows that another controller admitted or evicted these. Somebody looked before it was applied: at `base` they
  /// would not have been, or not in this way. Of what nobody looked at nothing is said.
  List<WorkloadRef> would_not = {};
};

}  // namespace hindsight
