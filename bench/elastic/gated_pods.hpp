#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

/// Behind which gate the pods wait, and so what releases them: that of elastic jobs goes alone; that of topologies when a host is chosen.
enum class Gate : std::uint8_t { elastic, topology };

/// A List of the flavor, the ClusterQueue, which is stopped, its LocalQueue, and the Job with so many pods. With a topology: of racks and
/// hosts, with hosts for 100 pods each, and the Job prefers one rack.
[[nodiscard]] connectors::Json burst_objects(std::size_t pods, Gate gate);

/// Whose pods they are; Hindsight does not see those that are nobody's.
struct PodOwner {
  std::string job_uid;
  std::string workload;
};
/// Creations of pods named PREFIX-00000 and so on that wait behind a gate.
[[nodiscard]] std::vector<connectors::kubernetes::bench::BareWrite> pod_creations(const std::string& prefix, std::size_t count, Gate gate,
                                                                                  const PodOwner* owner = nullptr);
/// What takes the gate of each away, with the host where it has to stand, and no more.
[[nodiscard]] std::vector<connectors::kubernetes::bench::BareWrite> pod_releases(const std::string& prefix, std::size_t count, Gate gate);

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
