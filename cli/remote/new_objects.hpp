#pragma once

#include <string>

#include "cli/remote/quota_expression.hpp"

namespace hindsight::cli {

// Objects of kueue.x-k8s.io/v1beta2 as `create` makes them of its options (base-api §10). What is not given is left to the defaults of the
// API, but for the namespace selector: a ClusterQueue that is made by hand takes workloads of every namespace.

struct NewClusterQueue {
  std::string name, cohort, queueing_strategy, namespace_selector, reclaim_within_cohort, within_cluster_queue;
  QuotaExpressions quotas;
};
/// Errors: invalid, for quotas or a selector (key=value,…) that do not read.
[[nodiscard]] Result<Json> new_cluster_queue(const NewClusterQueue& wanted);

struct NewLocalQueue {
  std::string name, namespace_, cluster_queue;
};
[[nodiscard]] Json new_local_queue(const NewLocalQueue& wanted);

struct NewResourceFlavor {
  std::string name;
  std::string node_labels;  ///< "key=value,…"
  std::string node_taints;  ///< "key[=value]:effect,…"
  std::string tolerations;  ///< "key[=value][:effect],…", ":effect"
};
/// Errors: invalid; each names the option, what was found and what is allowed.
[[nodiscard]] Result<Json> new_resource_flavor(const NewResourceFlavor& wanted);

}  // namespace hindsight::cli
