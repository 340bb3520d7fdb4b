#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "connectors/webhooks/registration.hpp"
#include "connectors/webhooks/surroundings.hpp"
#include "operations/health.hpp"
#include "operations/http_server.hpp"
#include "runtime/certificate_keeper.hpp"

namespace hindsight::runtime {

struct WebhookOptions {
  operations::ListenAddress address;
  operations::TlsSettings tls;
  std::string url;                          ///< By which the API server reaches us; empty: through the Service.
  std::string service, secret, namespace_;  ///< Of internalCertManagement.
  bool makes_certificates = true;           ///< Otherwise tls.crt and tls.key, and ca.crt if it shall be registered, are in the folder.
  std::string folder;                       ///< Keeps certificates here; empty: in the Secret.
  std::string client_authorities;  ///< A file, PEM: who signs the certificate that the API server shows; empty: it is asked for none.
  std::vector<std::string> client_names;  ///< Common names of it; empty: whatever those have signed.
  Duration lifetime = Duration::seconds(365 * 24 * 3600);
  std::function<Time()> now;  ///< By which certificates are made and renewed.
};

/// The host of "https://HOST:PORT". Errors: invalid, for anything else.
[[nodiscard]] Result<std::string> host_of_webhook_url(const std::string& url);

/// What webhooks answer, and under which bounds. `around` must outlive the routes.
[[nodiscard]] operations::HttpRoutes webhook_routes(const connectors::webhooks::Surroundings& around);
[[nodiscard]] operations::HttpServerOptions webhook_server_options(const WebhookOptions& options,
                                                                   std::shared_ptr<const operations::TlsIdentity> identity);

/// The webhooks of a cluster: answers them over TLS, and keeps the certificates fresh and the API server informed of whom to trust
/// (CertificateKeeper).
class WebhookService {
 public:
  /// Listens and begins. `around` and `cluster` must outlive it. Errors: unavailable, when the address cannot be had; invalid, for an URL
  /// that is none.
  [[nodiscard]] static Result<std::unique_ptr<WebhookService>> start(connectors::kubernetes::KubernetesCluster& cluster,
                                                                     const connectors::webhooks::Surroundings& around,
                                                                     WebhookOptions options);
  ~WebhookService();
  WebhookService(const WebhookService&) = delete;
  WebhookService& operator=(const WebhookService&) = delete;

  void stop();
  [[nodiscard]] const operations::ListenAddress& address() const { return server_->address(); }
  /// Good when a certificate is shown that the API server was told to trust.
  [[nodiscard]] operations::HealthCondition condition() const { return keeper_->condition(); }
  /// When its certificate ends; never: it shows none.
  [[nodiscard]] Time certificate_until() const { return keeper_->until(); }

 private:
  WebhookService(connectors::kubernetes::KubernetesCluster& cluster, WebhookOptions options);

  /// Reads again who signs the certificate of the API server.
  Result<void> learn_clients();
  /// In configurations and definitions.
  Result<void> register_everywhere();
  Result<void> register_at(const connectors::ResourceType& type, const std::string& name, const std::string& file);

  connectors::kubernetes::KubernetesCluster& cluster_;
  WebhookOptions options_;
  connectors::webhooks::ClientConfig client_;
  std::shared_ptr<operations::TlsIdentity> identity_;
  std::unique_ptr<operations::HttpServer> server_;

  std::string registered_;  ///< The authorities that the API server was told of; of the keeper's thread, as the next.
  std::chrono::steady_clock::time_point definitions_seen_{};
  std::unique_ptr<CertificateKeeper> keeper_;
};

}  // namespace hindsight::runtime
