#include "tests/operations/tls_client.hpp"

#include <array>
#include <memory>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace hindsight::operations {

std::string ask_over_tls(std::uint16_t port, const std::string& authorities, const std::string& name, const std::string& requests) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  BIO* bytes = BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size()));
  while (X509* one = PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), one);
    X509_free(one);
  }
  BIO_free(bytes);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{20, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
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
    if (SSL_connect(session.get()) == 1) {
      SSL_write(session.get(), requests.data(), static_cast<int>(requests.size()));
      std::array<char, 4096> buffer{};
      for (int n = 0; (n = SSL_read(session.get(), buffer.data(), static_cast<int>(buffer.size()))) > 0;)
        out.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  ::close(socket);
  ERR_clear_error();
  return out;
}

}  // namespace hindsight::operations
