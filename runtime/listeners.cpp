#include "runtime/listeners.hpp"

#include "operations/logging.hpp"

namespace hindsight::runtime {
namespace {

using operations::LogLevel;

/// A kubelet asks once in a while, and nobody else has business there.
constexpr unsigned probe_threads = 2;
constexpr std::size_t probe_connections_max = 64;

void tell(const char* what, const operations::ListenAddress& address) {
  operations::log(LogLevel::info, what, {{"address", operations::to_string(address)}});
}

}  // namespace

Result<std::optional<operations::ListenAddress>> probe_address_of(const ListenerRunOptions& options) {
  if (options.probe_address.empty()) return std::optional<operations::ListenAddress>();
  auto address = operations::parse_listen_address(options.probe_address);
  if (!address) return fail(ErrorKind::invalid, "--probe-address: " + address.error().message);
  return std::optional(*address);
}

Result<MetricsOptions> metrics_options(const ListenerRunOptions& options, const operations::Configuration& configuration) {
  MetricsOptions out;
  if (!options.metrics) return out;
  if (!options.metrics_address.empty()) {
    auto address = operations::parse_listen_address(options.metrics_address);
    if (!address) return fail(ErrorKind::invalid, "--metrics-address: " + address.error().message);
    out.address = *address;
  } else if (configuration.metrics_address) {
    out.address = *configuration.metrics_address;
  } else {
    return fail(
        ErrorKind::invalid,
        "--metrics: metrics.bindAddress of the configuration says that there are none; allowed: --metrics-address, or another bindAddress");
  }
  out.tls = configuration.tls;
  out.service = options.metrics_service;
  out.namespace_ = configuration.namespace_;
  out.folder = options.metrics_folder;
  return out;
}

Result<HttpServerPtr> serve_probes(const std::optional<operations::ListenAddress>& address, const operations::HealthSources& sources) {
  if (!address) return HttpServerPtr();
  operations::HttpRoutes routes;
  operations::add_probe_routes(routes, sources);
  auto server = operations::HttpServer::start(
      {.address = *address, .threads = probe_threads, .waiting_max = probe_connections_max, .connections_max = probe_connections_max},
      std::move(routes));
  if (!server) return fail(server.error().kind, "probes: " + server.error().message);
  tell("probes listen", (*server)->address());
  return server;
}

Result<HttpServerPtr> serve_operations(const operations::ListenAddress& address, operations::HealthSources sources) {
  operations::HttpRoutes routes;
  operations::add_operational_routes(routes, std::move(sources));
  auto server = operations::HttpServer::start({.address = address}, std::move(routes));
  if (!server) return server;
  tell("HTTP listens", (*server)->address());
  if (!operations::is_loopback(address))
    operations::log(LogLevel::warning,
                    "--http can be reached from other machines: /metrics there does not ask who the caller is; --metrics does",
                    {{"address", operations::to_string((*server)->address())}});
  return server;
}

Result<std::unique_ptr<MetricsService>> serve_metrics(const ListenerRunOptions& options, connectors::kubernetes::KubernetesCluster& cluster,
                                                      std::function<std::string()> metrics, const MetricsOptions& served) {
  if (!options.metrics) return std::unique_ptr<MetricsService>();
  auto service = MetricsService::start(cluster, std::move(metrics), served);
  if (service) tell("metrics listen", (*service)->address());
  return service;
}

}  // namespace hindsight::runtime
