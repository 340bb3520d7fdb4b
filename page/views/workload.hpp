#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET workloads/{namespace}/{name}: the object, its life as lanes over time, its story, its pods. One that is not there is no error where
/// the log knows it: "exists" is then "gone", with its story, or "notYet", with the place where it appears. Errors: denied (the namespace
/// may not be seen), not_found (no record within `absent_records_max` of the look names it), unavailable, and those of the log.
[[nodiscard]] Result<Json> workload_view(const Look& look, const Parameters& parameters);

/// GET workloads/{namespace}/{name}/why: as `hindsight why -o json`. Without `plays` only facts are told, which is fast; with it what would
/// let the Workload in, played on a copy. Errors: as above; invalid (`plays`).
[[nodiscard]] Result<Json> workload_why_view(const Look& look, const Parameters& parameters);

/// GET clusterqueues/{name}/why: as `hindsight why clusterqueue/NAME -o json`. Errors: not_found.
[[nodiscard]] Result<Json> cluster_queue_why_view(const Look& look, const Parameters& parameters);

}  // namespace hindsight::page
