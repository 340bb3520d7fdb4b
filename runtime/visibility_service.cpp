#include "runtime/visibility_service.hpp"

#include <array>

#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/objects/served_types.hpp"
#include "runtime/cluster_requests.hpp"

namespace hindsight::runtime {
namespace {

namespace t = connectors::types;
using connectors::manifests::member;
using connectors::manifests::text;
using operations::HttpRequest;
using operations::HttpResponse;

constexpr std::array<const char*, 2> api_services{"v1beta2.visibility.kueue.x-k8s.io", "v1beta1.visibility.kueue.x-k8s.io"};
constexpr unsigned visibility_threads = 8;
constexpr std::size_t visibility_waiting_max = 256;
/// As for the webhooks: the API server's idle connections end on its side.
constexpr std::uint32_t visibility_idle_seconds = 120;

}  // namespace

std::optional<std::string> api_service_patch(const ObjectJson& api_service, const std::string& authorities) {
  if (authorities.empty()) return std::nullopt;
  const std::string bundle = connectors::kubernetes::encode_base64(authorities);
  const ObjectJson& spec = member(api_service, "spec");
  if (text(spec, "caBundle") == bundle && !connectors::manifests::flag(spec, "insecureSkipTLSVerify")) return std::nullopt;
  return ObjectJson{{"metadata", {{"resourceVersion", text(member(api_service, "metadata"), "resourceVersion")}}},
                    {"spec", {{"caBundle", bundle}, {"insecureSkipTLSVerify", nullptr}}}}
      .dump();
}

VisibilityService::VisibilityService(connectors::kubernetes::KubernetesCluster& cluster, StateReader state,
                                     const operations::TlsSettings& tls)
    : cluster_(cluster), state_(std::move(state)), identity_(std::make_shared<operations::TlsIdentity>(tls)) {}

Result<std::unique_ptr<VisibilityService>> VisibilityService::start(connectors::kubernetes::KubernetesCluster& cluster, StateReader state,
                                                                    const VisibilityOptions& options) {
  std::unique_ptr<VisibilityService> service(new VisibilityService(cluster, std::move(state), options.tls));
  operations::HttpRoutes routes;
  routes.add("GET", "/*", [raw = service.get()](const HttpRequest& q) { return answer_visibility(q, raw->state_); });
  operations::HttpServerOptions server_options;
  server_options.address = options.address;
  server_options.threads = visibility_threads;
  server_options.waiting_max = visibility_waiting_max;
  server_options.idle_seconds = visibility_idle_seconds;
  server_options.tls = service->identity_;
  server_options.judge = [raw = service.get()](const HttpRequest& q) { return raw->judge(q); };
  auto server = operations::HttpServer::start(server_options, std::move(routes));
  if (!server) return fail(server.error().kind, "visibility: " + server.error().message);
  service->server_ = std::move(*server);
  CertificateKeeperOptions keeper;
  keeper.what = "visibility";
  keeper.registered = "the visibility API is registered";
  keeper.wish = server_wish(options.service, options.namespace_, operations::SelfSignedWish{}.lifetime);
  keeper.store = options.folder.empty() ? secret_store(cluster, options.namespace_, options.secret) : folder_store(options.folder);
  keeper.makes_certificates = options.makes_certificates;
  keeper.folder = options.folder;
  keeper.now = options.now;
  keeper.identity = service->identity_;
  keeper.spread = [raw = service.get()](const std::string& authorities) { return raw->register_at_proxy(authorities); };
  service->keeper_ = std::make_unique<CertificateKeeper>(std::move(keeper));
  return service;
}

VisibilityService::~VisibilityService() { stop(); }

void VisibilityService::stop() {
  if (keeper_) keeper_->stop();
  if (server_) server_->stop();
}

std::optional<HttpResponse> VisibilityService::judge(const HttpRequest& request) const {
  const std::lock_guard lock(mutex_);
  if (!proxy_) return status_response(503, "ServiceUnavailable", "it is not known yet whose requests are good; ask again later");
  auto refusal = judge_origin(request, *proxy_);
  return refusal.status == 200 ? std::nullopt : std::optional(std::move(refusal));
}

Result<void> VisibilityService::learn_front_proxy() {
  auto config_map = read_object(cluster_, t::config_map, "kube-system", "extension-apiserver-authentication");
  if (!config_map) return tl::unexpected(config_map.error());
  if (!*config_map)
    return fail(ErrorKind::not_found,
                "ConfigMap kube-system/extension-apiserver-authentication: is not there; allowed: what the API server writes");
  auto proxy = read_front_proxy(**config_map);
  if (!proxy) return tl::unexpected(proxy.error());
  if (auto asked = identity_->ask_clients(proxy->authorities); !asked) return asked;
  const std::lock_guard lock(mutex_);
  proxy_ = std::move(*proxy);
  return {};
}

Result<void> VisibilityService::register_at_proxy(const std::string& authorities) {
  if (auto learned = learn_front_proxy(); !learned) return learned;
  for (const char* name : api_services) {
    auto object = read_object(cluster_, t::api_service, "", name);
    if (!object) return tl::unexpected(object.error());
    if (!*object)
      return fail(ErrorKind::not_found,
                  std::string("APIService ") + name + ": is not there; allowed: what stands in deploy/visibility.yaml");
    const auto patch = api_service_patch(**object, authorities);
    if (!patch) continue;
    connectors::Write write;
    write.type = &t::api_service;
    write.name = name;
    write.body = *patch;
    if (auto written = write_object(cluster_, std::move(write)); !written) return written;
  }
  return {};
}

}  // namespace hindsight::runtime
