#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "operations/health.hpp"
#include "operations/tls.hpp"
#include "runtime/certificate_store.hpp"

namespace hindsight::runtime {

struct CertificateKeeperOptions {
  std::string what;        ///< "webhooks": the condition, and before what is told.
  std::string registered;  ///< "webhooks are registered": told when all is well.
  std::shared_ptr<operations::TlsIdentity> identity;
  std::unique_ptr<CertificateStore> store;
  operations::SelfSignedWish wish;
  bool makes_certificates = true;  ///< Otherwise tls.crt and tls.key, and ca.crt if it shall be registered, are in the folder.
  std::string folder;              ///< For messages.
  /// By whose time certificates begin and end: the API server must find that they have begun, so not simply the machine's.
  std::function<Time()> now;
  /// Tells the API server to trust these authorities (PEM); called in every round, on the keeper's thread.
  std::function<Result<void>(const std::string& authorities)> spread;
};

/// Keeps the certificate of a TLS server fresh and the API server informed of whom to trust, on a thread of its own. New trust is spread
/// before the certificate that needs it is shown, so no request fails for a renewal. What cannot be done is told once, and tried again.
class CertificateKeeper {
 public:
  explicit CertificateKeeper(CertificateKeeperOptions options);
  ~CertificateKeeper();
  CertificateKeeper(const CertificateKeeper&) = delete;
  CertificateKeeper& operator=(const CertificateKeeper&) = delete;

  void stop();
  /// Good when a certificate is shown that the API server was told to trust.
  [[nodiscard]] operations::HealthCondition condition() const;
  /// When the certificate that is shown ends; never: none is shown.
  [[nodiscard]] Time until() const;

 private:
  void keep(const std::stop_token& stop);
  Result<void> look_after_all(const std::stop_token& stop);
  Result<operations::SelfSigned> present_certificates();
  void tell(const Result<void>& outcome);

  CertificateKeeperOptions options_;
  operations::SelfSigned shown_;  ///< What is in use; of the keeper's thread, as the next.
  std::string spread_;            ///< The authorities that the API server was told of.

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string detail_ = "no certificate yet";
  bool good_ = false;
  Time until_;
  std::jthread thread_;
};

}  // namespace hindsight::runtime
