#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vocabulary/result.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace hindsight::operations {

/// What TLS a server speaks (base-api §11, section tls). Names are those of Go's crypto/tls, by which the field is documented.
struct TlsSettings {
  std::string min_version = "VersionTLS12";  ///< VersionTLS10 … VersionTLS13; the library may ask for more.
  std::vector<std::string> cipher_suites;    ///< Up to TLS 1.2; empty: those of the library.
  std::vector<std::string> curves;           ///< In order of preference; empty: those of the library.
};

/// The certificate that a server shows. It may change while connections are open: those keep the one they began with. Thread-safe.
class TlsIdentity {
 public:
  explicit TlsIdentity(TlsSettings settings = {}) : settings_(std::move(settings)) {}
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  /// Shows this certificate from now on; PEM, with intermediates after the first. Errors: invalid, when it does not read, the key is not
  /// its key, or the settings name what the library does not have.
  [[nodiscard]] Result<void> use(const std::string& certificate_pem, const std::string& key_pem);

  /// Asks clients for a certificate from now on, signed by one of these (PEM): one that is not good ends the connection, none at all is for
  /// the handler to judge (HttpRequest::client). Errors: invalid, when none reads.
  [[nodiscard]] Result<void> ask_clients(const std::string& authorities_pem);

  /// The server's side of a connection on that socket; null before the first certificate. To be freed with SSL_free.
  [[nodiscard]] ssl_st* begin(int socket) const;

 private:
  struct Shown {
    std::string certificate, key;
    std::string client_authorities;  ///< Empty: clients are not asked.
  };
  Result<void> change(Shown shown);

  TlsSettings settings_;
  mutable std::mutex mutex_;
  Shown shown_;
  std::shared_ptr<ssl_ctx_st> context_;  ///< Null before the first certificate.
};

/// What OpenSSL's error queue says last, and empties it.
[[nodiscard]] std::string take_tls_error();

}  // namespace hindsight::operations
