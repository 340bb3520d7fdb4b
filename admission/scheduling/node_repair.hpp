#pragma once

#include <string>
#include <vector>

#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::admission {

/// Places for the pods of a workload that stood on failed nodes (2724 §3.11, TAS-98 to TAS-102): the pod sets that change, with other
/// hosts. The rest of the workload stays, nobody else has to go, and no failed node is taken. Error: the message of its eviction.
[[nodiscard]] tl::expected<std::vector<PodSetReservation>, std::string> replace_failed_nodes(const Reservation& reservation,
                                                                                             const QuotaTree::Queue& queue,
                                                                                             const PodPlacer& placer,
                                                                                             const Settings& settings);

}  // namespace hindsight::admission
