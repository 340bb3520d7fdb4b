#pragma once

#include <memory>
#include <optional>
#include <string>

#include "operations/configuration.hpp"
#include "operations/descriptor_limit.hpp"
#include "operations/health.hpp"
#include "operations/http_server.hpp"
#include "runtime/metrics_service.hpp"

namespace hindsight::runtime {

/// What `run` is asked to listen for beside --http, for a machine that others can reach.
struct ListenerRunOptions {
  std::string probe_address;
  bool metrics = false;
  std::string metrics_address, metrics_service = "hindsight", metrics_folder;
};

/// Nothing: no probes of their own. Errors: invalid, for an address that is none.
[[nodiscard]] Result<std::optional<operations::ListenAddress>> probe_address_of(const ListenerRunOptions& options);
/// In addition to the configuration. Errors: invalid.
[[nodiscard]] Result<MetricsOptions> metrics_options(const ListenerRunOptions& options, const operations::Configuration& configuration);

using HttpServerPtr = std::unique_ptr<operations::HttpServer>;

/// /healthz and /readyz and nothing else; null without an address. Nobody else's callers hold them up. Errors: unavailable.
[[nodiscard]] Result<HttpServerPtr> serve_probes(const std::optional<operations::ListenAddress>& address,
                                                 const operations::HealthSources& sources);
/// All that --http serves. Errors: unavailable.
[[nodiscard]] Result<HttpServerPtr> serve_operations(const operations::ListenAddress& address, operations::HealthSources sources);
/// /metrics over TLS; null if it is not asked for. Errors: unavailable.
[[nodiscard]] Result<std::unique_ptr<MetricsService>> serve_metrics(const ListenerRunOptions& options,
                                                                    connectors::kubernetes::KubernetesCluster& cluster,
                                                                    std::function<std::string()> metrics, const MetricsOptions& served);

}  // namespace hindsight::runtime
