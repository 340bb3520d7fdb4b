#pragma once

#include <memory>

#include "events/log.hpp"
#include "runtime/cluster_domains.hpp"
#include "runtime/live_projections.hpp"
#include "runtime/node_snapshots.hpp"
#include "vocabulary/write_limit_news.hpp"

namespace hindsight::runtime {

/// A cluster that is one domain.
class OneDomain final : public ClusterDomains {
 public:
  /// The log must outlive it. `options` are those of the node but for its snapshots, `look_on` those of who looks on but for the domain and
  /// where to begin. Errors: those of Node::start.
  [[nodiscard]] static Result<std::unique_ptr<OneDomain>> start(events::Log& log, actors::NodeOptions options,
                                                                LiveProjectionsOptions look_on, Post post);

  void observe(const Observation& o) override;
  void synced(const connectors::Mirror& mirror, std::function<void()> done) override;
  [[nodiscard]] std::vector<Status> status() const override { return {{domain_, 0, node_->status(), snapshots_->standing()}}; }
  bool look(const std::function<void(const admission::StateView&)>& reader) const override { return projections_->look(reader); }
  [[nodiscard]] std::string metrics_text() const override { return projections_->metrics_text(); }
  void stop_telling() override { projections_.reset(); }
  Result<void> stop() override { return node_->stop(); }

 private:
  OneDomain() = default;

  std::string domain_;
  Post post_;
  std::unique_ptr<NodeSnapshots> snapshots_;
  std::unique_ptr<actors::Node> node_;  ///< Ends before its snapshots.
  std::unique_ptr<LiveProjections> projections_;
  WriteLimitNews write_limit_;
};

}  // namespace hindsight::runtime
