#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "projections/table.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::cli {

// Tables of objects as the API server gives them, with the columns of kueuectl. `now`: for ages. `namespaces`: with a column for them.

[[nodiscard]] projections::Table cluster_queue_list(const std::vector<Json>& items, Time now);
[[nodiscard]] projections::Table local_queue_list(const std::vector<Json>& items, Time now, bool namespaces);
[[nodiscard]] projections::Table resource_flavor_list(const std::vector<Json>& items, Time now);
[[nodiscard]] projections::Table pod_list(const std::vector<Json>& items, Time now, bool namespaces);

/// What a table of Workloads shows that does not stand in them; by "namespace/name" of LocalQueues and of Workloads.
struct WorkloadSurroundings {
  std::map<std::string, std::string> cluster_queues;  ///< Of LocalQueues.
  std::map<std::string, std::string> positions;       ///< Of pending Workloads in their LocalQueue, from 0.
};
[[nodiscard]] projections::Table workload_list(const std::vector<Json>& items, const WorkloadSurroundings& around, Time now,
                                               bool namespaces);

/// "finished", "admitted", "quotareserved" or "pending".
[[nodiscard]] std::string status_of_workload(const Json& workload);
/// Its condition Active is True.
[[nodiscard]] bool is_active_queue(const Json& queue);
/// The ClusterQueue that it holds quota in, or waits for; empty: unknown.
[[nodiscard]] std::string cluster_queue_of(const Json& workload, const WorkloadSurroundings& around);
/// "namespace/name", for the maps above.
[[nodiscard]] std::string full_name_of(const Json& object);
[[nodiscard]] std::string local_queue_of(const Json& workload);

}  // namespace hindsight::cli
