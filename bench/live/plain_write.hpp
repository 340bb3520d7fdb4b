#pragma once

#include <future>
#include <memory>
#include <utility>

#include "connectors/kubernetes/kubernetes_cluster.hpp"

namespace hindsight::bench {

/// One try at a write, and its answer. Not from a callback of the client.
[[nodiscard]] inline connectors::WriteAnswer write_and_wait(connectors::kubernetes::KubernetesCluster& cluster, connectors::Write write) {
  const auto answer = std::make_shared<std::promise<connectors::WriteAnswer>>();
  cluster.write_once(std::move(write), [answer](connectors::WriteAnswer got) { answer->set_value(std::move(got)); });
  return answer->get_future().get();
}

[[nodiscard]] inline bool succeeded(const connectors::WriteAnswer& answer) { return answer.http_status >= 200 && answer.http_status < 300; }

}  // namespace hindsight::bench
