#pragma once

#include <optional>

#include "admission/domain/domain.hpp"
#include "admission/domain/state_view.hpp"
#include "admission/model/catalog_view.hpp"
#include "admission/model/intents.hpp"

namespace hindsight::admission {

/// The status that a ClusterQueue shall show (base-api §2.2); in its message also that it was set aside. For an unknown queue only the name
/// is set.
[[nodiscard]] QueueStatusIntent cluster_queue_status(const StateView& state, const Symbol& name);

/// The status that a LocalQueue shall show (base-api §2.4, §6.5); in its message also that it was set aside.
[[nodiscard]] QueueStatusIntent local_queue_status(const StateView& state, const LocalQueueConfig& lq);

/// The status that the queue shall show now that it was set aside, or is no more. Nothing: it is not known, and not set aside.
[[nodiscard]] std::optional<QueueStatusIntent> changed_queue_status(const StateView& state, const Domain::QueueName& queue);

}  // namespace hindsight::admission
