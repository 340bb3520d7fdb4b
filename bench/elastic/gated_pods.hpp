#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "bench/kubernetes/bare_loop.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"

namespace hindsight::bench {

inline constexpr const char* ungate_queue = "burst";
inline constexpr const char* ungate_job = "train";

/// A List of the flavor, the ClusterQueue, which is stopped, its LocalQueue, and the elastic Job with so many pods.
[[nodiscard]] connectors::Json burst_objects(std::size_t pods);

/// Creations of pods named PREFIX-00000 and so on that wait behind the gate of elastic jobs. `job_uid`: whose they are; empty: nobody's,
/// and Hindsight does not see them.
[[nodiscard]] std::vector<connectors::kubernetes::bench::BareWrite> pod_creations(const std::string& prefix, std::size_t count,
                                                                                  const std::string& job_uid);
/// What takes the gate of each away, and no more.
[[nodiscard]] std::vector<connectors::kubernetes::bench::BareWrite> pod_releases(const std::string& prefix, std::size_t count);

/// Counts how many pods of each prefix have been seen without their gate.
class GateWatch {
 public:
  explicit GateWatch(connectors::kubernetes::KubernetesCluster& cluster);

  /// True when `count` pods were seen released; false when for so long not one more was.
  [[nodiscard]] bool wait_for(const std::string& prefix, std::size_t count, std::chrono::seconds stall_time);
  [[nodiscard]] std::size_t released(const std::string& prefix) const;

 private:
  void on_event(const connectors::WatchEvent& event);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::unordered_set<std::string>> released_;  ///< Names by prefix.
};

}  // namespace hindsight::bench
