#include "tests/operations/raw_client.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace hindsight::operations {

RawClient::RawClient(std::uint16_t port, std::chrono::seconds patience, const std::string& from)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval limit{patience.count(), 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect_to(port, from)) return;
  ::close(socket_);
  socket_ = -1;
}

bool RawClient::connect_to(std::uint16_t port, const std::string& from) const {
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);             // what is sent byte by byte comes so
  ::setsockopt(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);  // the port is chosen when it is known for which connection
  sockaddr_in here{}, there{};
  here.sin_family = there.sin_family = AF_INET;
  ::inet_pton(AF_INET, from.c_str(), &here.sin_addr);
  there.sin_port = htons(port);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(socket_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0 &&
         ::connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
}

RawClient::~RawClient() {
  if (socket_ >= 0) ::close(socket_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void RawClient::finish_sending() { ::shutdown(socket_, SHUT_WR); }

bool RawClient::read_more() {
  std::array<char, 16384> buffer{};
  const ssize_t n = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (n <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

std::string RawClient::read_all() {
  while (read_more()) {}
  return std::move(received_);
}

std::string RawClient::read_answer(bool has_body) {
  std::size_t end = std::string::npos;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos)
    if (!read_more()) return {};
  std::size_t size = end + 4;
  const auto length = received_.find("Content-Length: ");
  if (has_body && length < end) size += static_cast<std::size_t>(std::strtoll(received_.c_str() + length + 16, nullptr, 10));
  while (received_.size() < size)
    if (!read_more()) return {};
  std::string answer = received_.substr(0, size);
  received_.erase(0, size);
  return answer;
}

std::string RawClient::read_until(std::string_view end) {
  std::size_t at = std::string::npos;
  while ((at = received_.find(end)) == std::string::npos)
    if (!read_more()) return {};
  std::string out = received_.substr(0, at + end.size());
  received_.erase(0, at + end.size());
  return out;
}

Answer request(std::uint16_t port, std::string_view method, std::string_view target, std::string_view body, std::chrono::seconds patience) {
  RawClient client(port, patience);
  std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  client.send(text + "\r\n" + std::string(body));
  const std::string all = client.read_all();
  const auto end = all.find("\r\n\r\n");
  if (!all.starts_with("HTTP/1.1 ") || end == std::string::npos) return {};
  return {static_cast<int>(std::strtol(all.c_str() + 9, nullptr, 10)), all.substr(0, end + 2), all.substr(end + 4)};
}

}  // namespace hindsight::operations
