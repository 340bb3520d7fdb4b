#pragma once

#include <cstddef>
#include <vector>

#include "vocabulary/observations.hpp"

namespace hindsight::whatif {

/// An observation that is kept until somebody is told of it: as a record that is in no log.
[[nodiscard]] std::vector<std::byte> encoded(const Observation& o);

}  // namespace hindsight::whatif
