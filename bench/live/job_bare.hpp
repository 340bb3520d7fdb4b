#pragma once

#include <cstddef>

#include "bench/live/quantiles.hpp"
#include "bench/live/settings.hpp"
#include "tests/support/cluster_fixture.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

// The writes of a Job's life until its start, without Hindsight.

/// Seconds for those of all Jobs: creations as in the run, then all Workloads, all admissions and all starts. Errors: unavailable.
[[nodiscard]] Result<double> bare_loop_of_jobs(hindsight::testing::LocalCluster& cluster, const Settings& settings);

/// So many Jobs one after another, numbered from `first` on, and one before them that makes the connections: seconds of the three writes
/// that Hindsight makes of one, each after the answer to the one before it. All Jobs of the cluster are deleted at the end. Errors:
/// unavailable.
[[nodiscard]] Result<Quantiles> bare_lives(hindsight::testing::LocalCluster& cluster, std::size_t first, std::size_t count);

}  // namespace hindsight::bench
