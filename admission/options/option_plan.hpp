#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "admission/model/catalog.hpp"

namespace hindsight::admission {

/// Places of flavors in the order of a ClusterQueue, its groups one after the other; ascending. The smaller list, by its elements, is the
/// better one (CA-31).
using FlavorPositions = std::vector<std::uint32_t>;

/// Flavors that the queue does not have have no place.
[[nodiscard]] FlavorPositions positions_of(const QueueConfig& queue, std::span<const Symbol> flavors);

/// One attempt that a family makes.
struct OptionSpec {
  Symbol name;                  ///< The flavor, or the name of the explicit Option.
  std::vector<Symbol> flavors;  ///< That it may be assigned, in the order of the queue.
  FlavorPositions positions;    ///< Of these.
  std::int32_t create_delay_seconds = 0;
  std::optional<std::int32_t> delete_delay_seconds;
};

/// What the Options of a Workload in this queue are, the best first (CA-3, CA-4, CA-31). `allowed`: those that the Workload itself may be
/// assigned; null: all (CA-8). Of an Option nothing is left when none of its flavors is.
[[nodiscard]] std::vector<OptionSpec> option_specs(const QueueConfig& queue, const std::vector<Symbol>* allowed);

/// The same. Of Workloads that may be assigned every flavor, all families of a queue share one list.
[[nodiscard]] std::shared_ptr<const std::vector<OptionSpec>> shared_option_specs(const QueueConfig& queue,
                                                                                 const std::vector<Symbol>* allowed);

/// What an Option is to one that is admitted on other flavors (CA-20 to CA-22, CA-153).
enum class OptionStanding : std::uint8_t {
  upgrade,       ///< It is better, and is tried on.
  below_target,  ///< It is better, but not as good as the target.
  lower,         ///< It is not better.
  retained,      ///< The first admission stands (RemoveOther).
};

/// `rank`: of the Option in `specs`; `admitted`: the flavors that the admitted one was assigned.
[[nodiscard]] OptionStanding standing_of(const QueueConfig& queue, std::span<const OptionSpec> specs, std::size_t rank,
                                         const FlavorPositions& admitted);

/// Is an Option with the places `option` better than what another one was assigned, whichever of its flavors it is assigned itself?
[[nodiscard]] bool is_surely_better(const QueueConfig& queue, const FlavorPositions& option, const FlavorPositions& assigned);

}  // namespace hindsight::admission
