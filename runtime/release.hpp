#pragma once

namespace hindsight::runtime {

/// Version of this software, as records and snapshots carry it.
inline constexpr const char* release = "0.1.0";

}  // namespace hindsight::runtime
