#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// A job that names a queue, and runs without having been admitted.
struct UnadmittedFacts {
  std::string kind;  ///< For kubectl: "job.batch".
  std::string namespace_, name, queue;
  std::string workload;  ///< Its Workload, which is not admitted; empty: it has none.
};

struct JobsFacts {
  std::vector<UnadmittedFacts> unadmitted;
  std::size_t looked_at = 0, running = 0;
  bool complete = true;
  std::string unknown;
};

/// Those of `jobs` that run although no Workload of `workloads` that they own is admitted. Jobs younger than half a minute may be about to
/// be stopped, and do not count. `kind`: as in UnadmittedFacts.
void find_unadmitted(const std::string& kind, const std::vector<Json>& jobs, const std::vector<Json>& workloads, Time now, JobsFacts& out);

[[nodiscard]] Outcome judge_jobs(const JobsFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_jobs(Context& context);

}  // namespace hindsight::doctor
