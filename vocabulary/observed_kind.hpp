#pragma once

#include <type_traits>

#include "vocabulary/observations.hpp"

namespace hindsight {

/// The kind of object that an observation of type T tells of; unspecified where it tells of none, or of its end.
template <class T>
constexpr ObjectKind observed_kind() {
  if constexpr (std::is_same_v<T, ResourceFlavorObserved>) return ObjectKind::resource_flavor;
  if constexpr (std::is_same_v<T, ClusterQueueObserved>) return ObjectKind::cluster_queue;
  if constexpr (std::is_same_v<T, CohortObserved>) return ObjectKind::cohort;
  if constexpr (std::is_same_v<T, LocalQueueObserved>) return ObjectKind::local_queue;
  if constexpr (std::is_same_v<T, WorkloadPriorityClassObserved>) return ObjectKind::workload_priority_class;
  if constexpr (std::is_same_v<T, PriorityClassObserved>) return ObjectKind::priority_class;
  if constexpr (std::is_same_v<T, NamespaceObserved>) return ObjectKind::namespace_;
  if constexpr (std::is_same_v<T, AdmissionCheckObserved>) return ObjectKind::admission_check;
  if constexpr (std::is_same_v<T, TopologyObserved>) return ObjectKind::topology;
  if constexpr (std::is_same_v<T, NodeObserved>) return ObjectKind::node;
  if constexpr (std::is_same_v<T, JobObserved>) return ObjectKind::job;
  if constexpr (std::is_same_v<T, WorkloadObserved>) return ObjectKind::workload;
  if constexpr (std::is_same_v<T, PodObserved>) return ObjectKind::pod;
  return ObjectKind::unspecified;
}

}  // namespace hindsight
