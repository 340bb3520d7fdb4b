#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>

#include "admission/domain/state_view.hpp"

namespace hindsight::replay {

struct ObjectName {
  std::string kind;  ///< "Workload", "Job", "ClusterQueue", "Configuration", ...
  std::string namespace_;
  std::string name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

/// What is worth telling of a state, as texts: for each object its fields by their paths ("status.conditions[Admitted]",
/// "spec.quota[default/cpu].nominalQuota"). Made to be compared: equal states give equal pictures.
struct Picture {
  using FieldTexts = std::map<std::string, std::string>;
  std::map<ObjectName, FieldTexts> objects;
};

[[nodiscard]] Picture picture_of(const admission::StateView& state);
/// The same of the configuration and of those jobs and Workloads that are wanted: of a hundred thousand the texts take more room than the
/// state itself.
[[nodiscard]] Picture picture_of(const admission::StateView& state, const std::function<bool(const admission::WorkloadParent&)>& wants);

}  // namespace hindsight::replay
