#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "operations/http_server.hpp"
#include "runtime/certificate_keeper.hpp"
#include "runtime/front_proxy.hpp"
#include "runtime/visibility_api.hpp"

namespace hindsight::runtime {

struct VisibilityOptions {
  operations::ListenAddress address;
  operations::TlsSettings tls;
  std::string service, secret, namespace_;
  bool makes_certificates = true;  ///< Otherwise tls.crt and tls.key, and ca.crt if it shall be registered, are in the folder.
  std::string folder;              ///< Keeps certificates here; empty: in the Secret.
  std::function<Time()> now;       ///< By which certificates are made and renewed.
};

/// The visibility API as an API server that is aggregated: answers over TLS what the front proxy of the cluster hands on, and nobody else,
/// and writes into the APIService objects whom to trust. The API server has authorized a request before it hands it on.
class VisibilityService {
 public:
  /// Listens and begins. `cluster`, and what `state` reads, must outlive it. Errors: unavailable, when the address cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<VisibilityService>> start(connectors::kubernetes::KubernetesCluster& cluster,
                                                                        StateReader state, const VisibilityOptions& options);
  ~VisibilityService();
  VisibilityService(const VisibilityService&) = delete;
  VisibilityService& operator=(const VisibilityService&) = delete;

  void stop();
  [[nodiscard]] const operations::ListenAddress& address() const { return server_->address(); }
  /// Good when a certificate is shown that the API server was told to trust.
  [[nodiscard]] operations::HealthCondition condition() const { return keeper_->condition(); }
  /// When its certificate ends; never: it shows none.
  [[nodiscard]] Time certificate_until() const { return keeper_->until(); }

 private:
  VisibilityService(connectors::kubernetes::KubernetesCluster& cluster, StateReader state, const operations::TlsSettings& tls);

  /// The answer to who is not the front proxy; nothing: it is.
  [[nodiscard]] std::optional<operations::HttpResponse> judge(const operations::HttpRequest& request) const;
  /// Learns who the front proxy is, and tells the APIServices whom to trust.
  Result<void> register_at_proxy(const std::string& authorities);
  Result<void> learn_front_proxy();

  connectors::kubernetes::KubernetesCluster& cluster_;
  const StateReader state_;
  std::shared_ptr<operations::TlsIdentity> identity_;
  mutable std::mutex mutex_;
  std::optional<FrontProxy> proxy_;  ///< Guarded by the mutex; nothing before it is known.
  std::unique_ptr<operations::HttpServer> server_;
  std::unique_ptr<CertificateKeeper> keeper_;
};

/// The merge patch that makes an APIService trust these authorities (PEM); nothing: it does, or there are none to tell.
[[nodiscard]] std::optional<std::string> api_service_patch(const connectors::manifests::Json& api_service, const std::string& authorities);

}  // namespace hindsight::runtime
