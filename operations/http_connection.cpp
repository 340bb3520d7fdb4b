#include "operations/http_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hindsight::operations {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often a thread that waits for an idle client looks whether others need it.
constexpr milliseconds look_around{100};

milliseconds until(Clock::time_point deadline) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(deadline - Clock::now()));
}

void describe(const sockaddr_storage& address, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    port = ntohs(in.sin_port);
    if (::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size()) != nullptr) ip = text.data();
  } else if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    port = ntohs(in.sin6_port);
    if (::inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size()) != nullptr) ip = text.data();
  }
}

}  // namespace

HttpServerState::HttpServerState() : stop_descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (stop_descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

HttpServerState::~HttpServerState() { ::close(stop_descriptor_); }

void HttpServerState::stop(milliseconds grace) {
  last_write_.store((Clock::now() + grace).time_since_epoch().count());
  stopping_.store(true);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(stop_descriptor_, &one, sizeof one);
}

Clock::time_point HttpServerState::last_write() const { return Clock::time_point(Clock::duration(last_write_.load())); }

HttpConnection::HttpConnection(int socket, std::unique_ptr<Transport> transport, const HttpLimits& limits, HttpServerState& server)
    : socket_(socket), transport_(std::move(transport)), limits_(limits), server_(server) {}

HttpConnection::~HttpConnection() {
  transport_.reset();
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
}

bool HttpConnection::shake_hands() {
  if (!transport_) return false;
  const auto deadline = Clock::now() + limits_.request_timeout;
  for (;;) {
    const Moved moved = transport_->shake_hands();
    if (moved.bytes > 0) return true;
    if (moved.wait_for == 0 || !wait(moved.wait_for, deadline, false)) return false;
  }
}

bool HttpConnection::wait_for_request() {
  writing_ = false;
  bytes_taken_ = 0;
  bytes_allowed_ = limits_.header_bytes_max;
  if (begin_ == end_ && !fill(Clock::now() + limits_.idle_timeout, true)) return false;
  request_deadline_ = Clock::now() + limits_.request_timeout;
  return true;
}

/// Waits for bytes and takes them into the empty buffer. `give_way`: ends early when other connections wait for the thread.
bool HttpConnection::fill(Clock::time_point deadline, bool give_way) {
  for (;;) {
    if (server_.stopping()) return false;
    const Moved moved = transport_->receive(buffer_.data(), buffer_.size());
    if (moved.bytes > 0) {
      begin_ = 0;
      end_ = moved.bytes;
      return true;
    }
    if (moved.wait_for == 0 || !wait(moved.wait_for, deadline, give_way)) return false;
  }
}

/// Until the socket is ready. False: the time is over, the server stops, or the thread is needed elsewhere.
bool HttpConnection::wait(short events, Clock::time_point deadline, bool give_way) {
  for (;;) {
    if (server_.stopping()) return false;
    std::array<pollfd, 2> descriptors{{{socket_, events, 0}, {server_.stop_descriptor(), POLLIN, 0}}};
    const auto left = until(deadline);
    const auto pause = give_way ? std::min(left, look_around) : left;
    const int n = ::poll(descriptors.data(), descriptors.size(), static_cast<int>(pause.count()));
    if (n < 0 && errno != EINTR) return false;
    if (n > 0 && descriptors[0].revents != 0) return true;
    if (n == 0 && (left.count() == 0 || (give_way && server_.waiting.load() > 0))) return false;
  }
}

bool HttpConnection::is_readable() const {
  if (begin_ < end_ || transport_->holds_bytes()) return true;
  pollfd descriptor{socket_, POLLIN, 0};
  return ::poll(&descriptor, 1, 0) > 0;
}

bool HttpConnection::is_writable() const {
  pollfd descriptor{socket_, POLLOUT, 0};
  return ::poll(&descriptor, 1, 0) > 0 && (descriptor.revents & (POLLERR | POLLHUP)) == 0;
}

ssize_t HttpConnection::read(char* to, size_t size) {
  if (bytes_taken_ >= bytes_allowed_) return -1;
  if (begin_ == end_ && !fill(request_deadline_, false)) return -1;
  const std::size_t n = std::min({size, end_ - begin_, bytes_allowed_ - bytes_taken_});
  std::memcpy(to, buffer_.data() + begin_, n);
  begin_ += n;
  bytes_taken_ += n;
  return static_cast<ssize_t>(n);
}

ssize_t HttpConnection::write(const char* from, size_t size) {
  if (!writing_) {
    writing_ = true;
    response_deadline_ = Clock::now() + limits_.response_timeout;
  }
  for (;;) {
    const Moved moved = transport_->send(from, size);
    if (moved.bytes > 0 || size == 0) return static_cast<ssize_t>(moved.bytes);
    if (moved.wait_for == 0) return -1;
    const auto deadline = server_.stopping() ? std::min(response_deadline_, server_.last_write()) : response_deadline_;
    const auto left = until(deadline);
    if (left.count() == 0) return -1;
    pollfd descriptor{socket_, moved.wait_for, 0};
    if (::poll(&descriptor, 1, static_cast<int>(std::min(left, look_around).count())) < 0 && errno != EINTR) return -1;
  }
}

void HttpConnection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) describe(address, ip, port);
}

void HttpConnection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) describe(address, ip, port);
}

}  // namespace hindsight::operations
