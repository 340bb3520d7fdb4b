#pragma once

#include <cstddef>
#include <optional>

#include "projections/queue_members.hpp"

namespace hindsight::projections {

/// How many of those who wait, from the head, would find quota now, one after the other. Each takes, for each pod set, the first flavor
/// that matches and has what it asks for, of what is available to the queue and was not taken by those before it; preemption, places in
/// topologies, admission checks, and what other queues would take meanwhile are not looked at. Nothing: the first `most` would, or all.
[[nodiscard]] std::optional<std::size_t> quota_ends_after(const StateView& state, const Symbol& cluster_queue,
                                                          const std::vector<InLine>& line, std::size_t most);

}  // namespace hindsight::projections
