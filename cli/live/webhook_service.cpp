#include "cli/live/webhook_service.hpp"

#include "cli/live/cluster_requests.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/webhooks/reviews.hpp"

namespace hindsight::cli {
namespace {

namespace w = connectors::webhooks;
namespace t = connectors::types;
using operations::HttpRequest;
using operations::HttpResponse;

constexpr const char* mutating_name = "hindsight-mutating-webhook-configuration";
constexpr const char* validating_name = "hindsight-validating-webhook-configuration";

/// Lists of the API server are converted page by page, 500 objects of up to tens of KiB at a time.
constexpr std::size_t body_bytes_max = 32U << 20U;
/// The API server keeps about as many connections open as it has requests under way; each holds a thread.
constexpr unsigned webhook_threads = 32;
constexpr std::uint32_t webhook_waiting_max = 1024;

/// Definitions are large, and seldom changed by others.
constexpr auto definitions_pause = std::chrono::minutes(10);

HttpResponse http(w::Answer answer) { return {.status = answer.http_status, .body = std::move(answer.body)}; }

operations::HttpRoutes routes_to(const w::Surroundings& around) {
  operations::HttpRoutes routes;
  for (const auto& kind : w::reviewed_kinds()) {
    routes.add("POST", kind.mutating_path, [&around](const HttpRequest& q) { return http(w::answer_mutation(q.body, around)); });
    if (!kind.validating_path.empty())
      routes.add("POST", kind.validating_path, [&around](const HttpRequest& q) { return http(w::answer_validation(q.body, around)); });
  }
  routes.add("POST", std::string(w::conversion_path), [](const HttpRequest& q) { return http(w::answer_conversion(q.body)); });
  return routes;
}

}  // namespace

Result<std::string> host_of_webhook_url(const std::string& url) {
  constexpr std::string_view scheme = "https://";
  const auto bad = [&] { return fail(ErrorKind::invalid, "--webhook-url: found \"" + url + "\"; allowed: https://HOST:PORT"); };
  if (!url.starts_with(scheme)) return bad();
  std::string rest = url.substr(scheme.size());
  if (rest.find_first_of("/?#@ ") != std::string::npos) return bad();
  const auto colon = rest.rfind(':');
  if (colon != std::string::npos && rest.find(']', colon) == std::string::npos) rest.erase(colon);
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) return bad();
  return rest;
}

WebhookService::WebhookService(connectors::kubernetes::KubernetesCluster& cluster, WebhookOptions options)
    : cluster_(cluster), options_(std::move(options)), identity_(std::make_shared<operations::TlsIdentity>(options_.tls)) {
  client_.url = options_.url;
  client_.service = options_.service;
  client_.service_namespace = options_.namespace_;
}

Result<std::unique_ptr<WebhookService>> WebhookService::start(connectors::kubernetes::KubernetesCluster& cluster,
                                                              const w::Surroundings& around, WebhookOptions options) {
  CertificateKeeperOptions keeper;
  keeper.what = "webhooks";
  keeper.registered = "webhooks are registered";
  keeper.wish = server_wish(options.service, options.namespace_, options.lifetime);
  if (!options.url.empty()) {
    auto host = host_of_webhook_url(options.url);
    if (!host) return tl::unexpected(host.error());
    keeper.wish.names.push_back(std::move(*host));
  }
  keeper.store = options.folder.empty() ? secret_store(cluster, options.namespace_, options.secret) : folder_store(options.folder);
  keeper.makes_certificates = options.makes_certificates;
  keeper.folder = options.folder;
  std::unique_ptr<WebhookService> service(new WebhookService(cluster, std::move(options)));
  auto server = operations::HttpServer::start({.address = service->options_.address,
                                               .threads = webhook_threads,
                                               .waiting_max = webhook_waiting_max,
                                               .request_seconds = 10,
                                               .body_bytes_max = body_bytes_max,
                                               .tls = service->identity_},
                                              routes_to(around));
  if (!server) return fail(server.error().kind, "webhooks: " + server.error().message);
  service->server_ = std::move(*server);
  keeper.identity = service->identity_;
  keeper.spread = [raw = service.get()](const std::string& authorities) {
    raw->client_.authorities = authorities;
    return raw->register_everywhere();
  };
  service->keeper_ = std::make_unique<CertificateKeeper>(std::move(keeper));
  return service;
}

WebhookService::~WebhookService() { stop(); }

void WebhookService::stop() {
  if (keeper_) keeper_->stop();
  if (server_) server_->stop();
}

Result<void> WebhookService::register_everywhere() {
  for (const auto* type : {&t::mutating_webhook_configuration, &t::validating_webhook_configuration})
    if (auto done =
            register_at(*type, type == &t::mutating_webhook_configuration ? mutating_name : validating_name, "deploy/webhooks.yaml");
        !done)
      return done;
  const auto clock = std::chrono::steady_clock::now();
  if (registered_ == client_.authorities && clock - definitions_seen_ < definitions_pause &&
      definitions_seen_.time_since_epoch().count() != 0)
    return {};
  for (const auto& kind : w::reviewed_kinds()) {
    const auto& type = *kind.kind->type;
    if (type.group != t::workload.group) continue;
    if (auto done = register_at(t::custom_resource_definition, std::string(type.plural) + "." + std::string(type.group), "deploy/crds");
        !done)
      return done;
  }
  definitions_seen_ = clock;
  registered_ = client_.authorities;
  return {};
}

Result<void> WebhookService::register_at(const connectors::ResourceType& type, const std::string& name, const std::string& file) {
  auto object = read_object(cluster_, type, "", name);
  if (!object) return tl::unexpected(object.error());
  if (!*object) return fail(ErrorKind::not_found, std::string(type.kind) + " " + name + ": is not there; allowed: what stands in " + file);
  const bool definition = &type == &t::custom_resource_definition;
  const auto patch = definition ? w::definition_patch(**object, client_) : w::configuration_patch(**object, client_);
  if (!patch) return {};
  connectors::Write write;
  write.type = &type;
  write.name = name;
  write.body = *patch;
  return write_object(cluster_, std::move(write));
}

}  // namespace hindsight::cli
