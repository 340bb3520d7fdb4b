#include "routing/objects.hpp"

#include <tuple>
#include <type_traits>

namespace hindsight::routing {
namespace {

template <class T>
constexpr ObjectKind kind_of() {
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

}  // namespace

std::strong_ordering operator<=>(const ObjectKey& a, const ObjectKey& b) {
  if (const auto order = a.kind <=> b.kind; order != 0) return order;
  if (a.by_uid()) return a.uid <=> b.uid;
  return std::tie(a.namespace_, a.name) <=> std::tie(b.namespace_, b.name);
}

bool is_everywhere(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::cluster_queue:
    case ObjectKind::cohort:
    case ObjectKind::local_queue:
    case ObjectKind::job:
    case ObjectKind::workload:
    case ObjectKind::pod:
      return false;
    default:
      return true;
  }
}

std::optional<ObjectKey> object_of(const Observation& o) {
  return std::visit(
      []<class T>(const T& x) -> std::optional<ObjectKey> {
        if constexpr (std::is_same_v<T, ConfigurationObserved>)
          return ObjectKey{};
        else if constexpr (kind_of<T>() == ObjectKind::unspecified)
          return std::nullopt;
        else
          return ObjectKey{kind_of<T>(), std::string(x.meta.namespace_), std::string(x.meta.name), std::string(x.meta.uid)};
      },
      o);
}

}  // namespace hindsight::routing
