#pragma once

#include <string>

#include "bench/generator/generator.hpp"
#include "connectors/json/json_value.hpp"

namespace hindsight::bench {

/// All Workloads of the load live here.
inline constexpr const char* load_namespace = "default";

/// The generator with `scale` of each queue's Workloads, at least one of each class.
[[nodiscard]] Generator scaled(Generator generator, double scale);

/// A List of the flavor, the ClusterQueues and their LocalQueues.
[[nodiscard]] connectors::Json queue_objects(const Generator& generator);
[[nodiscard]] connectors::Json workload_object(const Generator& generator, const Arrival& arrival);

// Bodies of status patches. `conditions` are those that the object has; a merge patch replaces the list.

/// What a controller writes when it admits.
[[nodiscard]] connectors::Json admission_status(const Generator& generator, const Arrival& arrival);
/// What the owner writes when the work is done.
[[nodiscard]] connectors::Json finished_status(const connectors::Json& conditions);
/// The same as a server-side apply, on the condition that the Workload is as it was seen.
[[nodiscard]] connectors::Json applied_end(const connectors::Json& workload);
/// What the owner writes when it has stopped the work of an evicted Workload.
[[nodiscard]] connectors::Json cleared_status(const connectors::Json& conditions);

}  // namespace hindsight::bench
