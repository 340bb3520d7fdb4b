#pragma once

#include <functional>
#include <memory>
#include <string>

#include "operations/http_server.hpp"
#include "runtime/access_reviews.hpp"
#include "runtime/certificate_keeper.hpp"

namespace hindsight::runtime {

struct MetricsOptions {
  operations::ListenAddress address;
  operations::TlsSettings tls;
  std::string service, namespace_;  ///< To whose name the certificate is made out.
  std::string folder;               ///< Has tls.crt and tls.key, read again and again; empty: a certificate is made for as long as we run.
  std::function<Time()> now;        ///< By which certificates are made and renewed.
};

/// /metrics over TLS, for callers who show a token of somebody who may get it (AccessReviews).
class MetricsService {
 public:
  /// Listens and begins. `cluster` must outlive it. Errors: unavailable, when the address cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<MetricsService>> start(connectors::kubernetes::KubernetesCluster& cluster,
                                                                     std::function<std::string()> metrics, const MetricsOptions& options);
  ~MetricsService();
  MetricsService(const MetricsService&) = delete;
  MetricsService& operator=(const MetricsService&) = delete;

  void stop();
  [[nodiscard]] const operations::ListenAddress& address() const { return server_->address(); }

 private:
  MetricsService(connectors::kubernetes::KubernetesCluster& cluster, const operations::TlsSettings& tls);

  AccessReviews reviews_;
  std::shared_ptr<operations::TlsIdentity> identity_;
  std::unique_ptr<operations::HttpServer> server_;
  std::unique_ptr<CertificateKeeper> keeper_;
};

}  // namespace hindsight::runtime
