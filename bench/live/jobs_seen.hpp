#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bench/live/write_tally.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// How far all Jobs have come.
struct JobTotals {
  std::size_t started = 0;           ///< Jobs that were seen not suspended.
  std::size_t ended = 0;             ///< Jobs that were seen complete.
  std::size_t running_max = 0;       ///< Started and not ended, at the same time.
  std::size_t stopped = 0;           ///< Jobs that were seen suspended again.
  std::size_t second_workloads = 0;  ///< Workloads of Jobs that have another one.
  std::size_t told = 0;              ///< Workloads with a status. Of equal ones that wait only the first has a reason, as in Kueue.
  std::size_t finished = 0;          ///< Workloads.
  std::size_t released = 0;          ///< Finished Workloads whose finalizer has gone: nothing is left to be done.
  WriteTally versions;               ///< Of the Workloads; their end is Hindsight's write here.
};

/// What the watches of a client tell of Jobs and their Workloads. The client must be stopped before the end of this object's life.
class JobsSeen {
 public:
  using Clock = std::chrono::steady_clock;
  /// Called on the client's thread.
  using OnStart = std::function<void(std::string_view name, std::string_view uid)>;

  struct Times {
    Clock::time_point started, ended;
  };

  /// `on_start` may be empty.
  JobsSeen(connectors::kubernetes::KubernetesCluster& cluster, OnStart on_start) : cluster_(cluster), on_start_(std::move(on_start)) {}

  /// Starts to watch, and waits for both lists. Errors: unavailable.
  [[nodiscard]] Result<void> begin();
  /// Waits until so many of `which` are seen. Errors: unavailable when nothing moves any more, and what failed meanwhile.
  [[nodiscard]] Result<JobTotals> wait_for(std::size_t JobTotals::*which, std::size_t wanted);
  /// All waiting ends with this error.
  void fail_with(Error error);
  /// When what was seen of a Job.
  [[nodiscard]] Times times_of(const std::string& job) const;

 private:
  struct Job {
    Times times;
    bool running = false, ended = false;
    bool has_workload = false;
  };
  struct Workload {
    SeenWorkload seen;
    bool told = false, finished = false, released = false;
  };

  void on_event(const connectors::WatchEvent& event);
  /// All below: under the mutex.
  bool see(const JobObserved& job);
  void see(const WorkloadObserved& workload);
  [[nodiscard]] Result<void> wait(const std::function<bool()>& done, const std::function<std::string()>& found);

  connectors::kubernetes::KubernetesCluster& cluster_;
  OnStart on_start_;
  Arena arena_;  ///< Of the client's thread.

  mutable std::mutex mutex_;  ///< Guards all below.
  std::condition_variable changed_;
  std::unordered_map<std::string, Job> jobs_;
  std::unordered_map<std::string, Workload> workloads_;
  JobTotals totals_;
  std::size_t running_ = 0;
  std::size_t synced_ = 0;
  std::uint64_t events_ = 0;
  std::optional<Error> error_;
};

}  // namespace hindsight::bench
