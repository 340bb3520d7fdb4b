#pragma once

#include <vector>

#include "bench/generator/generator.hpp"
#include "bench/kubernetes/bare_loop.hpp"

namespace hindsight::bench {

/// What the API server has to take for the input at the very least: each Workload is created, admitted and finished. Three lists, because
/// a bare loop keeps no order between its writes.
[[nodiscard]] std::vector<std::vector<connectors::kubernetes::bench::BareWrite>> bare_writes(const Generator& generator);

}  // namespace hindsight::bench
