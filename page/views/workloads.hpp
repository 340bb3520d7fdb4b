#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET workloads: a table of all Workloads, a page of it.
///
/// `phase`: phases with commas between them ("Pending,Admitted"). `queue`: a ClusterQueue, or a LocalQueue as "namespace/name".
/// `namespace`. `text`: a part of "namespace/name" or of the job's name, small and capital letters being the same. `sort`: one of name
/// (default), namespace, created, priority, phase, queue, reason, since; `descending`: true. `limit` 1 … 1000 (default 100), `offset`. What
/// is equal by the sort is by namespace and name. Workloads of namespaces that may not be seen are counted in "hidden" and nowhere else.
///
/// Errors: invalid (any of these).
[[nodiscard]] Result<Json> workloads_view(const Look& look, const Parameters& parameters);

}  // namespace hindsight::page
