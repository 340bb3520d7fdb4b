#pragma once

#include "bench/generator/generator.hpp"

namespace hindsight::bench {

struct Pace {
  Duration batch;  ///< For how long wake-ups gather (BA-59).
  Duration claim;  ///< How long a claim lasts (D14); 0: there are none.
  Duration write;  ///< What a write of the owner takes (below); 0: nothing.
  Duration own;    ///< What a write of ours takes, of which `own_writes` go at a time, those for evicted Workloads first; 0: nothing.
  std::int32_t ahead = 0;  ///< hindsight.admissionsAhead (D15); 0: cycles wait for no write.
  static constexpr std::uint32_t own_writes = 4;
};

/// Plays the input under the loop driver, the real rules and records, in virtual time: what a decision wants is true when it has been
/// written (Pace::own). A Workload
/// ends its run time after its last admission; of one that is evicted the reservation is cleared. These are writes of the Workloads' owner,
/// which does one after the other, those for evicted ones first, as in Kueue's test. Every Workload is created with a time in whole
/// seconds, as in Kubernetes.
[[nodiscard]] Outcome virtual_run(const Generator& generator, const Pace& pace);

}  // namespace hindsight::bench
