#pragma once

#include "admission/model/catalog_view.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {

// Everything that a state knows of one object, as a document: render_tree makes the text of it.

/// Conditions with their times, pod sets, assignment, checks, place in the queue.
[[nodiscard]] Json describe_workload(const StateView& state, const WorkloadAt& at);
/// Configuration, the figures of the quota tree, who holds quota, who waits in order and why.
[[nodiscard]] Json describe_cluster_queue(const StateView& state, const admission::QueueConfig& queue);
[[nodiscard]] Json describe_local_queue(const StateView& state, const admission::LocalQueueConfig& queue);
/// Members and figures; `cohort` may be one that is only named by its members.
[[nodiscard]] Json describe_cohort(const StateView& state, const Symbol& cohort);
/// Labels and taints, and which queues have quota of it.
[[nodiscard]] Json describe_resource_flavor(const StateView& state, const admission::FlavorConfig& flavor);

}  // namespace hindsight::projections
