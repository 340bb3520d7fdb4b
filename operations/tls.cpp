#include "operations/tls.hpp"

#include <algorithm>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "operations/openssl_owner.hpp"

namespace hindsight::operations {
namespace {

constexpr long client_certificates_bytes_max = 32 * 1024;

int version_of(std::string_view name) {
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  if (name == "VersionTLS11") return TLS1_1_VERSION;
  if (name == "VersionTLS10") return TLS1_VERSION;
  return TLS1_2_VERSION;
}

/// The library's list of suites by their standard names, which Go uses too, but for one that it calls by a shorter one as well.
Result<std::string> suites_of(SSL_CTX* context, const std::vector<std::string>& names) {
  SSL_CTX_set_cipher_list(context, "ALL:COMPLEMENTOFALL");
  STACK_OF(SSL_CIPHER)* all = SSL_CTX_get_ciphers(context);
  std::string list;
  for (const auto& name : names) {
    std::string found;
    for (int i = 0; i < sk_SSL_CIPHER_num(all) && found.empty(); ++i) {
      const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(all, i);
      const char* standard = SSL_CIPHER_standard_name(cipher);
      if (standard != nullptr && (name == standard || name + "_SHA256" == standard)) found = SSL_CIPHER_get_name(cipher);
    }
    if (!found.empty()) list.append(list.empty() ? "" : ":").append(found);
  }
  if (list.empty()) return fail(ErrorKind::invalid, "tls.cipherSuites: found none that this library has; allowed: at least one");
  return list;
}

std::string groups_of(const std::vector<std::string>& curves) {
  std::string list;
  for (const auto& curve : curves) {
    const char* name = curve == "CurveP256" || curve == "23"   ? "P-256"
                       : curve == "CurveP384" || curve == "24" ? "P-384"
                       : curve == "CurveP521" || curve == "25" ? "P-521"
                       : curve == "X25519" || curve == "29"    ? "X25519"
                                                               : nullptr;
    if (name != nullptr) list.append(list.empty() ? "" : ":").append(name);
  }
  return list;
}

/// Clients are asked for a certificate by one of these. No session is taken up again by a ticket: it would stand for what was believed
/// before.
Result<void> ask(SSL_CTX* context, const std::string& authorities_pem) {
  const auto text = bytes_of(authorities_pem);
  int found = 0;
  while (true) {
    const OpensslOwner<X509> one(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
    if (!one) break;
    found += X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get());
  }
  ERR_clear_error();  // the end of the text
  if (found == 0) return fail(ErrorKind::invalid, "TLS authorities of clients: found no certificate; allowed: PEM");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  return {};
}

Result<void> show(SSL_CTX* context, const std::string& certificate_pem, const std::string& key_pem) {
  const auto bad = [](const char* what) {
    return fail(ErrorKind::invalid, std::string("TLS ") + what + ": " + take_tls_error() + "; allowed: PEM");
  };
  const auto chain = bytes_of(certificate_pem);
  const OpensslOwner<X509> first(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  if (!first || SSL_CTX_use_certificate(context, first.get()) != 1) return bad("certificate");
  while (X509* more = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr))
    if (SSL_CTX_add0_chain_cert(context, more) != 1) X509_free(more);
  ERR_clear_error();  // the end of the text
  const OpensslOwner<EVP_PKEY> key(PEM_read_bio_PrivateKey(bytes_of(key_pem).get(), nullptr, nullptr, nullptr));
  if (!key) return bad("key");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
    return fail(ErrorKind::invalid, "TLS key: found one that does not belong to the certificate; allowed: its own");
  return {};
}

}  // namespace

std::string take_tls_error() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "nothing that reads";
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "error " + std::to_string(code) : reason;
}

Result<void> TlsIdentity::use(const std::string& certificate_pem, const std::string& key_pem) {
  if (certificate_pem.empty()) return fail(ErrorKind::invalid, "TLS certificate: found none; allowed: PEM");
  const std::lock_guard lock(mutex_);
  Shown next = shown_;
  next.certificate = certificate_pem;
  next.key = key_pem;
  return change(std::move(next));
}

Result<void> TlsIdentity::ask_clients(const std::string& authorities_pem) {
  const std::lock_guard lock(mutex_);
  if (shown_.client_authorities == authorities_pem) return {};
  Shown next = shown_;
  next.client_authorities = authorities_pem;
  return change(std::move(next));
}

/// The mutex is held.
Result<void> TlsIdentity::change(Shown next) {
  ERR_clear_error();
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(ErrorKind::io, "TLS: " + take_tls_error());
  SSL_CTX_set_min_proto_version(context.get(), version_of(settings_.min_version));
  // What strangers can make the library keep or do: no table of sessions, chains of some certificates, one record of theirs at a time.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(context.get(), client_certificates_bytes_max);
  SSL_CTX_set_verify_depth(context.get(), 6);
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  if (!settings_.cipher_suites.empty()) {
    auto suites = suites_of(context.get(), settings_.cipher_suites);
    if (!suites) return tl::unexpected(suites.error());
    if (SSL_CTX_set_cipher_list(context.get(), suites->c_str()) != 1)
      return fail(ErrorKind::invalid, "tls.cipherSuites: " + take_tls_error());
  }
  if (const auto groups = groups_of(settings_.curves); !groups.empty() && SSL_CTX_set1_groups_list(context.get(), groups.c_str()) != 1)
    return fail(ErrorKind::invalid, "tls.curvePreferences: " + take_tls_error());
  if (!next.client_authorities.empty())
    if (auto asked = ask(context.get(), next.client_authorities); !asked) return asked;
  const bool complete = !next.certificate.empty();
  if (complete)
    if (auto shown = show(context.get(), next.certificate, next.key); !shown) return shown;
  shown_ = std::move(next);
  if (complete) context_ = context;
  return {};
}

ssl_st* TlsIdentity::begin(int socket) const {
  std::shared_ptr<SSL_CTX> context;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
  }
  if (!context) return nullptr;
  SSL* session = SSL_new(context.get());
  if (session == nullptr || SSL_set_fd(session, socket) != 1) {
    SSL_free(session);
    ERR_clear_error();
    return nullptr;
  }
  SSL_set_accept_state(session);
  return session;
}

}  // namespace hindsight::operations
