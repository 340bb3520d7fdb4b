#pragma once

#include <cstddef>

#include "vocabulary/decisions.hpp"

namespace hindsight::admission {

/// How many bytes the event takes in a record at most. A function of what it says alone: the same before it is written and after it was
/// read back, whatever an encoder makes of it.
[[nodiscard]] std::size_t event_bytes(const Event& event);

}  // namespace hindsight::admission
