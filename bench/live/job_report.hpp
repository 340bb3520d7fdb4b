#pragma once

#include "bench/live/job_run.hpp"

namespace hindsight::bench {

/// Print what the runs came to.
void report_jobs(const JobSettings& settings, const JobLive& live);
void report_one_by_one(const JobSettings& settings, const OneByOne& live);

/// What must be true of every run, however fast; they say on standard error what is not.
[[nodiscard]] bool jobs_are_sound(const JobSettings& settings, const JobLive& live);
[[nodiscard]] bool one_by_one_is_sound(const JobSettings& settings, const OneByOne& live);

}  // namespace hindsight::bench
