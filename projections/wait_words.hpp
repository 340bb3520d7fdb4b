#pragma once

#include <cstddef>
#include <string>

#include "admission/model/workload_info.hpp"
#include "projections/wait_reasons.hpp"

namespace hindsight::projections {

/// Where somebody who waits stands in line.
struct StandsAt {
  std::size_t ahead = 0;  ///< So many are served before it.
  bool parked = false;    ///< It is not tried before something in the tree changes.
};

/// Why somebody waits, as a sentence without its subject: "waits for quota of default/cpu; 3 others are ahead".
[[nodiscard]] std::string wait_sentence(const WaitReason& reason);
[[nodiscard]] std::string wait_sentence(const WaitReason& reason, const StandsAt& place);
/// "holds default/cpu 4, default/memory 8Gi".
[[nodiscard]] std::string holding_sentence(const admission::Reservation& reservation);

}  // namespace hindsight::projections
