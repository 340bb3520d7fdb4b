#pragma once

#include <optional>

#include "admission/domain/domain.hpp"
#include "admission/domain/state_view.hpp"
#include "admission/model/intents.hpp"

namespace hindsight::admission {

/// What shall become of the finalizer resource-in-use of one ClusterQueue, ResourceFlavor, AdmissionCheck or Topology (base-admission §8.8,
/// BA-146, BA-147): it is there while the object is, and goes when the object is being deleted and nobody uses it. Nothing: it is as it
/// shall be.
[[nodiscard]] std::optional<FinalizerIntent> finalizer_intent(const StateView& state, const Domain::HeldKey& key);

}  // namespace hindsight::admission
