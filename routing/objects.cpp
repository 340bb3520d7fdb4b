#include "routing/objects.hpp"

#include <tuple>
#include <type_traits>

#include "vocabulary/observed_kind.hpp"

namespace hindsight::routing {

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
    case ObjectKind::node:
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
        else if constexpr (std::is_same_v<T, NodeUsageObserved>)
          return ObjectKey{ObjectKind::node, "usage", std::string(x.node), {}};  // no node has a namespace
        else if constexpr (observed_kind<T>() == ObjectKind::unspecified)
          return std::nullopt;
        else
          return ObjectKey{observed_kind<T>(), std::string(x.meta.namespace_), std::string(x.meta.name), std::string(x.meta.uid)};
      },
      o);
}

}  // namespace hindsight::routing
