#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "actors/day_clock.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "operations/health.hpp"
#include "runtime/clock_report.hpp"
#include "runtime/cluster_domains.hpp"
#include "runtime/cluster_link.hpp"
#include "runtime/leadership.hpp"
#include "runtime/space_report.hpp"
#include "runtime/visibility_service.hpp"
#include "runtime/webhook_service.hpp"

namespace hindsight::runtime {

/// The parts of a control plane that run now, for listeners that answer before all of them do, and after. Null: that one does not run, or
/// is not asked for. Whoever stops a part takes it out first, and stops the listeners before that.
struct Running {
  std::atomic<connectors::kubernetes::KubernetesCluster*> cluster = nullptr;
  std::atomic<ClusterLink*> link = nullptr;
  std::atomic<ClusterDomains*> domains = nullptr;
  std::atomic<SpaceWatch*> space = nullptr;
  std::atomic<WebhookService*> webhooks = nullptr;
  std::atomic<VisibilityService*> visibility = nullptr;
};

/// What a control plane says of itself: /healthz, /readyz, /metrics. Thread-safe.
class RunReport {
 public:
  /// `elects`: it leads only while it has the lease. `trees`: every tree of cohorts is a domain. All must outlive this.
  RunReport(const Running& running, const Leadership& leadership, const actors::DayClock& clock, bool elects, bool trees)
      : running_(running), leadership_(leadership), clock_(clock), elects_(elects), trees_(trees) {}

  /// They call this.
  [[nodiscard]] operations::HealthSources sources() const;

 private:
  [[nodiscard]] std::vector<operations::HealthCondition> alive() const;
  [[nodiscard]] std::vector<operations::HealthCondition> ready() const;
  [[nodiscard]] std::string metrics() const;
  [[nodiscard]] std::vector<ClusterDomains::Status> domains() const;
  [[nodiscard]] ClockReport clocks() const;

  const Running& running_;
  const Leadership& leadership_;
  const actors::DayClock& clock_;
  const bool elects_, trees_;
};

}  // namespace hindsight::runtime
