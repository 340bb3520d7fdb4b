#pragma once

#include <cstddef>
#include <string>

#include "bench/kubernetes/bare_loop.hpp"
#include "connectors/cluster.hpp"
#include "connectors/json/json_value.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

// What one life of a Job asks of the API server until it is started, as Hindsight writes it: its own plans make the requests. A Job and a
// Workload are given as the server has them; without uid and version there, the requests have no preconditions.

/// Of a user.
[[nodiscard]] connectors::Write job_creation(std::size_t number);
/// Its Workload. Errors: as plan_create().
[[nodiscard]] Result<connectors::Write> workload_creation(const connectors::Json& job);
/// The Workload gets its quota. Errors: invalid where this is not one write.
[[nodiscard]] Result<connectors::Write> workload_admission(const connectors::Json& workload);
/// Errors: as plan_job(), and invalid where this is not one write.
[[nodiscard]] Result<connectors::Write> job_start(const connectors::Json& job, const connectors::Json& workload);

/// The same request for a bare loop.
[[nodiscard]] connectors::kubernetes::bench::BareWrite bare(const connectors::Write& write);

}  // namespace hindsight::bench
