#include "runtime/webhook_service.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include "connectors/objects/resource_types.hpp"
#include "connectors/webhooks/reviews.hpp"
#include "runtime/cluster_requests.hpp"
#include "runtime/cluster_surroundings.hpp"

namespace hindsight::runtime {
namespace {

namespace w = connectors::webhooks;
namespace t = connectors::types;
using operations::HttpRequest;
using operations::HttpResponse;

constexpr const char* mutating_name = "hindsight-mutating-webhook-configuration";
constexpr const char* validating_name = "hindsight-validating-webhook-configuration";

/// An object and what it was before: the API server takes 3 MiB of each.
constexpr std::size_t review_bytes_max = 8U << 20U;
/// Lists of the API server are converted page by page, 500 objects of up to tens of KiB at a time.
constexpr std::size_t conversion_bytes_max = 32U << 20U;
/// A list of 32 MiB, as Workloads are, takes this.
constexpr std::size_t request_memory_max = 384U << 20U;
/// A body of a quarter of a MiB, as Jobs are, takes this.
constexpr std::size_t small_request_memory_max = 8U << 20U;
/// Of all small ones together; hundreds of Jobs that are made at once take tens of MiB.
constexpr std::size_t small_requests_memory_max = 256U << 20U;
/// Before the mirror is complete, answers wait for the API server.
constexpr unsigned webhook_threads = 16;
constexpr std::size_t webhook_waiting_max = 512;
/// The API server keeps about as many connections open as it has requests under way, and closes them after 90 s: later than that we do,
/// because a request that meets the end of its connection fails.
constexpr std::size_t webhook_connections_max = 768;
constexpr std::uint32_t webhook_idle_seconds = 120;
constexpr std::size_t client_authorities_bytes_max = 1U << 20U;

/// Definitions are large, and seldom changed by others.
constexpr auto definitions_pause = std::chrono::minutes(10);

HttpResponse http(w::Answer answer) { return {.status = answer.http_status, .body = std::move(answer.body)}; }

/// A review, whose caller is the one whose lookups count. The API server asks again by itself where it is told when.
HttpResponse review(w::Answer (*answer)(std::string_view, const w::Surroundings&), const HttpRequest& request,
                    const w::Surroundings& around) {
  const LookupCaller caller(request);
  try {
    return http(answer(request.body, around));
  } catch (const TooManyLookups& e) {
    auto out = operations::http_error(429, e.what());
    out.headers.emplace_back("Retry-After", "1");
    return out;
  }
}

/// Refuses reviews that do not come from an API server that we know. The API server has no certificate for conversions, which depend on
/// nothing and change nothing.
std::optional<HttpResponse> judge_caller(const HttpRequest& request, const std::vector<std::string>& names) {
  if (request.path == w::conversion_path) return std::nullopt;
  if (request.client.empty())
    return operations::http_error(401, "found no client certificate; allowed: one that --webhook-client-ca has signed");
  if (!names.empty() && std::find(names.begin(), names.end(), request.client) == names.end())
    return operations::http_error(403,
                                  "found a client certificate of \"" + request.client + "\"; allowed: the names of --webhook-client-name");
  return std::nullopt;
}

}  // namespace

operations::HttpRoutes webhook_routes(const w::Surroundings& around) {
  operations::HttpRoutes routes;
  const operations::HttpBodyLimits reviews{.bytes_max = review_bytes_max, .weigh = &w::memory_to_review};
  for (const auto& kind : w::reviewed_kinds()) {
    routes.add(
        "POST", kind.mutating_path, [&around](const HttpRequest& q) { return review(&w::answer_mutation, q, around); }, reviews);
    if (!kind.validating_path.empty())
      routes.add(
          "POST", kind.validating_path, [&around](const HttpRequest& q) { return review(&w::answer_validation, q, around); }, reviews);
  }
  routes.add("POST", std::string(w::conversion_path), [](const HttpRequest& q) { return http(w::answer_conversion(q.body)); },
             {.bytes_max = conversion_bytes_max, .weigh = &w::memory_to_convert});
  return routes;
}

operations::HttpServerOptions webhook_server_options(const WebhookOptions& options,
                                                     std::shared_ptr<const operations::TlsIdentity> identity) {
  operations::HttpServerOptions out;
  out.address = options.address;
  out.threads = webhook_threads;
  out.waiting_max = webhook_waiting_max;
  out.connections_max = webhook_connections_max;
  out.idle_seconds = webhook_idle_seconds;
  out.body_bytes_max = conversion_bytes_max;
  out.small_request_memory_max = small_request_memory_max;
  out.request_memory_max = request_memory_max;
  out.small_requests_memory_max = small_requests_memory_max;
  out.tls = std::move(identity);
  if (!options.client_authorities.empty())
    out.judge = [names = options.client_names](const HttpRequest& q) { return judge_caller(q, names); };
  return out;
}

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
  keeper.now = options.now;
  std::unique_ptr<WebhookService> service(new WebhookService(cluster, std::move(options)));
  if (auto learned = service->learn_clients(); !learned) return tl::unexpected(learned.error());
  auto server = operations::HttpServer::start(webhook_server_options(service->options_, service->identity_), webhook_routes(around));
  if (!server) return fail(server.error().kind, "webhooks: " + server.error().message);
  service->server_ = std::move(*server);
  keeper.identity = service->identity_;
  keeper.spread = [raw = service.get()](const std::string& authorities) {
    raw->client_.authorities = authorities;
    if (auto learned = raw->learn_clients(); !learned) return learned;
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

Result<void> WebhookService::learn_clients() {
  const auto& file = options_.client_authorities;
  if (file.empty()) return {};
  std::ifstream stream(file, std::ios::binary);
  std::string text(client_authorities_bytes_max + 1, '\0');  // one more byte shows that there are too many
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > client_authorities_bytes_max)
    return fail(ErrorKind::invalid, "--webhook-client-ca: " + file + ": it has more than " + std::to_string(client_authorities_bytes_max) +
                                        " bytes; allowed: a file with certificates, PEM");
  if (text.empty())
    return fail(ErrorKind::not_found, "--webhook-client-ca: " + file + ": cannot be read; allowed: a file with certificates, PEM");
  if (auto asked = identity_->ask_clients(text); !asked)
    return fail(asked.error().kind, "--webhook-client-ca: " + file + ": " + asked.error().message);
  return {};
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

}  // namespace hindsight::runtime
