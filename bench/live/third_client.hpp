#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// Somebody else on the API server: changes a ConfigMap of its own, one write after another with pauses, and notes what each takes.
class ThirdClient {
 public:
  /// Makes the ConfigMap. Errors: of the connection, and what the API server refused.
  [[nodiscard]] static Result<std::unique_ptr<ThirdClient>> start(const connectors::kubernetes::Connection& connection);
  ~ThirdClient();
  ThirdClient(const ThirdClient&) = delete;
  ThirdClient& operator=(const ThirdClient&) = delete;

  struct Seen {
    double p50_ms = 0, p99_ms = 0;
    std::size_t writes = 0;
  };
  /// Of all writes since the last call.
  [[nodiscard]] Seen take();

 private:
  explicit ThirdClient(std::unique_ptr<connectors::kubernetes::KubernetesCluster> cluster);
  void work();
  [[nodiscard]] int write(connectors::Write::Verb verb, std::string body);

  std::unique_ptr<connectors::kubernetes::KubernetesCluster> cluster_;
  std::mutex mutex_;  ///< Guards the next.
  std::vector<double> took_ms_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace hindsight::bench
