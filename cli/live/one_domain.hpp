#pragma once

#include <memory>

#include "cli/live/cluster_domains.hpp"
#include "cli/live/node_snapshots.hpp"
#include "events/log.hpp"

namespace hindsight::cli {

/// A cluster that is one domain.
class OneDomain final : public ClusterDomains {
 public:
  /// The log must outlive it. `options` are those of the node but for its snapshots. Errors: those of Node::start.
  [[nodiscard]] static Result<std::unique_ptr<OneDomain>> start(events::Log& log, actors::NodeOptions options, Post post);

  void observe(const Observation& o) override;
  void synced(const connectors::Mirror& mirror, std::function<void()> done) override;
  [[nodiscard]] std::vector<Status> status() const override { return {{domain_, 0, node_->status()}}; }
  Result<void> stop() override { return node_->stop(); }

 private:
  OneDomain() = default;

  std::string domain_;
  Post post_;
  std::unique_ptr<NodeSnapshots> snapshots_;
  std::unique_ptr<actors::Node> node_;  ///< Ends before its snapshots.
};

}  // namespace hindsight::cli
