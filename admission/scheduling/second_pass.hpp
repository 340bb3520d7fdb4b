#pragma once

#include <string>
#include <vector>

#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::admission {

/// Time before the first second pass, and before the next one after so many in vain: twice as long each time, up to half a minute (TAS-92).
[[nodiscard]] Duration second_pass_wait(std::int32_t in_vain);

/// Places for pod sets that got their quota before there were nodes (2724 §4.8): the pod sets that waited for them, with places. Their
/// flavors stay, and so do the places of the others. Error: why there are none, for the event.
[[nodiscard]] tl::expected<std::vector<PodSetReservation>, std::string> place_delayed(const Reservation& reservation,
                                                                                      const QuotaTree::Queue& queue,
                                                                                      const PodPlacer& placer);

/// Other places for all pods of a workload that have some, as if it had none in `placer`'s room: the pod sets that have places. Error: as
/// above.
[[nodiscard]] tl::expected<std::vector<PodSetReservation>, std::string> place_again(const Reservation& reservation,
                                                                                    const QuotaTree::Queue& queue, const PodPlacer& placer);

}  // namespace hindsight::admission
