#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "operations/tls.hpp"
#include "page/server/page.hpp"
#include "runtime/certificate_keeper.hpp"
#include "runtime/page_run_options.hpp"
#include "runtime/review_requests.hpp"

namespace hindsight::runtime {

struct PageServiceOptions {
  PageRunOptions asked;
  std::string address_option = "--listen";  ///< For messages.
  std::string memory_option = "--memory";   ///< Likewise.
  operations::TlsSettings tls;
  std::function<Time()> now;  ///< By which certificates are made and renewed; empty: the clock of this machine.
  std::string log, log_config;
  bool beside_decisions = false;  ///< This process decides, too: the page gives way.
};

/// Where it is to listen. Errors: invalid: it is no address, or others can reach it and there is no cluster to ask who they are.
[[nodiscard]] Result<operations::ListenAddress> page_address(const PageServiceOptions& options, bool has_cluster);

/// The page of a log. On a loopback address whoever gets there sees all; on others it speaks TLS, and the API server says who asks
/// (TokenReview) and of which namespaces he may get Workloads (SubjectAccessReview).
class PageService {
 public:
  /// `cluster`: null where there is none; else it must outlive this. Errors: as page_address, those of opening the log, and unavailable
  /// when the address cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<PageService>> start(const PageServiceOptions& options,
                                                                  connectors::kubernetes::KubernetesCluster* cluster);
  ~PageService();
  PageService(const PageService&) = delete;
  PageService& operator=(const PageService&) = delete;

  void stop();
  /// "http://127.0.0.1:8080/", with a name that its certificate has where it speaks TLS.
  [[nodiscard]] std::string url() const;

 private:
  PageService() = default;

  std::string url_host_;
  std::shared_ptr<operations::TlsIdentity> identity_;  ///< Null: plain text.
  std::unique_ptr<page::Page> page_;
  std::unique_ptr<CertificateKeeper> keeper_;
};

/// What the page asks the API server of people.
[[nodiscard]] page::Reviews page_reviews(AskServer ask);

}  // namespace hindsight::runtime
