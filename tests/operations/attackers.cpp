#include "tests/operations/attackers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace hindsight::operations::attack {
namespace {

constexpr auto drip_pause = std::chrono::milliseconds(20);

/// Below 0: no connection.
int connect_to(std::uint16_t port, const std::string& from) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{3, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in here{}, there{};
  here.sin_family = there.sin_family = AF_INET;
  ::inet_pton(AF_INET, from.c_str(), &here.sin_addr);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(port);
  if (::bind(socket, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0 &&
      ::connect(socket, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0)
    return socket;
  ::close(socket);
  return -1;
}

/// The address that stands so many behind another one.
std::string address_behind(const std::string& first, std::uint32_t n) {
  in_addr address{};
  ::inet_pton(AF_INET, first.c_str(), &address);
  address.s_addr = htonl(ntohl(address.s_addr) + n);
  std::array<char, INET_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET, &address, text.data(), text.size());
}

struct Held {
  int socket = -1;
  SSL* session = nullptr;
  std::size_t dripped = 0;

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { let_go(); }

  void let_go() {
    SSL_free(session);
    session = nullptr;
    ERR_clear_error();
    if (socket >= 0) ::close(socket);
    socket = -1;
  }
  bool send(const char* bytes, std::size_t size) const {
    if (session != nullptr) return SSL_write(session, bytes, static_cast<int>(size)) > 0;
    return ::send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
  }
  /// The server has closed it.
  [[nodiscard]] bool is_over(bool deaf) const {
    std::array<char, 4096> buffer{};
    if (!deaf)
      while (::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {}
    const auto n = ::recv(socket, buffer.data(), 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  }
};

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace

Holder::Holder(std::uint16_t port, std::size_t connections, Grip grip) : port_(port), connections_(connections), grip_(std::move(grip)) {
  ignore_broken_pipes();
  thread_ = std::thread([this] { hold(); });
  all_.wait(false);
}

Holder::~Holder() {
  stop_.store(true);
  thread_.join();
}

void Holder::hold() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  std::vector<Held> held(connections_);
  const auto take = [&](Held& one) {
    const auto place = static_cast<std::uint32_t>(&one - held.data());
    one.socket = connect_to(port_, address_behind(grip_.from, place % grip_.addresses));
    one.dripped = 0;
    if (one.socket < 0) return;
    opened_.fetch_add(1);
    if (grip_.tls) {
      one.session = SSL_new(context.get());
      SSL_set_fd(one.session, one.socket);
      if (SSL_connect(one.session) != 1) return one.let_go();
    }
    if (!grip_.opening.empty() && !one.send(grip_.opening.data(), grip_.opening.size())) one.let_go();
  };
  while (!stop_.load()) {
    for (auto& one : held) {
      if (stop_.load()) break;
      if (one.socket >= 0 && one.is_over(grip_.deaf)) one.let_go();
      if (one.socket < 0)
        take(one);
      else if (!grip_.drip.empty() && !one.send(&grip_.drip[one.dripped++ % grip_.drip.size()], 1))
        one.let_go();
    }
    if (!all_.exchange(true)) all_.notify_all();
    std::this_thread::sleep_for(drip_pause);
  }
}

Churner::Churner(std::uint16_t port, std::vector<std::string> said, std::string from)
    : port_(port), said_(std::move(said)), from_(std::move(from)) {
  ignore_broken_pipes();
  thread_ = std::thread([this] { churn(); });
}

Churner::~Churner() {
  stop_.store(true);
  thread_.join();
}

void Churner::churn() {
  while (!stop_.load()) {
    const int socket = connect_to(port_, from_);
    if (socket < 0) {
      std::this_thread::sleep_for(drip_pause);
      continue;
    }
    const auto n = opened_.fetch_add(1);
    if (!said_.empty()) {
      const auto& bytes = said_[n % said_.size()];
      (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (n % 2 == 0) {  // hangs up without a word
      const linger hard{1, 0};
      ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    ::close(socket);
    // Every closed connection leaves a port behind for a minute; there are 28,000.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string half_a_client_hello() { return std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11).append(40, 'r'); }

std::string brotli_bomb() {
  static constexpr std::string_view digits =
      "cfffff7f002400e2b14072effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40f7fe9f"
      "ffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff7f002400e2b00074effff9ffff0f8004401c1680eefd3fff"
      "ffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeff"
      "ff032001108705a07bffcfffff7f002400e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff"
      "074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff7f002400e2b00074effff9ffff0f"
      "8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f00"
      "0980382c00ddfb7ffeffff032001108705a07bffcfffff7f002400e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f0012"
      "00715800baf7fffcffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff7f002400"
      "e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40f7fe9fffffff004800c4"
      "6101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff7f002400e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c3"
      "02d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705"
      "a07bffcfffff7f002400e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40"
      "f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bff3f";
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += 2) out += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return out;
}

std::vector<BadRequest> bad_requests() {
  const std::string get = "GET /hello HTTP/1.1\r\nHost: x\r\n", put = "PUT /put HTTP/1.1\r\nHost: x\r\n";
  const auto chunked = [&](const std::string& body) { return put + "Transfer-Encoding: chunked\r\n\r\n" + body; };
  std::string many_headers;
  for (int i = 0; i < 120; ++i) many_headers += "h" + std::to_string(i) + ": v\r\n";
  std::string many_parameters, many_empty_lines;
  for (int i = 0; i < 101; ++i) many_parameters += "p" + std::to_string(i) + "&";
  for (int i = 0; i < 50; ++i) many_empty_lines += "\r\n";
  return {
      // Where does the body end?
      {"two lengths", put + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400},
      {"a length twice", put + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
      {"a list of lengths", put + "Content-Length: 5, 5\r\n\r\nhello", 400},
      {"a length with a sign", put + "Content-Length: +5\r\n\r\nhello", 400},
      {"a length below zero", put + "Content-Length: -1\r\n\r\n", 400},
      {"a length in hexadecimal", put + "Content-Length: 0x5\r\n\r\nhello", 400},
      {"a length without end", put + "Content-Length: 99999999999999999999999999\r\n\r\n", 400},
      {"no length", put + "Content-Length:\r\n\r\n", 400},
      {"length and chunks", put + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunks and length", put + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
      {"chunked twice", put + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunked, and something before", put + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {"chunked, and something behind", put + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501},
      {"another transfer encoding", put + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"a transfer encoding that looks like chunked", put + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
      {"a blank before the colon", put + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunked in HTTP/1.0", "PUT /put HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      // Chunks.
      {"a chunk size that is none", chunked("zz\r\n"), 400},
      {"a chunk size with a sign", chunked("+5\r\nhello\r\n0\r\n\r\n"), 400},
      {"a chunk size that overflows", chunked("fffffffffffffffff\r\nbody"), 400},
      {"a chunk that is too long", chunked("ffffffff\r\nbody"), 413},
      {"a chunk longer than it says", chunked("3\r\nhello\r\n0\r\n\r\n"), 400},
      {"a chunk size with a bare line feed", chunked("5\nhello\r\n0\r\n\r\n"), 400},
      {"an endless chunk extension", chunked("5;" + std::string(8'000, 'x')), 400},
      {"an endless trailer", chunked("0\r\nx: " + std::string(8'000, 'x')), 400},
      {"a body in many chunks that is too long", chunked([] {
         std::string all;
         for (int i = 0; i < 20'000; ++i) all += "4\r\nbody\r\n";
         return all;
       }()),
       413},
      {"a body that is too long", put + "Content-Length: 100000000\r\n\r\nbody", 413},
      // Encoded bodies.
      {"gzip", put + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x08", 415},
      {"deflate", put + "Content-Encoding: deflate\r\nContent-Length: 4\r\n\r\nbody", 415},
      {"br", put + "Content-Encoding: br\r\nContent-Length: 809\r\n\r\n" + brotli_bomb(), 415},
      {"gzip inside of chunks", put + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", 415},
      {"identity and something else", put + "Content-Encoding: identity, gzip\r\nContent-Length: 4\r\n\r\nbody", 415},
      {"identity, then something else", put + "Content-Encoding: identity\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody", 415},
      // Lines and fields.
      {"bare line feeds", "GET /hello HTTP/1.1\nHost: x\n\n", 400},
      {"a bare line feed in a field", get + "a: b\nc: d\r\n\r\n", 400},
      {"a bare carriage return in a field", get + "a: b\rc: d\r\n\r\n", 400},
      {"a zero byte in a field", get + std::string("a: b\0c\r\n\r\n", 11), 400},
      {"a zero byte in the target", std::string("GET /he\0lo HTTP/1.1\r\nHost: x\r\n\r\n", 32), 400},
      {"a field without a name", get + ": b\r\n\r\n", 400},
      {"a field without a colon", get + "nothing\r\n\r\n", 400},
      {"a first line that is folded", "GET /hello HTTP/1.1\r\n Host: x\r\n\r\n", 400},
      {"too many fields", get + many_headers + "\r\n", 431},
      {"fields that are too long", get + "a: " + std::string(20'000, 'b') + "\r\n\r\n", 431},
      {"a target that is too long", "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"a path that is too long", "GET /" + std::string(3'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"no host", "GET /hello HTTP/1.1\r\n\r\n", 400},
      {"two hosts", get + "Host: y\r\n\r\n", 400},
      {"two authorizations", get + "Authorization: a\r\nAuthorization: b\r\n\r\n", 400},
      {"an expectation that nobody knows", put + "Expect: wonders\r\nContent-Length: 4\r\n\r\nbody", 417},
      // Versions, methods, targets.
      {"HTTP/0.9", "GET /hello\r\n\r\n", 400},
      {"HTTP/9.9", "GET /hello HTTP/9.9\r\nHost: x\r\n\r\n", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"a method in small letters", "get /hello HTTP/1.1\r\nHost: x\r\n\r\n", 405},
      {"a method that nobody knows", "FROBNICATE /hello HTTP/1.1\r\nHost: x\r\n\r\n", 405},
      {"no method", " /hello HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a target that is no path", "GET hello HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"an URL without a host", "GET http:///hello HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a star", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"bad escapes", "GET /%zz%%%f HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"an escaped zero byte", "GET /hello%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"an escaped line end", "GET /hello%0d%0aX:y HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a way out", "GET /../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404},
      {"too many parameters", "GET /hello?" + many_parameters + " HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"too many empty lines", many_empty_lines + get + "\r\n", 400},
      {"a body where none belongs", get + "Content-Length: 4\r\n\r\nbody", 400},
      // No HTTP at all.
      {"TLS", half_a_client_hello(), 400},
      {"zero bytes", std::string(100, '\0'), 400},
      {"one long line", std::string(20'000, 'A'), 414},
      {"half a request", "GET /hel", 400},
      {"half a body", put + "Content-Length: 10\r\n\r\nshort", 400},
  };
}

ProcessFigures figures_of(int process) {
  const std::string folder = "/proc/" + std::to_string(process);
  ProcessFigures out;
  std::ifstream status(folder + "/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      status >> out.resident_bytes_max;
      out.resident_bytes_max *= 1024;
    } else if (word == "Threads:") {
      status >> out.threads;
    }
  }
  std::error_code ignored;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder + "/fd", ignored)) ++out.descriptors;
  return out;
}

}  // namespace hindsight::operations::attack
