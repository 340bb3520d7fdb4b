#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::bench {

/// Workloads of one size, made one after another in each ClusterQueue.
struct WorkloadClass {
  std::string_view name;
  std::size_t count = 0;  ///< In each ClusterQueue.
  Duration interval;      ///< Between two of them.
  Amount cpu = 0;         ///< Milli-units.
  Duration runs;          ///< From admission to its end.
  std::int32_t priority = 0;
  std::int32_t pods = 1;   ///< That share `cpu` evenly.
  std::int32_t slice = 1;  ///< Of the Workloads that are spread evenly.
};

/// An input of Kueue's performance test: cohorts of equal ClusterQueues (nominal 20 cpu, borrowing limit 100, reclaimWithinCohort Any,
/// withinClusterQueue LowerPriority) and what arrives in each of them.
struct Generator {
  std::string_view name;
  std::size_t cohorts = 0;
  std::size_t queues = 0;  ///< In each cohort.
  Amount nominal = 20'000;
  Amount borrowing_limit = 100'000;
  std::vector<WorkloadClass> classes;
  /// Racks of equal hosts with 96 cpu, in one block; 0: the flavor has no topology. Of each class a third requires one rack, a third
  /// prefers one, and a third is spread evenly in slices.
  std::size_t racks = 0, hosts_in_rack = 0;

  [[nodiscard]] std::size_t queue_count() const { return cohorts * queues; }
  [[nodiscard]] std::size_t workload_count() const;
  /// No schedule ends earlier: all work divided by all quota.
  [[nodiscard]] Duration bound() const;
};

[[nodiscard]] Generator baseline();
[[nodiscard]] Generator large_scale();
/// As baseline, with pods that want to stand close to each other.
[[nodiscard]] Generator topology_aware();

struct Arrival {
  Duration at;
  std::uint32_t queue = 0;
  std::uint32_t kind = 0;  ///< Index of the class.
  std::uint32_t number = 0;
};

/// All Workloads in the order in which they are made.
[[nodiscard]] std::vector<Arrival> arrivals(const Generator& generator);

[[nodiscard]] std::string cohort_name(const Generator& generator, std::size_t queue);
[[nodiscard]] std::string queue_name(std::size_t queue);
[[nodiscard]] std::string workload_name(const Generator& generator, const Arrival& arrival);

/// How long the Workloads of one class waited from creation to their last admission.
struct Waits {
  std::size_t admitted = 0;
  double sum_seconds = 0;
  double max_seconds = 0;

  void add(Duration wait);
  [[nodiscard]] double mean_seconds() const { return admitted == 0 ? 0 : sum_seconds / static_cast<double>(admitted); }
};

/// What became of a run.
struct Outcome {
  Duration makespan;         ///< From the first arrival to the last end.
  std::vector<Waits> waits;  ///< By class.
  std::size_t evictions = 0;
  double usage = 0;  ///< Share of the quota of all queues that was in use, averaged over the makespan.
};

}  // namespace hindsight::bench
