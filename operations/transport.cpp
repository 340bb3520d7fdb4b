#include "operations/transport.hpp"

#include <cerrno>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace hindsight::operations {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}

  Moved receive(char* to, std::size_t size) override { return result(::recv(socket_, to, size, MSG_DONTWAIT), POLLIN); }
  Moved send(const char* from, std::size_t size) override {
    return result(::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT), POLLOUT);
  }

 private:
  static Moved result(ssize_t moved, short wait_for) {
    if (moved > 0) return {static_cast<std::size_t>(moved), 0};
    const bool later = moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return {0, later ? wait_for : static_cast<short>(0)};
  }

  int socket_;
};

struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

class TlsTransport final : public Transport {
 public:
  explicit TlsTransport(SSL* session) : session_(session) {}
  ~TlsTransport() override {
    ERR_clear_error();
    if (established_ && !broken_) SSL_shutdown(session_.get());  // tells the client; its answer is not waited for
    ERR_clear_error();
  }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  Moved receive(char* to, std::size_t size) override {
    ERR_clear_error();
    std::size_t moved = 0;
    const int done = SSL_read_ex(session_.get(), to, size, &moved);
    return result(done, moved);
  }
  Moved send(const char* from, std::size_t size) override {
    ERR_clear_error();
    std::size_t moved = 0;
    const int done = SSL_write_ex(session_.get(), from, size, &moved);
    return result(done, moved);
  }
  Moved shake_hands() override {
    ERR_clear_error();
    const int done = SSL_accept(session_.get());
    established_ = done == 1;
    return result(done, 1);
  }
  [[nodiscard]] std::string client() const override {
    const std::unique_ptr<X509, FreeCertificate> shown(SSL_get1_peer_certificate(session_.get()));
    if (!shown || SSL_get_verify_result(session_.get()) != X509_V_OK) return {};
    const X509_NAME* subject = X509_get_subject_name(shown.get());
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0) return {};
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) return {};
    std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    return name;
  }
  [[nodiscard]] bool holds_bytes() const override { return SSL_has_pending(session_.get()) == 1; }

 private:
  Moved result(int status, std::size_t moved) {
    if (status == 1) return {moved, 0};
    switch (SSL_get_error(session_.get(), status)) {
      case SSL_ERROR_WANT_READ:
        return {0, POLLIN};
      case SSL_ERROR_WANT_WRITE:
        return {0, POLLOUT};
      case SSL_ERROR_ZERO_RETURN:
        return {};
      default:
        broken_ = true;
        return {};
    }
  }

  std::unique_ptr<SSL, FreeSession> session_;
  bool established_ = false, broken_ = false;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(int socket) { return std::make_unique<PlainTransport>(socket); }

std::unique_ptr<Transport> tls_transport(int socket, const TlsIdentity& identity) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) < 0) return nullptr;
  SSL* session = identity.begin(socket);
  return session == nullptr ? nullptr : std::make_unique<TlsTransport>(session);
}

}  // namespace hindsight::operations
