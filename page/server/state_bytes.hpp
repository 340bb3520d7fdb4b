#pragma once

#include <cstddef>

#include "admission/domain/state_view.hpp"

namespace hindsight::page {

/// About how much memory a state takes, to some tens of per cent: what its parents hold, and with it what queues and tables hold of each
/// Workload. Of a large state some parents stand for all, so it takes a millisecond at most.
[[nodiscard]] std::size_t estimated_bytes(const admission::StateView& state);

}  // namespace hindsight::page
