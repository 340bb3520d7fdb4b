#pragma once

#include "page/view.hpp"

namespace hindsight::page {

// The objects that say how a cluster admits, as docs/objects.md writes them, and who uses each. ClusterQueues, Cohorts and Topologies have
// views of their own beside these.

/// GET objects/{kind}?text=&limit=&offset=: all of a kind, by name. `kind`: as in addresses of the API ("localqueues", "clusterqueues",
/// "cohorts", "resourceflavors", "topologies", "admissionchecks", "workloadpriorityclasses"). "hidden" counts LocalQueues of namespaces
/// that the audience may not see. Errors: invalid (no such kind).
[[nodiscard]] Result<Json> objects_view(const Look& look, const Parameters& parameters);

/// GET objects/{kind}/{name}, and objects/localqueues/{namespace}/{name}: one of them, with who uses it, and of a flavor the nodes that
/// have its labels, `object_nodes_max` of them at most. Errors: invalid (no such kind), not_found, denied (of a namespace that the audience
/// may not see).
[[nodiscard]] Result<Json> object_view(const Look& look, const Parameters& parameters);
[[nodiscard]] Result<Json> local_queue_view(const Look& look, const Parameters& parameters);

inline constexpr std::size_t object_nodes_max = 500, object_users_max = 500;

/// Routes of all.
[[nodiscard]] std::vector<ViewRoute> object_views();

}  // namespace hindsight::page
