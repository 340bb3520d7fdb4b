#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET cohorts: all trees, a ClusterQueue without a cohort as a tree of its own. Of a circle of cohorts the first by name is a root, and so
/// is what stands deeper than `tree_depth_max`.
///
/// Of each node and pair of flavor and resource: "used" by all queues below; "own", of that within the nominal quota of the node and what
/// is below it, and "borrowed" from above; "lent": of its nominal quota what it could not use now, because others do; "limit": nominal
/// quota and borrowing limit.
[[nodiscard]] Result<Json> cohorts_view(const Look& look, const Parameters& parameters);

/// GET cohorts/users: who uses how much of one pair, by ClusterQueue. `flavor` and `resource`: the pair that is used most where they are
/// not given. Of each queue the `users_of_queue_max` largest; "leftOut" counts the others, those among them who may not be seen. Errors:
/// not_found (no queue has quota of such a pair).
[[nodiscard]] Result<Json> queue_users_view(const Look& look, const Parameters& parameters);

inline constexpr std::size_t tree_depth_max = 64, users_of_queue_max = 100;

}  // namespace hindsight::page
