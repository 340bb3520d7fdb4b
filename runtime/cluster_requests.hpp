#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// Objects as the API server gives them; not what commands print, which keeps its order.
using ObjectJson = connectors::manifests::Json;

// Requests of threads that may wait; not for the cluster's own. Each waits for the answer at most `request_patience`.
inline constexpr auto request_patience = std::chrono::seconds(5);

/// Whether an object may have that name, or lie in that namespace, so that the path which is made of it is its own: others would be
/// folded into the path of something else on their way ("..", "a/b").
[[nodiscard]] bool is_name_of_object(std::string_view name);

/// The object; null: there is none. Errors: invalid for names that no object has, unavailable without an answer in time, denied, or what
/// the server said. `held` is kept until the server has answered or the request was given up, which may be later than this returns.
[[nodiscard]] Result<std::shared_ptr<const ObjectJson>> read_object(connectors::kubernetes::KubernetesCluster& cluster,
                                                                    const connectors::ResourceType& type, const std::string& namespace_,
                                                                    const std::string& name, std::shared_ptr<const void> held = nullptr);

/// Writes, once and whoever has the lease, and waits for the answer. Errors as above, and conflict when somebody else was first.
[[nodiscard]] Result<void> write_object(connectors::kubernetes::KubernetesCluster& cluster, connectors::Write write);

/// Posts to a path and waits for the answer; status 0: none came in time. One try.
[[nodiscard]] connectors::kubernetes::HttpAnswer post_and_wait(connectors::kubernetes::KubernetesCluster& cluster, const std::string& path,
                                                               const std::string& body);

}  // namespace hindsight::runtime
