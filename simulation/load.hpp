#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::simulation {

// Bounds of what a file may add to a simulation (docs/limits.md).
inline constexpr std::size_t load_jobs_max = 100'000;                        ///< Jobs of one file.
inline constexpr std::int64_t load_pods_max = 1'000'000;                     ///< Pods, or processors, of one of them.
inline constexpr Duration load_span_max = Duration::seconds(1'000'000'000);  ///< From the first arrival to the last; of one run.
inline constexpr std::size_t load_told_max = 10;                             ///< Notices of one sort that are told one by one.

/// A job that was drawn or read from a trace: it comes at a moment, and once started it runs for a time and succeeds.
struct LoadJob {
  Duration arrives;  ///< Since the start of the simulation.
  Duration runs;
  std::string namespace_ = "default";
  std::string name;
  std::string queue;                                          ///< Its LocalQueue.
  std::string priority_class;                                 ///< A WorkloadPriorityClass; empty: none.
  std::int32_t pods = 1;                                      ///< That run at the same time.
  std::vector<std::pair<std::string, std::string>> requests;  ///< Of one pod: resource and quantity ("cpu", "1500m").
};

/// What a file adds to a simulation.
struct Load {
  std::vector<LoadJob> jobs;  ///< In the order in which they arrive.
  /// WorkloadPriorityClasses that the jobs name and that come with them: name and value.
  std::vector<std::pair<std::string, std::int32_t>> priority_classes;
  std::vector<std::string> notices;  ///< What people should know: what was left out, and why.
};

/// The same as manifests: batch/v1 Jobs with annotations hindsight.dev/arrive-seconds and hindsight.dev/run-seconds, in thousandths of a
/// second.
[[nodiscard]] std::vector<connectors::manifests::Manifest> manifests_of(const Load& load, const std::string& source);

/// LocalQueues that jobs of `load` name and `manifests` do not have, one text each, with how many jobs wait there for ever. At most
/// `load_told_max` are told one by one.
[[nodiscard]] std::vector<std::string> missing_queues(const Load& load, const std::vector<connectors::manifests::Manifest>& manifests);

}  // namespace hindsight::simulation
