#pragma once

#include <string>

#include "admission/quota/fair_share.hpp"

namespace hindsight::projections {

/// A dominant resource share, as the status has it: rounded up, or "infinite". `exact`: with three digits.
[[nodiscard]] std::string share_words(const admission::Share& share, bool exact);
/// Would rounding hide a difference that decides?
[[nodiscard]] bool differ_when_exact(const admission::Share& a, const admission::Share& b);

}  // namespace hindsight::projections
