#pragma once

#include <memory>
#include <string>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "operations/self_signed.hpp"

namespace hindsight::runtime {

/// Where certificates are kept between one process and the next, and between copies: ca.crt, ca.key, tls.crt, tls.key.
class CertificateStore {
 public:
  virtual ~CertificateStore() = default;
  /// What is there; empty texts for what is not. Errors: unavailable, denied, io.
  [[nodiscard]] virtual Result<operations::SelfSigned> load() = 0;
  /// Keeps it in place of what was loaded last. Errors as above, and conflict when somebody else wrote since.
  [[nodiscard]] virtual Result<void> save(const operations::SelfSigned& certificates) = 0;
};

/// A Secret of type kubernetes.io/tls, made when it is not there.
[[nodiscard]] std::unique_ptr<CertificateStore> secret_store(connectors::kubernetes::KubernetesCluster& cluster, std::string namespace_,
                                                             std::string name);
/// Files in a folder, which is made when it is not there; keys are readable by their owner only. For one process.
[[nodiscard]] std::unique_ptr<CertificateStore> folder_store(std::string folder);

/// Nowhere: it ends with the process.
[[nodiscard]] std::unique_ptr<CertificateStore> memory_store();

/// What a server that is reached through a Service wants; its authority lives ten times as long as its certificate, at least ten years.
[[nodiscard]] operations::SelfSignedWish server_wish(const std::string& service, const std::string& namespace_, Duration lifetime);

}  // namespace hindsight::runtime
