#pragma once

#include "bench/generator/generator.hpp"
#include "bench/live/live_cluster.hpp"
#include "bench/live/load_driver.hpp"

namespace hindsight::bench {

/// One input of Kueue's performance test, played with Hindsight.
struct WorkloadLive {
  LiveOutcome load;
  LiveFigures figures;
};

/// A bare loop, the load of Workloads and a bare loop again, as the settings say; prints what it came to. What Hindsight says and its log
/// go to `folder`. False: with --check, something did not hold. Errors: unavailable.
[[nodiscard]] Result<bool> run_workloads(const Settings& settings, const std::string& folder);

/// Prints what the load came to; the loops' seconds are 0 when there were none.
void report_workloads(const Generator& generator, const WorkloadLive& live, double bare_before, double bare_after);
/// What must be true of every run, however fast; says on standard error what is not.
[[nodiscard]] bool workloads_are_sound(const Generator& generator, const WorkloadLive& live);

}  // namespace hindsight::bench
