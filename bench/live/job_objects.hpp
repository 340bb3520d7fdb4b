#pragma once

#include <cstddef>
#include <string>

#include "connectors/json/json_value.hpp"

namespace hindsight::bench {

/// The ClusterQueue, and the LocalQueue of all Jobs of the load.
inline constexpr const char* job_queue = "jobs";
inline constexpr const char* job_flavor = "default-flavor";

[[nodiscard]] std::string job_name(std::size_t number);
/// A suspended Job of one pod, which asks for one cpu.
[[nodiscard]] connectors::Json job_object(std::size_t number);
/// A List of the flavor, the ClusterQueue with room for `slots` Jobs, and its LocalQueue.
[[nodiscard]] connectors::Json job_queue_objects(std::size_t slots);
/// The status that the Job controller gives a Job of one pod that has run: all that the API server demands of a complete one.
[[nodiscard]] connectors::Json complete_status();

}  // namespace hindsight::bench
