#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "connectors/simulated/simulated_cluster.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::simulated {

/// How the Job controller behaves; of batch Jobs only.
struct JobSimulatorOptions {
  bool every_job = false;  ///< Jobs without annotation hindsight.dev/run-seconds run too, without an end; JobSets as well.
  /// When a Job that was created suspended gets its condition Suspended; nothing: never (5440 MR-30).
  std::optional<Duration> suspended_after;
  Duration termination;                ///< How long pods that were deleted go on terminating (MR-36).
  bool clears_start_time = true;       ///< On suspension: gate MutableSchedulingDirectivesForSuspendedJobs (MR-29).
  std::int64_t failing_deletions = 0;  ///< So many deletions of pods fail, and are tried again after `retry` (MR-28).
  Duration retry = Duration::seconds(1);
};

/// Stands in for the Job and JobSet controllers, for jobs that carry annotation hindsight.dev/run-seconds (on the job or a pod
/// template): such a job starts when it is unsuspended, all its pods at once and ready, and succeeds after that time. Suspended again,
/// its pods are gone at once, or when they have terminated; the next start runs the whole time anew. With podReplacementPolicy Failed, pods
/// are made only when others have ended (MR-33). Of other jobs, unless it is to run all, and of Jobs that another controller manages, it
/// knows nothing.
///
/// It follows the cluster by itself. Only time needs the caller: next_due() says when, run_due() does what is due.
class JobSimulator {
 public:
  /// `cluster` must outlive it, and it the last write to the cluster.
  explicit JobSimulator(SimulatedCluster& cluster, JobSimulatorOptions options = {});
  JobSimulator(const JobSimulator&) = delete;
  JobSimulator& operator=(const JobSimulator&) = delete;

  /// When something happens next, such as the end of a job; Time::never(): nothing does.
  [[nodiscard]] Time next_due() const;
  /// Does what is due at the cluster's time. Returns how many jobs ended.
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

  /// What happens to a job beside its end.
  struct Sync {
    enum class Kind : std::uint8_t { told_suspended, retry, terminated } kind = Kind::retry;
    Run run;
    std::int64_t pods = 0;  ///< terminated: so many.
  };

  void follow(const ObjectChange& change);
  void run_sync(const Sync& sync, std::uint64_t created_order);
  void plan(const StoredObject& job, Duration after, Sync::Kind kind, std::int64_t pods = 0);
  [[nodiscard]] bool is_planned(const StoredObject& job, Sync::Kind kind) const;
  /// Pods that shall be active now.
  [[nodiscard]] std::int64_t wanted_pods(const StoredObject& job) const;
  void start(const StoredObject& job, std::optional<Duration> runs);
  void stop(const StoredObject& job);
  void follow_parallelism(const StoredObject& job);
  void forget(std::uint64_t created_order);
  void write_status(const StoredObject& job, Json status);

  SimulatedCluster& cluster_;
  JobSimulatorOptions options_;
  std::multimap<Moment, Sync> syncs_;
  std::map<Moment, Run> due_;
  std::map<std::uint64_t, Time> ends_;  ///< Of those that run, by order of creation; never: it has no end.
  std::uint64_t ended_ = 0;
  std::uint64_t ending_ = 0;  ///< Whose end is being written, in several steps.
};

}  // namespace hindsight::connectors::simulated
