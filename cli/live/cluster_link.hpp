#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/node.hpp"
#include "cli/live/task_queue.hpp"
#include "connectors/bridge/bridge.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"

namespace hindsight::cli {

/// Ties a real API server to a running domain: mirror and applier. The bridge lives on a thread of its own, which waits when the domain
/// cannot take more; then the watches are paused, so that a flood slows the mirror and not the memory.
class ClusterLink {
 public:
  ClusterLink(connectors::kubernetes::KubernetesCluster& cluster, std::function<void(const std::string&)> notice);
  ~ClusterLink();

  /// Starts to watch; when all lists are complete, tells the domain what was deleted meanwhile, and lets it decide. `configuration`: JSON
  /// for ConfigurationObserved, or empty. The node must not have been allowed to decide.
  void start(actors::Node& node, const std::string& configuration);
  void stop();

  /// For NodeOptions::on_intents.
  void want(std::vector<admission::Intent> intents);
  [[nodiscard]] bool synced() const { return synced_; }
  struct Figures {
    std::uint64_t writes = 0, conflicts = 0;
    std::size_t outstanding = 0, queued = 0;
  };
  [[nodiscard]] Figures figures() const;

 private:
  class PostingCluster;
  class StoreMirror;

  void on_emit(const Observation& o);
  void on_synced();
  void ask_for_version();

  connectors::kubernetes::KubernetesCluster& cluster_;
  std::function<void(const std::string&)> notice_;
  actors::Node* node_ = nullptr;
  std::unique_ptr<StoreMirror> mirror_;
  std::unique_ptr<PostingCluster> posting_;
  std::unique_ptr<connectors::Bridge> bridge_;
  std::atomic<bool> synced_ = false, paused_ = false, stopping_ = false;
  std::atomic<std::uint64_t> writes_ = 0, conflicts_ = 0;
  std::atomic<std::size_t> outstanding_ = 0;
  TaskQueue tasks_;
  std::jthread retries_;
};

}  // namespace hindsight::cli
