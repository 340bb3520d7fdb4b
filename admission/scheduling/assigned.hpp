#pragma once

#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/assignment.hpp"
#include "admission/topology/topology_room.hpp"

namespace hindsight::admission {

/// What a workload reserves with an assignment: flavors, amounts and places by pod set. `room`: null where there are no topologies.
[[nodiscard]] std::vector<PodSetReservation> reservation_of(const WorkloadInfo& workload, const Assignment& assignment,
                                                            const topology::TopologyRoom* room);

/// Are all checks that the assigned flavors require Ready, and all places known? Then it is admitted with its reservation (§6.2 step 10).
[[nodiscard]] bool needs_no_checks(const WorkloadInfo& workload, const Assignment& assignment, const QueueConfig& queue);

/// CA-153: an Option of several flavors may be better than the one that is admitted, and fit only on a flavor that is not. `running`: what
/// that one holds; null: it is not known, and anything is better.
[[nodiscard]] bool improves(const Assignment& assignment, const QuotaTree::Queue& queue, const QuotaTree::Entry* running);

}  // namespace hindsight::admission
