#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/model/intents.hpp"
#include "connectors/cluster.hpp"
#include "connectors/jobs/job_integration.hpp"
#include "connectors/json/json_value.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

// From what the state wants to the writes that are missing (rule 5). Pure functions of the intent and of the objects as the mirror saw
// them last, as whole JSON objects. An intent that is already true gives no write. Where more than one write is missing they
// come in the order in which they are to be made; each that replaces something carries uid and resourceVersion, so that after each
// the plan is to be made anew from the answer. An object with another uid than the intent's is not touched.

/// Settings that plans depend on (base-api §11, §12).
struct PlanSettings {
  bool partial_admission = true;                ///< Gate PartialAdmission; off: minCount is dropped.
  bool topologies = true;                       ///< Gate TopologyAwareScheduling; off: topologyRequest is dropped.
  std::vector<std::string> label_keys_to_copy;  ///< integrations.labelKeysToCopy.
  TemplateMutability template_mutability = TemplateMutability::suspended;
};

/// Status, spec.active, markers, finalizer and existence of a Workload. `remove` drops our finalizer and deletes the object; its status
/// does not matter any more. Conditions that an intent names are ours, conditions of unknown types stay as they are. Checks are written by
/// their controllers too: they stay as they are where the intent decides nothing about them. So do preemption gates that it does not name.
[[nodiscard]] std::vector<Write> plan_workload(const admission::WorkloadIntent& intent, const Json& workload);

/// Is it a reason for which a Workload without quota is tried again and again, so that its message says something else in each cycle?
[[nodiscard]] bool is_told_each_cycle(std::string_view reason);
/// Does this write to the Workload's status change nothing but what cycles say: the message of a condition QuotaReserved with such a
/// reason, and amounts in the messages of pending Options?
[[nodiscard]] bool only_rewords(const Write& write, const Json& workload);

/// Is the Workload marked as a Parent, in both ways (8691 §2.6)?
[[nodiscard]] bool has_parent_markers(const Json& workload);
/// Is it marked, or not, as the intent wants it?
[[nodiscard]] bool shows_markers(const admission::WorkloadIntent& intent, const Json& workload);

/// The Workload of a job (base-api §3). `replaced`: the slice that the new one shall replace, if the intent names one; its templates are
/// taken, since those of the job carry what the start injected (EJ-149). Errors: unsupported when no integration knows the kind.
[[nodiscard]] Result<Write> plan_create(const admission::WorkloadCreateIntent& intent, const Json& job, const PlanSettings& settings = {},
                                        const Json& replaced = Json::object());

/// An Option of a Parent: what it asks for is the Parent's, and only the intent's flavors may be assigned to it (8691 CA-5). Without
/// finalizer, and without lower bounds of counts: Options are tried at full count (CA-58).
[[nodiscard]] Write plan_create_option(const admission::OptionCreateIntent& intent, const Json& parent);

/// Does the Parent with this uid control the Workload (8691 §2.6)?
[[nodiscard]] bool is_option_of(const Json& workload, std::string_view parent_uid);

/// A prebuilt Workload becomes the job's, unless it has a controller already.
[[nodiscard]] std::optional<Write> plan_adopt(const admission::WorkloadAdoptIntent& intent, const Json& workload);

/// The spec of a Workload after its job, or of an Option after its Parent: pod sets when the intent says so, queue, priority, maximum
/// execution time, and annotation admission-gated-by in the same write (SG-62). `job` may be empty when the intent names none. Errors: as
/// plan_create().
[[nodiscard]] Result<std::vector<Write>> plan_revise(const admission::WorkloadReviseIntent& intent, const Json& workload, const Json& job,
                                                     const PlanSettings& settings = {});

/// The condition QuotaReserved of a Workload that was set aside; nothing of one that holds quota or has ended, whose conditions are as they
/// were.
[[nodiscard]] std::optional<Write> plan_quarantine(const admission::QuarantineIntent& intent, const Json& workload);

/// Takes the scheduling gate elastic-job from a pod; other gates stay (EJ-76).
/// The pod fails, and its status says that it was we (2724 §2.8).
[[nodiscard]] std::optional<Write> plan_fail(const admission::PodFailIntent& intent, const Json& pod);
[[nodiscard]] std::optional<Write> plan_release(const admission::PodReleaseIntent& intent, const Json& pod);

/// Starts or stops a job (base-api §7.1). A stop that was begun is completed before a start; it may give no write while it waits for the
/// job's status to change. `workload`: the one whose templates a stop restores; may be empty.
/// Errors: invalid when the job can never be started so (FailedToStart); unsupported as plan_create().
[[nodiscard]] Result<std::vector<Write>> plan_job(const admission::JobIntent& intent, const Json& job, const Json& workload,
                                                  TemplateMutability mutability = TemplateMutability::suspended);

/// The finalizer resource-in-use of a configuration object. One that is being deleted gets none any more.
[[nodiscard]] std::optional<Write> plan_finalizer(const admission::FinalizerIntent& intent, const Json& object);

/// The kind of object that a FinalizerIntent speaks of; nullptr: none of ours.
[[nodiscard]] const ResourceType* held_type(ObjectKind kind);

/// Status of a ClusterQueue or LocalQueue (base-api §2.2, §2.4).
[[nodiscard]] std::optional<Write> plan_queue_status(const admission::QueueStatusIntent& intent, const Json& queue);

/// A mirrored object in the form that plans take: without metadata.managedFields, which are half of many objects.
/// Faster than Json::parse. Errors: invalid.
[[nodiscard]] Result<Json> parse_object(std::string_view text);

}  // namespace hindsight::connectors
