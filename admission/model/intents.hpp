#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/topology_assignment.hpp"
#include "vocabulary/interned.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::admission {

// What the state wants the world to look like, one struct for an object. Level-triggered (rule 5): the applier compares an intent with
// the object that the mirror saw last and writes the difference; an intent that is already true causes no write. Owned values:
// an intent lives until the world agrees or a newer intent for the same object replaces it.

struct WantedCondition {
  ConditionType type = ConditionType::unspecified;
  ConditionStatus status = ConditionStatus::unknown;
  std::string reason;
  std::string message;
  Time last_transition;
};

struct WantedAssignment {
  std::string pod_set;
  std::int32_t count = 0;
  std::vector<std::pair<std::string, std::string>> flavors;  ///< resource → flavor.
  std::vector<std::pair<std::string, Amount>> usage;         ///< resource → total.
  Interned<TopologyAssignment> topology{};                   ///< Empty: it has none.
  DelayedTopology delayed = DelayedTopology::none;
};

struct WantedCheck {
  std::string name;
  CheckState state = CheckState::pending;
  Time last_transition;
  std::string message;
  std::optional<std::int32_t> requeue_after_seconds;
  std::optional<std::int32_t> retry_count;
  std::string pod_set_updates;  ///< JSON text as observed.
};

/// What one resource of one container of a job shall be, and what it is in the job's own template.
struct WantedSize {
  std::string pod_set, container, resource;
  Amount original = 0, amount = 0;
};

/// One entry of status.options of a Parent (8691 §2.5).
struct WantedOption {
  std::string name;
  std::vector<std::string> flavors;  ///< In the order of the ClusterQueue.
  OptionPhase phase = OptionPhase::pending;
  std::string message;
  Time last_transition;
};

/// One entry of status.preemptionGates (8691 §2.5).
struct WantedGate {
  std::string name;
  bool open = false;
  Time last_transition;
};

/// The status of one Workload as the state has it, and whether the object shall exist.
struct WorkloadIntent {
  std::string uid, namespace_, name;
  std::uint64_t decision_sequence = 0;  ///< Newest decision in it; for WriteRefused.
  bool remove = false;                  ///< Delete the object (drop our finalizer first).
  bool release_finalizer = false;       ///< Finished or orphaned: our finalizer goes.
  std::optional<bool> set_active;       ///< spec.active shall be this; nothing: it stays.
  /// The markers of a Parent shall be there, or not; nothing: they stay as they are (8691 §2.6).
  std::optional<bool> parent_markers;
  std::vector<WantedCondition> conditions;  ///< All of ours, in the order of their first appearance.
  bool has_admission = false;
  std::string cluster_queue;
  std::vector<WantedAssignment> assignments;
  std::vector<WantedCheck> checks;
  bool checks_decided = true;      ///< The list is a decision that waits to be written; else it is only what was seen last.
  std::uint64_t seen_version = 0;  ///< resourceVersion that all this was decided on; 0: unknown. It is written over that or our own only.
  bool has_requeue_state = false;
  std::int32_t requeue_count = 0;
  Time requeue_at;
  std::vector<std::pair<std::string, std::int32_t>> reclaimable;
  std::vector<std::string> unhealthy_nodes;
  std::optional<std::int32_t> accumulated_exec_seconds;
  struct Eviction {
    std::string reason, cause;
    std::int32_t count = 0;
  };
  std::vector<Eviction> evictions;
  std::vector<WantedSize> plan;       ///< Sizes in force, shown in an annotation.
  std::vector<WantedOption> options;  ///< Of a Parent, by rank; empty: status.options shall be absent.
  std::vector<WantedGate> gates;      ///< Of an Option; empty: status.preemptionGates stays as it is.
  /// status.resourceRequests: what the scheduler saw while not reserved; absent when reserved.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Amount>>>> resource_requests;
};

/// A Workload object shall exist for this job, made from the templates that the mirror holds of the job.
struct WorkloadCreateIntent {
  std::string job_uid, job_kind, job_group, namespace_, job_name;
  std::string name;
  std::string queue_name;
  std::int32_t priority = 0;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  std::string priority_class;
  std::optional<std::int32_t> max_exec_seconds;
  std::string admission_gated_by;  ///< The annotation; empty: none.
  std::uint64_t decision_sequence = 0;
  // A slice of an elastic job (EJ-8): the templates are those of the slice that it replaces (EJ-149).
  std::string slice_name;                                    ///< Name of the chain's origin; empty: no slice.
  std::string replaces_uid;                                  ///< Empty: none.
  std::string replaces;                                      ///< "<namespace>/<name>".
  std::vector<std::pair<std::string, std::int32_t>> counts;  ///< With `replaces`: the size of the job, which need not stand in its text.
};

/// An Option of a Parent shall exist, made from the Parent as the mirror holds it (CA-5).
struct OptionCreateIntent {
  std::string parent_uid, namespace_, parent_name;
  std::string name;
  std::vector<std::string> flavors;  ///< Those that it may be assigned.
  bool active = true;
  std::uint64_t decision_sequence = 0;
};

/// A Workload that was made beforehand shall belong to the job that names it (label prebuilt-workload-name), if nobody else owns it.
struct WorkloadAdoptIntent {
  std::string namespace_, name;
  std::string job_uid, job_kind, job_group, job_name;
};

