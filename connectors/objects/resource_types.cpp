#include "connectors/objects/resource_types.hpp"

#include <utility>

#include "connectors/jobs/integrations.hpp"

namespace hindsight::connectors {

ObjectKind object_kind(const ResourceType& type) {
  constexpr std::array<std::pair<const ResourceType*, ObjectKind>, 12> kinds{{
      {&types::resource_flavor, ObjectKind::resource_flavor},
      {&types::cluster_queue, ObjectKind::cluster_queue},
      {&types::cohort, ObjectKind::cohort},
      {&types::local_queue, ObjectKind::local_queue},
      {&types::workload_priority_class, ObjectKind::workload_priority_class},
      {&types::priority_class, ObjectKind::priority_class},
      {&types::namespace_, ObjectKind::namespace_},
      {&types::admission_check, ObjectKind::admission_check},
      {&types::topology, ObjectKind::topology},
      {&types::node, ObjectKind::node},
      {&types::workload, ObjectKind::workload},
      {&types::pod, ObjectKind::pod},
  }};
  for (const auto& [known, kind] : kinds)
    if (known->kind == type.kind && known->group == type.group) return kind;
  return find_integration(type.kind, type.group) != nullptr ? ObjectKind::job : ObjectKind::unspecified;
}

}  // namespace hindsight::connectors
