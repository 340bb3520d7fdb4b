#include "runtime/metrics_service.hpp"

#include "runtime/cluster_requests.hpp"

namespace hindsight::runtime {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;

/// Some may wait for the API server while others are known already.
constexpr unsigned metrics_threads = 6;
constexpr std::size_t metrics_connections_max = 256;
/// Longer than scrapers wait between two scrapes: who keeps the connection over which it was let in is no stranger.
constexpr std::uint32_t metrics_idle_seconds = 120;

}  // namespace

MetricsService::MetricsService(connectors::kubernetes::KubernetesCluster& cluster, const operations::TlsSettings& tls)
    : reviews_([&cluster](const std::string& path, const std::string& body) { return post_and_wait(cluster, path, body); }),
      identity_(std::make_shared<operations::TlsIdentity>(tls)) {}

Result<std::unique_ptr<MetricsService>> MetricsService::start(connectors::kubernetes::KubernetesCluster& cluster,
                                                              std::function<std::string()> metrics, const MetricsOptions& options) {
  std::unique_ptr<MetricsService> service(new MetricsService(cluster, options.tls));
  operations::HttpRoutes routes;
  routes.add("GET", "/metrics", [raw = service.get(), show = operations::metrics_handler(std::move(metrics))](const HttpRequest& q) {
    auto refusal = raw->reviews_.judge(q);
    return refusal.status == 200 ? show(q) : refusal;
  });
  operations::HttpServerOptions server_options{.address = options.address, .threads = metrics_threads};
  server_options.connections_max = metrics_connections_max;
  server_options.idle_seconds = metrics_idle_seconds;
  server_options.tls = service->identity_;
  // A caller without a token costs no thread.
  server_options.judge = [](const HttpRequest& q) {
    return AccessReviews::bearer_token(q).empty() ? std::optional(AccessReviews::without_token()) : std::nullopt;
  };
  auto server = operations::HttpServer::start(server_options, std::move(routes));
  if (!server) return fail(server.error().kind, "metrics: " + server.error().message);
  service->server_ = std::move(*server);
  CertificateKeeperOptions keeper;
  keeper.what = "metrics";
  keeper.registered = "metrics are served";
  keeper.wish = server_wish(options.service, options.namespace_, operations::SelfSignedWish{}.lifetime);
  keeper.store = options.folder.empty() ? memory_store() : folder_store(options.folder);
  keeper.makes_certificates = options.folder.empty();
  keeper.folder = options.folder;
  keeper.now = options.now;
  keeper.identity = service->identity_;
  keeper.spread = [](const std::string&) { return Result<void>(); };
  service->keeper_ = std::make_unique<CertificateKeeper>(std::move(keeper));
  return service;
}

MetricsService::~MetricsService() { stop(); }

void MetricsService::stop() {
  if (keeper_) keeper_->stop();
  if (server_) server_->stop();
}

}  // namespace hindsight::runtime
