#pragma once

#include <vector>

#include "admission/workload/workload_parent.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::projections {

/// Jobs and Workloads as an API server would show them that had carried out what was decided. Texts live in `arena`. Folding the result
/// changes nothing but that it confirms what was decided; whoever wants to have something else seen changes it before.
///
/// What the state does not keep is absent: the owner of a job, and the names of preemption gates that are not ours.
[[nodiscard]] JobObserved observed_again(const admission::JobState& job, Arena& arena);
[[nodiscard]] WorkloadObserved observed_again(const admission::WorkloadState& workload, Arena& arena);
[[nodiscard]] List<PodSetFacts> observed_again(const std::vector<admission::PodSetSpec>& pod_sets, Arena& arena);
/// The pod set asks for this of topologies, and for nothing else.
void show_topology(const admission::TopologyRequest& request, PodSetFacts& pod_set, Arena& arena);

}  // namespace hindsight::projections
