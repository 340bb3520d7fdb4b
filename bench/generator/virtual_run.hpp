#pragma once

#include "bench/generator/generator.hpp"

namespace hindsight::bench {

/// Plays the input under the loop driver, the real rules and records, in virtual time: what a decision wants is true at once. A Workload
/// ends its run time after its last admission; of one that is evicted the reservation is cleared at the same moment. Every Workload is
/// created with a time in whole seconds, as in Kubernetes. `batch`: for how long wake-ups gather (BA-59).
[[nodiscard]] Outcome virtual_run(const Generator& generator, Duration batch);

}  // namespace hindsight::bench
