#pragma once

#include <functional>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "connectors/webhooks/surroundings.hpp"
#include "operations/configuration.hpp"

namespace hindsight::cli {

/// What webhooks see of a real cluster: the mirror once it is complete; before that, and in a copy that stands by, the API server is asked.
/// No answer is an exception, so that the API server does with the request what its configuration says for a webhook that failed.
class ClusterSurroundings final : public connectors::webhooks::Surroundings {
 public:
  ClusterSurroundings(connectors::kubernetes::KubernetesCluster& cluster, const operations::Configuration& configuration,
                      std::function<bool()> mirror_is_complete)
      : cluster_(cluster), configuration_(configuration), mirror_is_complete_(std::move(mirror_is_complete)) {}

  [[nodiscard]] std::shared_ptr<const connectors::manifests::Json> find(std::string_view kind, std::string_view namespace_,
                                                                        std::string_view name) const override;
  [[nodiscard]] bool gate(std::string_view name) const override { return configuration_.gate(name); }
  [[nodiscard]] bool manages_namespace(std::string_view namespace_) const override;
  [[nodiscard]] bool manages_jobs_without_queue_name() const override { return configuration_.manage_jobs_without_queue_name; }
  [[nodiscard]] bool manages_kind(std::string_view kind, std::string_view group) const override;
  [[nodiscard]] bool is_controller(std::string_view user) const override;

 private:
  connectors::kubernetes::KubernetesCluster& cluster_;
  const operations::Configuration& configuration_;
  std::function<bool()> mirror_is_complete_;
};

}  // namespace hindsight::cli
