#pragma once

#include <cstddef>
#include <vector>

#include "admission/model/workload_state.hpp"
#include "admission/options/option_plan.hpp"

namespace hindsight::admission {

/// The members of a family of concurrent admission as they stand to each other (8691). Positions in the list of Workloads of their entity.
struct Family {
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t parent = none;
  const QueueConfig* queue = nullptr;  ///< Where the family is to be queued; null: there is no such ClusterQueue now.
  std::vector<OptionSpec> specs;       ///< By rank.
  std::vector<std::size_t> members;    ///< By rank; none: it is not there.
  std::vector<std::size_t> strangers;  ///< Options that are none of these any more, or never were.
  std::size_t running = none;          ///< The one that is admitted (A of the specification), also while it is on its way out.
  FlavorPositions running_on;          ///< The flavors that it was assigned.
  [[nodiscard]] std::size_t rank_of(std::size_t index) const {
    for (std::size_t r = 0; r < members.size(); ++r)
      if (members[r] == index) return r;
    return none;
  }
};

/// What a Workload is to families.
enum class FamilyRole : std::uint8_t {
  plain,    ///< It has to do with none.
  parent,   ///< Options are queued in its place, or will be.
  option,   ///< It is queued in place of its Parent.
  stray,    ///< Made as an Option, and its Parent is none, or is not there.
  refused,  ///< It would be a Parent, but such a Workload cannot be one (CA-95).
};

/// Is it as much an Option of this Parent as its owner reference says? It asks for the same, or whoever made it wants quota for something
/// else (CA-10).
[[nodiscard]] bool asks_for_the_same(const WorkloadState& option, const WorkloadState& parent);

/// What is known of an Option; of one that nothing was decided about yet: nothing.
[[nodiscard]] const OptionState& option_state(const WorkloadState& w);

}  // namespace hindsight::admission
