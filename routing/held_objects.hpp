#pragma once

#include <vector>

#include "admission/domain/state_view.hpp"
#include "routing/objects.hpp"

namespace hindsight::routing {

/// All objects that the state of a domain knows, for Dispatcher::complete.
[[nodiscard]] std::vector<ObjectKey> held_objects(const admission::StateView& state);

}  // namespace hindsight::routing
