#pragma once

#include <string>
#include <string_view>

#include "simulation/trace.hpp"

namespace hindsight::simulation {

/// Reads a trace of the Standard Workload Format (version 2.2): lines of 18 fields, comments that begin with ';', −1 for what is not known.
/// A pod is a processor. Of its queue: partition is "partition-N" (field 16), account "group-N" (13), user "user-N" (12). Errors: invalid
/// (too many bad lines).
[[nodiscard]] Result<TraceRead> read_swf(std::string_view text, const std::string& file);

}  // namespace hindsight::simulation
