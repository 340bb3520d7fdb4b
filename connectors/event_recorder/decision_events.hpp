#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "connectors/event_recorder/event_facts.hpp"
#include "connectors/kubernetes/kubernetes_event.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::connectors {

/// The Kubernetes Events that a step is worth (base-api §8.1), one for each cause (BA-191), in the order of the decisions. `now` is the
/// record's time and `facts` the state after it was applied: a decision that was void gives no event. Messages are not cut yet.
[[nodiscard]] std::vector<kubernetes::KubernetesEvent> decision_events(const Decisions& decisions, Time now, const FactSource& facts);

/// The same for a record that was just applied to `state`. A decision gives none when its epoch is over or it was in the log before. Of
/// observations those of jobs that cannot go on as they are give one: WorkloadPriorityClassNotFound, JobNestingTooDeep, Suspended; and
/// those of Workloads that hold quota and wait for admission checks that say why (UpdatedAdmissionCheck, on the job).
[[nodiscard]] std::vector<kubernetes::KubernetesEvent> record_events(const RecordView& record, const admission::StateView& state);

/// An event that no decision stands for, from whoever saw its cause: ErrWorkloadCompose, JobNestingTooDeep, ... on a job. Normal or
/// Warning as base-api §8.1 says for the reason.
[[nodiscard]] kubernetes::KubernetesEvent job_event(const JobRef& job, std::string_view reason, std::string message, Time now);
/// The same on a Workload: AdmissionCheckUpdated, ProvisioningRequestCreated, FailedCreate, ...
[[nodiscard]] kubernetes::KubernetesEvent workload_event(const WorkloadRef& workload, std::string_view reason, std::string message,
                                                         Time now);

}  // namespace hindsight::connectors
