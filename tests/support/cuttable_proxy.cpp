#include "tests/support/cuttable_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace hindsight::testing {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

CuttableProxy::CuttableProxy(std::uint16_t target_port) : target_port_(target_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the proxy cannot listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

CuttableProxy::~CuttableProxy() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close_all();
  for (std::thread& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  ::close(listener_);
}

void CuttableProxy::accept_all() {
  for (;;) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0 || stopping_) {
      if (client >= 0) ::close(client);
      return;
    }
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(target_port_);
    const std::lock_guard lock(mutex_);
    if (is_cut_ || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      ::close(server);
      continue;
    }
    const int one = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // Descriptors stay open until the end, so that no number is used again under a thread.
    sockets_.push_back(client);
    sockets_.push_back(server);
    threads_.emplace_back([this, client, server, frozen = is_frozen_] { forward(client, server, frozen); });
    threads_.emplace_back([this, client, server, frozen = is_frozen_] { forward(server, client, frozen); });
  }
}

void CuttableProxy::forward(int from, int to, const std::shared_ptr<const std::atomic<bool>>& is_frozen) const {
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::recv(from, buffer.data(), buffer.size(), 0)) > 0;) {
    if (*is_frozen) continue;  // Taken, and lost.
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t count = ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += count;
    }
  }
  ::shutdown(to, SHUT_RDWR);
  ::shutdown(from, SHUT_RDWR);
}

void CuttableProxy::cut() {
  is_cut_ = true;
  close_all();
}

void CuttableProxy::freeze() {
  const std::lock_guard lock(mutex_);
  *is_frozen_ = true;
  is_frozen_ = std::make_shared<std::atomic<bool>>(false);
}

void CuttableProxy::close_all() {
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
}

}  // namespace hindsight::testing
