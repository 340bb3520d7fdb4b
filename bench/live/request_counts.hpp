#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// How many writes an API server was asked for, by kind ("PATCH workloads/status"), of Jobs, of Kubernetes events and of the objects of
/// Kueue's API; those that met a conflict count too.
using RequestCounts = std::map<std::string, std::size_t>;

/// Of all clients since the server started, from its own metric. Errors: unavailable.
[[nodiscard]] Result<RequestCounts> request_counts(connectors::kubernetes::KubernetesCluster& cluster);
/// The same from the text of its metrics.
[[nodiscard]] RequestCounts request_counts_in(std::string_view metrics);
/// Kinds that have come to nothing are left out.
[[nodiscard]] RequestCounts difference(const RequestCounts& after, const RequestCounts& before);

}  // namespace hindsight::bench
