#include "tests/operations/tls_client.hpp"

#include <array>
#include <csignal>
#include <memory>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hindsight::operations {
namespace {

using Clock = std::chrono::steady_clock;

/// Tries something until it works. False: it does not, or not until then.
template <class Try>
bool until(Clock::time_point end, SSL* session, int socket, Try attempt) {
  for (;;) {
    ERR_clear_error();
    const int done = attempt();
    if (done > 0) return true;
    const int why = SSL_get_error(session, done);
    const short events = why == SSL_ERROR_WANT_READ ? POLLIN : why == SSL_ERROR_WANT_WRITE ? POLLOUT : short{0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (events == 0 || left <= 0) return false;
    pollfd one{socket, events, 0};
    if (::poll(&one, 1, static_cast<int>(left)) <= 0) return false;
  }
}

}  // namespace

std::string ask_over_tls(std::uint16_t port, const std::string& authorities, const std::string& name, const std::string& requests,
                         const CertificatePair& own, const TlsManners& manners) {
  const auto end = Clock::now() + manners.patience;
  static const bool quiet = [] { return std::signal(SIGPIPE, SIG_IGN) != SIG_ERR; }();  // a server may have gone
  (void)quiet;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  BIO* bytes = BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size()));
  while (X509* one = PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), one);
    X509_free(one);
  }
  BIO_free(bytes);
  if (!own.certificate.empty()) {
    BIO* certificate = BIO_new_mem_buf(own.certificate.data(), static_cast<int>(own.certificate.size()));
    BIO* key = BIO_new_mem_buf(own.key.data(), static_cast<int>(own.key.size()));
    X509* x509 = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    EVP_PKEY* pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context.get(), x509);
    SSL_CTX_use_PrivateKey(context.get(), pkey);
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(certificate);
    BIO_free(key);
  }
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string out;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), SSL_free);
    SSL_set_fd(session.get(), socket);
    X509_VERIFY_PARAM* wanted = SSL_get0_param(session.get());
    in_addr ip{};
    if (::inet_pton(AF_INET, name.c_str(), &ip) == 1)
      X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str());
    else
      X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), 0);
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    const auto done = [&](auto attempt) { return until(end, session.get(), socket, attempt); };
    if (done([&] { return SSL_connect(session.get()); })) {
      // What a server that takes no more has said before is read all the same.
      (void)done([&] { return SSL_write(session.get(), requests.data(), static_cast<int>(requests.size())); });
      if (manners.says_end) SSL_shutdown(session.get());
      std::array<char, 4096> buffer{};
      int n = 0;
      while (done([&] { return n = SSL_read(session.get(), buffer.data(), static_cast<int>(buffer.size())); }))
        out.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  ::close(socket);
  ERR_clear_error();
  return out;
}

CertificatePair self_signed_client(const std::string& name) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86'400);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_sign(certificate, key, EVP_sha256());
  BIO* bytes = BIO_new(BIO_s_mem());
  const auto taken = [&] {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bytes, &data);
    std::string out(data, static_cast<std::size_t>(size));
    (void)BIO_reset(bytes);
    return out;
  };
  CertificatePair out;
  PEM_write_bio_X509(bytes, certificate);
  out.certificate = taken();
  PEM_write_bio_PrivateKey(bytes, key, nullptr, nullptr, 0, nullptr, nullptr);
  out.key = taken();
  BIO_free(bytes);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return out;
}

}  // namespace hindsight::operations
