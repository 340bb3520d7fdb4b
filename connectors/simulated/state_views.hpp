#pragma once

#include "connectors/simulated/simulated_cluster.hpp"

namespace hindsight::connectors::simulated {

// What a state holds of each object: the format of tests/conformance/tools/drive.py, field by field.

[[nodiscard]] Json job_view(const StoredObject& job);
[[nodiscard]] Json workload_view(const StoredObject& workload);
[[nodiscard]] Json queue_view(const StoredObject& queue);

/// {"jobs": {"Job/default/j0": …}, "workloads": {"Job/default/j0": …, "Job/default/j0#1": …}, "clusterQueues": {"q0": …}}.
/// Workloads are named after their controller; later ones of the same controller get a number, in order of creation.
[[nodiscard]] Json state_of(const SimulatedCluster& cluster);

}  // namespace hindsight::connectors::simulated
