#pragma once

#include <memory>
#include <string>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Objects as the API server gives them; not what commands print, which keeps its order.
using ObjectJson = connectors::manifests::Json;

// Requests of threads that may wait; not for the cluster's own. Each waits for the answer at most `request_patience`.
inline constexpr auto request_patience = std::chrono::seconds(5);

/// The object; null: there is none. Errors: unavailable without an answer in time, denied, or what the server said.
[[nodiscard]] Result<std::shared_ptr<const ObjectJson>> read_object(connectors::kubernetes::KubernetesCluster& cluster,
                                                                    const connectors::ResourceType& type, const std::string& namespace_,
                                                                    const std::string& name);

/// Writes, once and whoever has the lease, and waits for the answer. Errors as above, and conflict when somebody else was first.
[[nodiscard]] Result<void> write_object(connectors::kubernetes::KubernetesCluster& cluster, connectors::Write write);

/// Posts to a path and waits for the answer; status 0: none came in time. One try.
[[nodiscard]] connectors::kubernetes::HttpAnswer post_and_wait(connectors::kubernetes::KubernetesCluster& cluster, const std::string& path,
                                                               const std::string& body);

}  // namespace hindsight::cli
