#include "whatif/object_key.hpp"

#include <variant>

namespace hindsight::whatif {

std::string full(const ObjectMeta& meta) { return std::string(meta.namespace_) + "/" + std::string(meta.name); }

const ObjectKey& configuration_key() {
  static const ObjectKey key{ObjectKind::unspecified, "configuration"};
  return key;
}

std::optional<ObjectKey> key_of(const Observation& o) {
  const auto keyed = [](ObjectKind kind, const ObjectMeta& meta) { return std::optional(std::pair(kind, full(meta))); };
  if (const auto* x = std::get_if<ResourceFlavorObserved>(&o)) return keyed(ObjectKind::resource_flavor, x->meta);
  if (const auto* x = std::get_if<ClusterQueueObserved>(&o)) return keyed(ObjectKind::cluster_queue, x->meta);
  if (const auto* x = std::get_if<CohortObserved>(&o)) return keyed(ObjectKind::cohort, x->meta);
  if (const auto* x = std::get_if<LocalQueueObserved>(&o)) return keyed(ObjectKind::local_queue, x->meta);
  if (const auto* x = std::get_if<WorkloadPriorityClassObserved>(&o)) return keyed(ObjectKind::workload_priority_class, x->meta);
  if (const auto* x = std::get_if<PriorityClassObserved>(&o)) return keyed(ObjectKind::priority_class, x->meta);
  if (const auto* x = std::get_if<NamespaceObserved>(&o)) return keyed(ObjectKind::namespace_, x->meta);
  if (const auto* x = std::get_if<AdmissionCheckObserved>(&o)) return keyed(ObjectKind::admission_check, x->meta);
  if (const auto* x = std::get_if<TopologyObserved>(&o)) return keyed(ObjectKind::topology, x->meta);
  if (const auto* x = std::get_if<NodeObserved>(&o)) return keyed(ObjectKind::node, x->meta);
  if (const auto* x = std::get_if<JobObserved>(&o)) return keyed(ObjectKind::job, x->meta);
  if (const auto* x = std::get_if<WorkloadObserved>(&o)) return keyed(ObjectKind::workload, x->meta);
  if (std::holds_alternative<ConfigurationObserved>(o)) return configuration_key();
  if (const auto* x = std::get_if<ObjectDeleted>(&o)) return std::pair(x->kind, std::string(x->namespace_) + "/" + std::string(x->name));
  return std::nullopt;
}

}  // namespace hindsight::whatif
