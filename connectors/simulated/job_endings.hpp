#pragma once

#include <vector>

#include "connectors/simulated/object_store.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::simulated {

/// The status patches, in order, that its controller writes when all pods of a Job or JobSet have succeeded (or failed) at `now`. The
/// first announces the end of a Job, the second states it, as the API server demands.
[[nodiscard]] std::vector<Json> ending_patches(const StoredObject& job, bool failed, Time now, std::string_view reason = "Scenario");

}  // namespace hindsight::connectors::simulated
