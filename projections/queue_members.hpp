#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "admission/model/catalog_view.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {

// Who holds quota in a ClusterQueue, and who waits there. `only`: of this LocalQueue; null: of all.

/// By namespace and name.
[[nodiscard]] std::vector<std::shared_ptr<const admission::Reservation>> holders_in(const admission::ClusterQueue& queue,
                                                                                    const admission::LocalQueueConfig* only = nullptr);

struct InLine {
  std::size_t position = 0;  ///< From 0, in the whole ClusterQueue.
  admission::ClusterQueue::Waiting waiting;
};
/// In order. A family stands there once, by the first of its Options; not if its job runs.
[[nodiscard]] std::vector<InLine> waiting_in(const StateView& state, const admission::ClusterQueue& queue,
                                             const admission::LocalQueueConfig* only = nullptr);
/// All of them, of what the queue has said already: `all` is its `waiting()`.
[[nodiscard]] std::vector<InLine> waiting_in(const StateView& state, std::vector<admission::ClusterQueue::Waiting> all);

/// What reservations are charged in all: "default/cpu 46, default/memory 92Gi"; from the one at `first` on.
[[nodiscard]] std::string charged_from(const std::vector<std::shared_ptr<const admission::Reservation>>& holders, std::size_t first);
/// What those who wait ask for in all: "cpu 24"; from the one at `first` on.
[[nodiscard]] std::string asked_from(const std::vector<InLine>& line, std::size_t first);

}  // namespace hindsight::projections
