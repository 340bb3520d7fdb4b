#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/live/jobs_seen.hpp"
#include "bench/live/live_cluster.hpp"
#include "bench/live/quantiles.hpp"
#include "bench/live/settings.hpp"

namespace hindsight::bench {

/// Many Jobs with Hindsight.
struct JobLive {
  JobTotals seen;
  double seconds_to_start = 0;             ///< From the first creation to the last start.
  double seconds = 0;                      ///< From the first creation to what the run is for.
  Quantiles to_start, to_end;              ///< Of a Job, from its creation; seconds.
  std::size_t ends_written = 0;            ///< By the played Job controller.
  double bare_before = 0, bare_after = 0;  ///< Seconds of the bare loops; 0: there were none.
  LiveFigures figures;
};

/// Jobs on an idle cluster, one after another.
struct OneByOne {
  Quantiles to_start;                 ///< Seconds.
  Quantiles bare_before, bare_after;  ///< Seconds of the three writes alone; 0: they were not made.
  JobTotals seen;
  std::size_t ends_written = 0;
  LiveFigures figures;
};

/// The load of Jobs that the settings ask for; prints what it came to. What Hindsight says and its logs go to `folder`. False: with
/// --check, something did not hold. Errors: unavailable.
[[nodiscard]] Result<bool> run_jobs(const Settings& settings, const std::string& folder);

}  // namespace hindsight::bench
