#include "cli/live/webhook_service.hpp"

#include <algorithm>
#include <chrono>

#include "cli/live/cluster_requests.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/webhooks/reviews.hpp"
#include "operations/logging.hpp"

namespace hindsight::cli {
namespace {

namespace w = connectors::webhooks;
namespace t = connectors::types;
using operations::HttpRequest;
using operations::HttpResponse;
using operations::LogLevel;
using std::chrono::milliseconds;

constexpr const char* mutating_name = "hindsight-mutating-webhook-configuration";
constexpr const char* validating_name = "hindsight-validating-webhook-configuration";

/// Lists of the API server are converted page by page, 500 objects of up to tens of KiB at a time.
constexpr std::size_t body_bytes_max = 32U << 20U;
/// The API server keeps about as many connections open as it has requests under way; each holds a thread.
constexpr unsigned threads = 32;
constexpr std::uint32_t waiting_max = 1024;

constexpr milliseconds pause_after_failure{1000};
constexpr milliseconds longest_pause{30'000};
/// Definitions are large, and seldom changed by others.
constexpr auto definitions_pause = std::chrono::minutes(10);
/// An API server hears of changed configurations by a watch.
constexpr milliseconds spreading{2000};

Time now() { return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()}; }

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
    : cluster_(cluster), options_(std::move(options)) {
  identity_ = std::make_shared<operations::TlsIdentity>(options_.tls);
  store_ = options_.folder.empty() ? secret_store(cluster_, options_.namespace_, options_.secret) : folder_store(options_.folder);
  client_.url = options_.url;
  client_.service = options_.service;
  client_.service_namespace = options_.namespace_;
  wish_.lifetime = options_.lifetime;
  wish_.authority_lifetime = {std::max(wish_.authority_lifetime.micros, options_.lifetime.micros * 10)};
  const std::string in_namespace = options_.service + "." + options_.namespace_;
  wish_.names = {in_namespace + ".svc", in_namespace, in_namespace + ".svc.cluster.local"};
}

Result<std::unique_ptr<WebhookService>> WebhookService::start(connectors::kubernetes::KubernetesCluster& cluster,
                                                              const w::Surroundings& around, WebhookOptions options) {
  std::string host;
  if (!options.url.empty()) {
    auto found = host_of_webhook_url(options.url);
    if (!found) return tl::unexpected(found.error());
    host = std::move(*found);
  }
  std::unique_ptr<WebhookService> service(new WebhookService(cluster, std::move(options)));
  if (!host.empty()) service->wish_.names.push_back(host);
  auto server = operations::HttpServer::start({.address = service->options_.address,
                                               .threads = threads,
                                               .waiting_max = waiting_max,
                                               .request_seconds = 10,
                                               .body_bytes_max = body_bytes_max,
                                               .tls = service->identity_},
                                              routes_to(around));
  if (!server) return fail(server.error().kind, "webhooks: " + server.error().message);
  service->server_ = std::move(*server);
  service->keeper_ = std::jthread([raw = service.get()](std::stop_token stop) { raw->keep(std::move(stop)); });
  return service;
}

WebhookService::~WebhookService() { stop(); }

void WebhookService::stop() {
  keeper_.request_stop();
  if (keeper_.joinable()) keeper_.join();
  if (server_) server_->stop();
}

operations::HealthCondition WebhookService::condition() const {
  const std::lock_guard lock(mutex_);
  return {"webhooks", good_, detail_};
}

void WebhookService::keep(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto outcome = look_after_all(stop);
    tell(outcome);
    // Often enough to see a certificate age, whatever its life.
    const milliseconds life(options_.lifetime.micros / 1000);
    const milliseconds pause = outcome ? std::clamp(life / 20, pause_after_failure, longest_pause) : pause_after_failure;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
}

Result<operations::SelfSigned> WebhookService::present_certificates() {
  auto stored = store_->load();
  if (!stored) return stored;
  if (!options_.makes_certificates) {
    if (stored->serving.certificate.empty() || stored->serving.key.empty())
      return fail(ErrorKind::not_found, options_.folder + ": found no tls.crt and tls.key; allowed: both, PEM");
    return stored;
  }
  // What was thrown away is made anew, but what others still show is believed a while longer.
  if (stored->authorities.empty()) stored->authorities = shown_.authorities;
  auto fresh = operations::keep_fresh(*stored, wish_, now());
  if (!fresh || *fresh == *stored) return fresh;
  if (auto saved = store_->save(*fresh); !saved) return tl::unexpected(saved.error());
  operations::log(LogLevel::info, "made webhook certificates",
                  {{"until", format_rfc3339(operations::read_certificate(fresh->serving.certificate)->not_after)}});
  return fresh;
}

/// One round: certificates, whom to trust, what to show.
Result<void> WebhookService::look_after_all(std::stop_token stop) {
  auto certificates = present_certificates();
  if (!certificates) return tl::unexpected(certificates.error());
  const bool first = shown_.serving.certificate.empty();
  const bool new_trust = certificates->authorities != registered_;
  client_.authorities = certificates->authorities;
  if (first)
    if (auto shown = identity_->use(certificates->serving.certificate, certificates->serving.key); !shown) return shown;
  if (auto done = register_everywhere(); !done) {
    // An old certificate serves nobody any more: the new one cannot be worse.
    const auto facts = operations::read_certificate(shown_.serving.certificate);
    if (facts && facts->not_after > now()) return done;
    (void)identity_->use(certificates->serving.certificate, certificates->serving.key);
    return done;
  }
  if (!first && !(shown_ == *certificates)) {
    if (new_trust) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, spreading, [] { return false; });
    }
    if (auto shown = identity_->use(certificates->serving.certificate, certificates->serving.key); !shown) return shown;
    operations::log(LogLevel::info, "webhooks show a new certificate");
  }
  shown_ = std::move(*certificates);
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

/// Says what changed, once.
void WebhookService::tell(const Result<void>& outcome) {
  std::string detail;
  if (outcome)
    detail = "registered, certificate until " +
             format_rfc3339(operations::read_certificate(shown_.serving.certificate).value_or(operations::CertificateFacts{}).not_after);
  else
    detail = outcome.error().message;
  bool news = false, good = false;
  {
    const std::lock_guard lock(mutex_);
    news = good_ != outcome.has_value() || (!outcome && detail_ != detail);
    good_ = good = outcome.has_value();
    detail_ = detail;
  }
  if (news) operations::log(good ? LogLevel::info : LogLevel::warning, good ? "webhooks are registered" : "webhooks: " + detail);
}

}  // namespace hindsight::cli
