#pragma once

#include <string_view>

#include "tests/actors/facts.hpp"

namespace hindsight::actors::testing {

/// Another controller beside us, as it shows in the statuses that it writes to Workloads: what Kueue leaves there.
class ForeignController {
 public:
  /// Versions of objects go on from here, above those of `Facts`.
  explicit ForeignController(std::uint64_t version = 1'000) : version_(version) {}

  /// The same Workload with its quota, admitted at once.
  WorkloadObserved admitted(WorkloadObserved w, std::string_view queue, std::string_view flavor, Time now) {
    auto flavors = arena_.make<FlavorChoice>(1);
    flavors[0] = {"cpu", arena_.copy(flavor)};
    auto usage = arena_.make<ResourceAmount>(1);
    usage[0] = w.pod_sets[0].requests[0];
    auto assignments = arena_.make<PodSetAssignmentFacts>(1);
    assignments[0].pod_set = w.pod_sets[0].name;
    assignments[0].count = w.pod_sets[0].count;
    assignments[0].flavors = flavors;
    assignments[0].usage = usage;
    auto conditions = arena_.make<ConditionFacts>(2);
    conditions[0] = {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved", now};
    conditions[1] = {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", now};
    w.meta.resource_version = ++version_;
    w.has_admission = true;
    w.admission_cluster_queue = arena_.copy(queue);
    w.assignments = assignments;
    w.conditions = conditions;
    return w;
  }
  /// The same, preempted for `preemptor`; it still has its quota, because its job has not stopped.
  WorkloadObserved preempted(WorkloadObserved w, std::string_view preemptor_uid, Time now) {
    auto conditions = arena_.make<ConditionFacts>(w.conditions.size() + 2);
    for (std::size_t i = 0; i < w.conditions.size(); ++i) conditions[i] = w.conditions[i];
    const auto message = arena_.copy("Preempted to accommodate a workload (UID: " + std::string(preemptor_uid) +
                                     ", JobUID: UNKNOWN) due to prioritization in the ClusterQueue");
    conditions[w.conditions.size()] = {ConditionType::evicted, ConditionStatus::true_, "Preempted", message, now};
    conditions[w.conditions.size() + 1] = {ConditionType::preempted, ConditionStatus::true_, "InClusterQueue", message, now};
    w.meta.resource_version = ++version_;
    w.conditions = conditions;
    return w;
  }
  /// The same, without its quota: its job has stopped.
  WorkloadObserved released(WorkloadObserved w, Time now) {
    auto conditions = arena_.make<ConditionFacts>(2);
    conditions[0] = {ConditionType::quota_reserved, ConditionStatus::false_, "Pending", "Preempted", now};
    conditions[1] = {ConditionType::admitted, ConditionStatus::false_, "NoReservation", "The workload has no reservation", now};
    w.meta.resource_version = ++version_;
    w.has_admission = false;
    w.admission_cluster_queue = {};
    w.assignments = {};
    w.conditions = conditions;
    return w;
  }
  /// The same, evicted for a reason that is no preemption.
  WorkloadObserved evicted(WorkloadObserved w, std::string_view reason, Time now) {
    auto conditions = arena_.make<ConditionFacts>(w.conditions.size() + 1);
    for (std::size_t i = 0; i < w.conditions.size(); ++i) conditions[i] = w.conditions[i];
    conditions[w.conditions.size()] = {ConditionType::evicted, ConditionStatus::true_, arena_.copy(reason), "it had to go", now};
    w.meta.resource_version = ++version_;
    w.conditions = conditions;
    return w;
  }

 private:
  Arena arena_;
  std::uint64_t version_;
};

}  // namespace hindsight::actors::testing