/// The spec of a Workload shall follow its job.
struct WorkloadReviseIntent {
  std::string uid, namespace_, name;
  std::string job_uid, job_kind, job_group, job_name;
  bool pod_sets = false;
  std::vector<std::pair<std::string, std::int32_t>> counts;  ///< The pod sets take these counts; empty: they stay as they are.
  std::vector<std::string> flavors;                          ///< Of an Option: those that it may be assigned; empty: they stay as they are.
  std::string queue_name;
  std::int32_t priority = 0;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  std::string priority_class;
  std::optional<std::int32_t> max_exec_seconds;
  bool resource_bounds = false;                   ///< The annotations about sizes follow the job, too.
  std::optional<std::string> admission_gated_by;  ///< The annotation takes this value, or goes when it is empty; nothing: it stays.
  std::uint64_t decision_sequence = 0;
};

/// What a start injects into one pod set of the job (base-api §7.1).
struct PodSetStart {
  std::string name;
  std::int32_t count = 0;
  std::vector<std::pair<std::string, std::string>> node_labels;  ///< Of the assigned flavors.
  std::vector<OwnedToleration> tolerations;                      ///< Of the assigned flavors.
  std::vector<std::string> pod_set_updates;                      ///< JSON of the Ready checks' entries for this pod set.
  bool placed = false;  ///< Its pods wait at the gate `kueue.x-k8s.io/topology` until each has its place (TAS-77).
};

/// What one pod set of a job was before its start, as far as the log tells.
struct PodSetBefore {
  std::string name;
  std::int32_t count = 0;
  std::vector<std::pair<std::string, std::string>> node_selector;
  std::vector<OwnedToleration> tolerations;
  bool asks_for_topology = false;
};

/// The job shall run or be stopped.
struct JobIntent {
  std::string uid, kind, group, namespace_, name;
  bool run = false;
  bool remove = false;   ///< The job shall be deleted in the background.
  std::string workload;  ///< Name of the Workload that lets it run, or whose templates a stop restores; may be empty.
  std::string workload_uid;
  std::string cluster_queue;
  std::string local_queue;
  std::string message;                ///< Why it is stopped.
  std::string slice_name;             ///< Of an elastic job: name of the chain's origin.
  std::vector<PodSetStart> pod_sets;  ///< A start: what it puts in. A stop with `before`: what its start has put in.
  std::vector<PodSetBefore> before;   ///< Of a stop whose Workload has gone, and with it the templates that a stop restores.
  std::vector<WantedSize> sizes;      ///< A start: the containers get these. A stop: they have these, and get back what they had.
  /// Of a stop: an earlier start may still be under way. When it is not, and the job is suspended, the job is observed with this as its
  /// `start_settled`; until then it keeps its quota. 0: nobody waits for that.
  std::uint64_t settles = 0;
  std::uint64_t decision_sequence = 0;
};

/// Status of a ClusterQueue or LocalQueue (base-api §2.2, §2.4).
struct QueueStatusIntent {
  bool local = false;
  std::string namespace_, name;
  std::int32_t pending = 0, reserving = 0, admitted = 0;
  bool active = false;
  std::string active_reason, active_message;
  Time active_since;
  struct Usage {
    std::string flavor;
    std::vector<std::pair<std::string, std::pair<Amount, Amount>>> resources;  ///< resource → (total, borrowed).
  };
  std::vector<Usage> reservation, usage;
  std::optional<std::int64_t> weighted_share;
  /// Of a LocalQueue with admission fair sharing: what it consumed, resource → quantity, sorted; and when that was sampled.
  std::optional<std::vector<std::pair<std::string, std::string>>> consumed;
  Time consumed_at;
};

/// The finalizer resource-in-use of a ClusterQueue, ResourceFlavor or AdmissionCheck (§8.8).
struct FinalizerIntent {
  ObjectKind kind = ObjectKind::unspecified;
  std::string name;
  bool held = true;  ///< false: the object is being deleted and may go.
};

/// A pod shall lose scheduling gates, and carry what a start puts into the pods of its pod set (EJ-68).
struct PodReleaseIntent {
  std::string uid, namespace_, name;
  std::uint64_t decision_sequence = 0;
  bool elastic_gate = false;                                     ///< The gate elastic-job goes.
  bool topology_gate = false;                                    ///< The gate topology goes (TAS-80).
  std::vector<std::pair<std::string, std::string>> node_labels;  ///< Of the flavors of its slice, and of its domain.
  std::vector<OwnedToleration> tolerations;                      ///< Of the flavors of its slice.
};

/// A pod that can start nowhere shall fail, so that its job makes another one (2724 §2.8).
struct PodFailIntent {
  std::string uid, namespace_, name;
  std::uint64_t decision_sequence = 0;
};

/// A Workload was set aside (ObjectQuarantined): its condition QuotaReserved says so, unless it holds quota.
struct QuarantineIntent {
  std::string uid, namespace_, name;
  std::string message;
  Time since;
};

using Intent = std::variant<WorkloadIntent, WorkloadCreateIntent, WorkloadReviseIntent, JobIntent, QueueStatusIntent, FinalizerIntent,
                            WorkloadAdoptIntent, PodReleaseIntent, QuarantineIntent, PodFailIntent, OptionCreateIntent>;

}  // namespace hindsight::admission
