#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "connectors/simulated/simulated_cluster.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::simulated {

/// Which jobs run. Those that carry annotation hindsight.dev/run-seconds (on the job or a pod template) always do.
enum class SimulatedJobs : std::uint8_t {
  with_run_time,  ///< No others.
  all,            ///< The others too, without an end.
};

/// Stands in for the Job and JobSet controllers: a job starts when it is unsuspended, all its pods at once and ready, and succeeds after
/// its time. Suspended again, its pods are gone at once; the next start runs the whole time anew.
///
/// It follows the cluster by itself. Only time needs the caller: next_due() says when, run_due() does what is due.
class JobSimulator {
 public:
  /// `cluster` must outlive it, and it the last write to the cluster.
  explicit JobSimulator(SimulatedCluster& cluster, SimulatedJobs which = SimulatedJobs::with_run_time);
  JobSimulator(const JobSimulator&) = delete;
  JobSimulator& operator=(const JobSimulator&) = delete;

  /// When the next job ends; Time::never(): none that runs has an end.
  [[nodiscard]] Time next_due() const;
  /// Ends the jobs that are due at the cluster's time. Returns how many.
  std::size_t run_due();
  [[nodiscard]] std::size_t running() const { return ends_.size(); }
  /// Jobs that came to their end since the start.
  [[nodiscard]] std::uint64_t ended() const { return ended_; }

 private:
  struct Run {
    std::string kind, namespace_, name, uid;
  };
  /// Ends at the same moment come in the order of creation.
  using Moment = std::pair<Time, std::uint64_t>;

  void follow(const ObjectChange& change);
  void start(const StoredObject& job, std::optional<Duration> runs);
  void stop(const StoredObject& job);
  void follow_parallelism(const StoredObject& job);
  void forget(std::uint64_t created_order);
  void write_status(const StoredObject& job, Json status);

  SimulatedCluster& cluster_;
  SimulatedJobs which_;
  std::map<Moment, Run> due_;
  std::map<std::uint64_t, Time> ends_;  ///< Of those that run, by order of creation; never: it has no end.
  std::uint64_t ended_ = 0;
  std::uint64_t ending_ = 0;  ///< Whose end is being written, in several steps.
};

}  // namespace hindsight::connectors::simulated
