#pragma once

#include "admission/catalog_view.hpp"
#include "admission/intents.hpp"
#include "admission/state_view.hpp"

namespace hindsight::admission {

/// The status that a ClusterQueue shall show (base-api §2.2). For an unknown queue only the name is set.
[[nodiscard]] QueueStatusIntent cluster_queue_status(const StateView& state, Symbol name);

/// The status that a LocalQueue shall show (base-api §2.4, §6.5).
[[nodiscard]] QueueStatusIntent local_queue_status(const StateView& state, const LocalQueueConfig& lq);

}  // namespace hindsight::admission
