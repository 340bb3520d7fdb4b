#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// Plays the Job controller: a started Job runs for some time, and is complete then. It writes once for each Job, at its end. The client
/// must be stopped before the end of this object's life.
class JobEnder {
 public:
  /// `on_refusal` is called on the client's thread.
  JobEnder(connectors::kubernetes::KubernetesCluster& cluster, std::chrono::milliseconds runs, std::function<void(Error)> on_refusal)
      : cluster_(cluster), runs_(runs), on_refusal_(std::move(on_refusal)) {}

  /// On the client's thread.
  void started(std::string_view name, std::string_view uid);
  [[nodiscard]] std::size_t writes() const { return writes_; }

 private:
  connectors::kubernetes::KubernetesCluster& cluster_;
  std::chrono::milliseconds runs_;
  std::function<void(Error)> on_refusal_;
  std::atomic<std::size_t> writes_ = 0;
};

}  // namespace hindsight::bench
