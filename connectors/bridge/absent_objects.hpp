#pragma once

#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "connectors/bridge/bridge.hpp"

namespace hindsight::connectors {

/// An object that the state knows and the cluster has no more.
struct AbsentObject {
  ObjectKind kind = ObjectKind::unspecified;
  std::string namespace_, name, uid;

  [[nodiscard]] ObjectDeleted view() const { return {kind, namespace_, name, uid}; }
};

/// After the first complete list: what was deleted while nobody watched. A deletion that is reported once more later does no harm.
/// Objects of the same name with another uid count as absent for Workloads and jobs.
[[nodiscard]] std::vector<AbsentObject> find_absent(const admission::StateView& state, const Mirror& mirror);

}  // namespace hindsight::connectors
