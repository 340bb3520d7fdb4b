#pragma once

#include <string>
#include <string_view>

#include "admission/model/workload_info.hpp"
#include "admission/scheduling/assignment.hpp"
#include "admission/scheduling/preemption.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

// The words that a cycle writes (base-admission §4, §5.6, §6.2, §7.6; base-api §6.2, §6.3).

/// Reasons of QuotaReserved=False.
namespace reason {
inline const Symbol admission_gated{"AdmissionGated"};
inline const Symbol exceeds_max_quota{"ExceedsMaxQuota"};
inline const Symbol misconfigured{"Misconfigured"};
inline const Symbol no_matching_flavor{"NoMatchingFlavor"};
inline const Symbol pending_evaluation{"PendingEvaluation"};
inline const Symbol suspended{"Suspended"};
inline const Symbol topology_placement_failed{"TopologyPlacementFailed"};
inline const Symbol waiting_for_pods_ready{"WaitingForPodsReady"};
inline const Symbol waiting_for_preempted_workloads{"WaitingForPreemptedWorkloads"};
inline const Symbol waiting_for_quota{"WaitingForQuota"};
}  // namespace reason

[[nodiscard]] Symbol reason_symbol(NoFitReason r);
/// Reason of condition Preempted: InClusterQueue, InCohortReclamation, ... (BA-113).
[[nodiscard]] Symbol reason_symbol(VictimReason r);

[[nodiscard]] std::string text_of(const Finding& finding);
/// "couldn't assign flavors to pod set P: …" for every pod set that does not fit at once (BA-93).
[[nodiscard]] std::string assignment_message(const WorkloadInfo& workload, const Assignment& assignment);

/// Follows the message of a workload that preempts some victims no more, because they come back each time (D13); 0: nothing.
[[nodiscard]] std::string left_alone_message(std::size_t victims);

/// Of the condition Finished of a slice that gave its place to another (77 §2.3).
[[nodiscard]] std::string replaced_message(std::string_view uid, std::string_view job_uid);

/// Of the condition Evicted of an Option that a better one takes the place of (8691 §2.8).
[[nodiscard]] std::string migrated_message(std::string_view uid);

/// Message of both conditions of a victim (BA-114). Paths are "/root/…/queue"; what is empty prints UNKNOWN.
[[nodiscard]] std::string preempted_message(const WorkloadInfo& preemptor, VictimReason reason, std::string_view preemptor_path,
                                            std::string_view victim_path);

}  // namespace hindsight::admission
