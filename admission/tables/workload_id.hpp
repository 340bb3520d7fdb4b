#pragma once

#include <cstdint>

namespace hindsight::admission {

/// Number of a Workload object inside its domain; given out by the domain, reused after deletion. Not for ordering.
using WorkloadId = std::uint32_t;
inline constexpr WorkloadId no_workload = ~WorkloadId{0};

}  // namespace hindsight::admission
