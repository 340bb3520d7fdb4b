#pragma once

#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::simulated {

using manifests::Json;

/// Whether a JSON merge patch (RFC 7386) would leave `target` other than it is; cheaper than trying.
[[nodiscard]] bool merge_changes(const Json& target, const Json& patch);

/// Applies a JSON merge patch in place.
void merge(Json& target, const Json& patch);

}  // namespace hindsight::connectors::simulated
