#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/topology/topology_room.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::projections {

/// How large a gang one domain of a level has room for, and how scattered the room is.
struct LevelRoom {
  std::string level;
  std::int64_t domains = 0, empty = 0;  ///< In how many of them nobody stands.
  std::int64_t pods = 0;                ///< That find room in all of them together.
  std::int64_t largest = 0;             ///< In one of them.
  std::string where;                    ///< The first such one, as a path.
  std::int64_t in_used = 0;             ///< Of `pods`: in domains where somebody stands already.
};

/// From the top. Taints and selectors are left aside.
[[nodiscard]] std::vector<LevelRoom> gang_room(admission::topology::TopologyRoom& room, std::uint32_t flavor,
                                               const admission::topology::PodRequest& pod);

/// What the nodes of one domain offer without what pods of others use, and what of it is free.
struct DomainAmounts {
  std::string level, domain;  ///< The domain as a path.
  std::vector<std::pair<Symbol, std::pair<Amount, Amount>>> amounts;
};
/// Of so many levels from the top, one after the other.
[[nodiscard]] std::vector<DomainAmounts> domain_amounts(const admission::topology::TopologyRoom& room, std::uint32_t flavor,
                                                        std::size_t levels);

/// A pod to measure with: one of the resource that is made of devices ("nvidia.com/gpu"), the first by name, else one core.
[[nodiscard]] admission::topology::PodRequest measuring_pod(const admission::topology::TopologyRoom& room, std::uint32_t flavor);
/// Reads "nvidia.com/gpu=8,cpu=32". Errors: invalid, when the text names the part that is no resource with a quantity above 0.
[[nodiscard]] Result<admission::topology::PodRequest> parse_pod(std::string_view text);
/// "1 nvidia.com/gpu, 4 cpu"; the slot of the pod is left out.
[[nodiscard]] std::string words_of(const admission::topology::PodRequest& pod);

/// All flavors with a topology, and who holds places in them; nothing: topologies are switched off.
[[nodiscard]] std::optional<admission::topology::TopologyRoom> whole_room(const admission::StateView& state);

}  // namespace hindsight::projections
