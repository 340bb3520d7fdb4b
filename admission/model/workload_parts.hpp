#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "admission/model/workload_state.hpp"

// What the files of WorkloadState share.

namespace hindsight::admission {

[[nodiscard]] constexpr std::uint32_t bit(Section s) { return 1U << static_cast<unsigned>(s); }
[[nodiscard]] constexpr std::uint32_t bit(ConditionType t) { return 1U << static_cast<unsigned>(t); }

[[nodiscard]] std::vector<SizedPart> own_sized(List<SizedContainer> facts);
[[nodiscard]] std::optional<TopologyRequest> own_topology(const PodSetFacts& f);

}  // namespace hindsight::admission
