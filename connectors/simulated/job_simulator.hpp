#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "connectors/simulated/simulated_cluster.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::simulated {

/// Stands in for the Job and JobSet controllers, for jobs that carry annotation hindsight.dev/run-seconds (on the job or a pod
/// template): such a job starts when it is unsuspended, all its pods at once and ready, and succeeds after that time. Suspended again,
/// its pods are gone at once; the next start runs the whole time anew. Of other jobs it knows nothing.
///
/// It follows the cluster by itself. Only time needs the caller: next_due() says when, run_due() does what is due.
class JobSimulator {
 public:
  /// `cluster` must outlive it, and it the last write to the cluster.
  explicit JobSimulator(SimulatedCluster& cluster);
  JobSimulator(const JobSimulator&) = delete;
  JobSimulator& operator=(const JobSimulator&) = delete;

  /// When the next job ends; Time::never(): none runs.
  [[nodiscard]] Time next_due() const;
  /// Ends the jobs that are due at the cluster's time. Returns how many.
  std::size_t run_due();
  [[nodiscard]] std::size_t running() const { return due_.size(); }

 private:
  struct Run {
    std::string kind, namespace_, name, uid;
  };
  /// Ends at the same moment come in the order of creation.
  using Moment = std::pair<Time, std::uint64_t>;

  void follow(const ObjectChange& change);
  void start(const StoredObject& job, Duration runs);
  void stop(const StoredObject& job);
  void follow_parallelism(const StoredObject& job);
  void forget(std::uint64_t created_order);
  void write_status(const StoredObject& job, Json status);

  SimulatedCluster& cluster_;
  std::map<Moment, Run> due_;
  std::map<std::uint64_t, Time> ends_;  ///< By order of creation.
  std::uint64_t ending_ = 0;            ///< Whose end is being written, in several steps.
};

}  // namespace hindsight::connectors::simulated
