#pragma once

#include <functional>
#include <stdexcept>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "connectors/webhooks/surroundings.hpp"
#include "operations/caller_shares.hpp"
#include "operations/configuration.hpp"
#include "operations/http.hpp"

namespace hindsight::runtime {

/// What reviews may make us ask of the API server. One asks for some objects, one after the other; who is known asks as often as he likes.
inline constexpr operations::CallerLimits lookup_limits{.at_once = 4, .known_at_once = 48, .per_second = 40, .burst = 80};

/// A review needs objects that would have to be asked for, and too many are being asked for.
class TooManyLookups : public std::runtime_error {
 public:
  TooManyLookups() : std::runtime_error("too many reviews need to ask the API server; ask again later") {}
};

/// Whose request the thread that has it answers, for as long as it lasts: what is asked of the API server meanwhile counts as his.
class LookupCaller {
 public:
  explicit LookupCaller(const operations::HttpRequest& request);
  ~LookupCaller();
  LookupCaller(const LookupCaller&) = delete;
  LookupCaller& operator=(const LookupCaller&) = delete;
};

/// What webhooks see of a real cluster: the mirror once it is complete; before that, and in a copy that stands by, the API server is asked,
/// for strangers only so often. No answer is an exception, so that the API server does with the request what its configuration says for a
/// webhook that failed.
class ClusterSurroundings final : public connectors::webhooks::Surroundings {
 public:
  ClusterSurroundings(connectors::kubernetes::KubernetesCluster& cluster, const operations::Configuration& configuration,
                      std::function<bool()> mirror_is_complete)
      : cluster_(cluster), configuration_(configuration), mirror_is_complete_(std::move(mirror_is_complete)) {}

  /// Throws TooManyLookups, or another exception without an answer.
  [[nodiscard]] std::shared_ptr<const connectors::manifests::Json> find(std::string_view kind, std::string_view namespace_,
                                                                        std::string_view name) const override;
  [[nodiscard]] bool gate(std::string_view name) const override { return configuration_.gate(name); }
  [[nodiscard]] bool manages_namespace(std::string_view namespace_) const override;
  [[nodiscard]] bool manages_jobs_without_queue_name() const override { return configuration_.manage_jobs_without_queue_name; }
  [[nodiscard]] bool manages_kind(std::string_view kind, std::string_view group) const override;
  [[nodiscard]] bool is_controller(std::string_view user) const override;
  [[nodiscard]] std::size_t max_options() const override { return configuration_.max_options; }

 private:
  connectors::kubernetes::KubernetesCluster& cluster_;
  const operations::Configuration& configuration_;
  std::function<bool()> mirror_is_complete_;
  mutable operations::CallerShares lookups_{lookup_limits};
};

}  // namespace hindsight::runtime
