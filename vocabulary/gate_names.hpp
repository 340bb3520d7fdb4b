#pragma once

#include <string_view>
#include <vector>

namespace hindsight {

/// The names in the value of annotation admission-gated-by, a list with commas between, without the spaces around them; in their order,
/// with empty ones and doubles (6915 §2.1, SG-11).
[[nodiscard]] std::vector<std::string_view> gate_names(std::string_view value);

/// Whether `after` differs from `before` and names only gates that `before` names: a list that became shorter, was ordered anew or went
/// (SG-61). Nothing shrinks from an empty value.
[[nodiscard]] bool shrinks_gates(std::string_view before, std::string_view after);

}  // namespace hindsight
