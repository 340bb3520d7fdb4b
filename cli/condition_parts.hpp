#pragma once

#include <optional>
#include <vector>

#include "cli/condition.hpp"
#include "cli/json_path.hpp"
#include "cli/naming.hpp"
#include "cli/short_values.hpp"

namespace hindsight::cli {

/// What a value is of.
struct ObjectValue::Parts {
  const KnownKind* kind = nullptr;
  WantedName name;
  std::optional<JsonPath> path;
  std::optional<ShortValue> field;  ///< In place of a path.

  /// ObjectValue::in. `parent`: of a Workload, who has it; null: it is not there.
  [[nodiscard]] std::vector<Json> in(const admission::StateView& state, const admission::WorkloadParent*& parent) const;
};

}  // namespace hindsight::cli
