#include "tests/connectors/kubernetes/fake_api_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <sstream>
#include <stdexcept>

namespace hindsight::connectors::kubernetes::testing {
namespace {

std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string hex(std::size_t number) {
  std::ostringstream out;
  out << std::hex << number;
  return out.str();
}

/// Reads more bytes; false at the end of the connection.
bool receive(int socket, std::string& buffer) {
  std::array<char, 16384> chunk{};
  const ssize_t got = ::recv(socket, chunk.data(), chunk.size(), 0);
  if (got <= 0) return false;
  buffer.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

/// Takes one request off the front of `buffer`, reading as much as it needs.
bool read_request(int socket, std::string& buffer, Exchange& out) {
  std::size_t head_end = 0;
  while ((head_end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!receive(socket, buffer)) return false;
  }
  std::istringstream head(buffer.substr(0, head_end));
  std::string target;
  head >> out.method >> target;
  std::string line;
  std::getline(head, line);
  while (std::getline(head, line)) {
    const std::size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string value = line.substr(std::min(colon + 2, line.size()));
    if (value.ends_with('\r')) value.pop_back();
    out.headers[name] = value;
  }
  const std::size_t mark = target.find('?');
  out.path = target.substr(0, mark);
  if (mark != std::string::npos) {
    std::istringstream query(target.substr(mark + 1));
    for (std::string item; std::getline(query, item, '&');) {
      const std::size_t equals = item.find('=');
      out.query[item.substr(0, equals)] = equals == std::string::npos ? "" : unescape(item.substr(equals + 1));
    }
  }
  const auto length = out.headers.find("content-length");
  const std::size_t size = length == out.headers.end() ? 0 : std::stoul(length->second);
  while (buffer.size() < head_end + 4 + size) {
    if (!receive(socket, buffer)) return false;
  }
  out.body = buffer.substr(head_end + 4, size);
  buffer.erase(0, head_end + 4 + size);
  return true;
}

}  // namespace

// ---------------------------------------------------------------- Exchange

bool Exchange::write(const std::string& bytes) {
  std::size_t sent = 0;
  while (open_ && sent < bytes.size()) {
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) {
      open_ = false;
    } else {
      sent += static_cast<std::size_t>(count);
    }
  }
  return open_;
}

void Exchange::answer(int status, const std::string& text, const std::vector<std::string>& extra_headers) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n";
  for (const std::string& header : extra_headers) head += header + "\r\n";
  write(head + "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  answered_ = true;
}

void Exchange::begin_stream() {
  write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  answered_ = true;
}

bool Exchange::send(const std::string& bytes) { return bytes.empty() || write(hex(bytes.size()) + "\r\n" + bytes + "\r\n"); }

void Exchange::end_stream() { write("0\r\n\r\n"); }

bool Exchange::send_raw(const std::string& bytes) {
  answered_ = true;
  return !*stopping_ && write(bytes);
}

void Exchange::cut() {
  ::shutdown(socket_, SHUT_RDWR);
  open_ = false;
  answered_ = true;
}

void Exchange::wait_for_end() {
  while (open_ && !*stopping_) {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, 20) > 0) {
      char byte = 0;
      if (::recv(socket_, &byte, 1, MSG_PEEK) <= 0) open_ = false;
    }
  }
}

// ---------------------------------------------------------------- FakeApiServer

FakeApiServer::FakeApiServer(Handler handler) : handler_(std::move(handler)) { listen(); }

void FakeApiServer::listen() {
  stopping_ = false;
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the fake server cannot listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

void FakeApiServer::accept_all() {
  // OpenSSL writes to what a client may have closed already. The threads of connections inherit it.
  sigset_t broken_pipe{};
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      ::close(socket);
      return;
    }
    ++connections_;
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void FakeApiServer::serve(int socket) {
  std::string buffer;
  for (;;) {
    Exchange exchange;
    exchange.socket_ = socket;
    exchange.stopping_ = &stopping_;
    if (!read_request(socket, buffer, exchange)) return;
    std::string line = exchange.method + " " + exchange.path;
    char mark = '?';
    for (const auto& [name, value] : exchange.query) {
      line += mark + name + "=" + value;
      mark = '&';
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(line));
    }
    handler_(exchange);
    if (!exchange.answered_) exchange.answer(500, "the test has no answer");
    if (!exchange.open_ || stopping_) return;
  }
}

void FakeApiServer::close() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  if (acceptor_.joinable()) acceptor_.join();
  // Nobody adds to these any more.
  for (std::thread& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  if (listener_ >= 0) ::close(listener_);
  listener_ = -1;
  threads_.clear();
  sockets_.clear();
}

void FakeApiServer::reopen() { listen(); }

FakeApiServer::~FakeApiServer() {
  if (listener_ >= 0) close();
}

std::vector<std::string> FakeApiServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t FakeApiServer::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

}  // namespace hindsight::connectors::kubernetes::testing
