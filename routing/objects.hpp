#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "vocabulary/observations.hpp"

namespace hindsight::routing {

/// An object of the cluster. Jobs, Workloads and pods are the same as long as their uid is, all others as long as their name is.
struct ObjectKey {
  ObjectKind kind = ObjectKind::unspecified;
  std::string namespace_, name, uid;

  [[nodiscard]] bool by_uid() const { return kind == ObjectKind::job || kind == ObjectKind::workload || kind == ObjectKind::pod; }
  [[nodiscard]] ObjectDeleted deleted(std::string_view departed_to = {}) const { return {kind, namespace_, name, uid, departed_to}; }
  friend std::strong_ordering operator<=>(const ObjectKey& a, const ObjectKey& b);
  friend bool operator==(const ObjectKey& a, const ObjectKey& b) { return (a <=> b) == 0; }
};

/// Does every domain hold objects of the kind? Others belong to one, but for nodes (node_audiences.hpp).
[[nodiscard]] bool is_everywhere(ObjectKind kind);

/// What the observation shows; nothing for time, lists and refusals. The configuration is an object without name, of no kind.
[[nodiscard]] std::optional<ObjectKey> object_of(const Observation& o);

}  // namespace hindsight::routing
