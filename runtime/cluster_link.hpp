#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/bridge/backlog.hpp"
#include "connectors/bridge/bridge.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "runtime/cluster_domains.hpp"
#include "runtime/task_queue.hpp"

namespace hindsight::runtime {

/// Ties a real API server to its running domains: mirror and applier. The bridge lives on a thread of its own, which waits when a domain
/// cannot take more; then the watches are paused, so that a flood slows the mirror and not the memory.
class ClusterLink {
 public:
  /// `topologies`: nodes and all pods are watched, because decisions depend on what is free of nodes. `message_interval`: see
  /// BridgeOptions; it is looked at once a second. `reads_only`: nothing is ever written, whoever asks for it.
  ClusterLink(connectors::kubernetes::KubernetesCluster& cluster, std::function<void(const std::string&)> notice,
              connectors::PlanSettings plans, bool topologies, Duration message_interval, bool reads_only = false);
  ~ClusterLink();

  /// Starts to watch; when all lists are complete, has the domains compare, and lets them decide. `configuration`: JSON for
  /// ConfigurationObserved, or empty. Nobody must have allowed the domains to decide.
  void start(ClusterDomains& domains, const std::string& configuration);
  void stop();

  /// Runs work on the bridge's thread.
  void post(std::function<void()> work) { tasks_.post(std::move(work)); }
  /// For NodeOptions::on_intents.
  void want(std::vector<admission::Intent> intents);
  /// On the bridge's thread, see Bridge.
  void want_now(std::vector<admission::Intent> intents) { bridge_->want(std::move(intents)); }
  void forget(std::string_view uid) { bridge_->forget(uid); }
  [[nodiscard]] bool departing() const { return bridge_->departing(); }
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
  void ask_for_version();
  void go_on_watching();
  void watch(const connectors::ResourceType& type);
  void tick(unsigned round);

  connectors::kubernetes::KubernetesCluster& cluster_;
  std::function<void(const std::string&)> notice_;
  const bool topologies_;
  ClusterDomains* domains_ = nullptr;
  std::unique_ptr<StoreMirror> mirror_;
  std::unique_ptr<PostingCluster> posting_;
  std::unique_ptr<connectors::Bridge> bridge_;
  std::atomic<bool> synced_ = false, stopping_ = false, usage_waits_ = false;
  connectors::Backlog backlog_;
  std::atomic<std::uint64_t> writes_ = 0, conflicts_ = 0;
  std::atomic<std::size_t> outstanding_ = 0;
  TaskQueue tasks_;
  std::jthread retries_;
};

}  // namespace hindsight::runtime
