#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET search: objects whose name has `q` in it, small and capital letters being the same: Workloads and their jobs (also by
/// "namespace/name"), ClusterQueues, LocalQueues, Cohorts, ResourceFlavors, Topologies, AdmissionChecks and Nodes. Best first: the very
/// name, names that begin with it, others; then by kind and name. `limit` 1 … 100, default 20. An empty `q` finds nothing. Errors: invalid
/// (q is longer than 512 bytes, limit).
[[nodiscard]] Result<Json> search_view(const Look& look, const Parameters& parameters);

}  // namespace hindsight::page
