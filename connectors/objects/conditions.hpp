#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "connectors/json/json_value.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors {

/// One metav1.Condition as it shall be.
struct ConditionText {
  std::string_view type, status, reason, message;
  Time last_transition;
};

/// The list of conditions with those that `is_ours` set exactly to `wanted`: equal ones stay as they are, others get `generation`
/// as observedGeneration; what is not ours stays; new ones come last. Messages are cut (BA-21).
[[nodiscard]] Json merged_conditions(const Json& conditions, const std::vector<ConditionText>& wanted,
                                     bool (*is_ours)(std::string_view type), std::int64_t generation);

/// metadata.generation, or 0.
[[nodiscard]] std::int64_t generation_of(const Json& object);

}  // namespace hindsight::connectors
