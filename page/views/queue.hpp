#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET queues/{name}: the ClusterQueue, who waits in it in its order, and who holds quota there.
///
/// `offset` and `limit` (1 … 1000, default 200): rows are those from place `offset` on. Places count from 0 over all who wait, as the
/// visibility API does, a family once. Neighbours that are equal in all that counts (namespace, LocalQueue, priority, pod sets, parked or
/// not) are one row, with how many follow in "alike"; a page begins with the row of its first place. Rows of namespaces that may not
/// be seen are left out and counted in "hidden".
///
/// "quotaEndsAfter": those at places before it would find quota now, one after the other: each takes, for each pod set, the first flavor
/// that matches and has what it asks for, of what is available to this queue and was not taken by those before it. Only quota is looked at:
/// no preemption, no places in topologies, no checks, and nothing that other queues would take meanwhile. What more can be had at once is
/// then right to the unit, because what a queue takes reduces what is available to it by just that. It is absent when all would, or
/// the first `quota_tried_max` would.
///
/// Errors: invalid (limit, offset), not_found.
[[nodiscard]] Result<Json> queue_view(const Look& look, const Parameters& parameters);

inline constexpr std::size_t quota_tried_max = 2'000, users_shown_max = 200;

}  // namespace hindsight::page
