#include "operations/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/socket.h>

#include "operations/http_connection.hpp"
#include "operations/logging.hpp"

namespace hindsight::operations {
namespace {

/// Set while a connection is run only to be turned away.
thread_local bool turning_away = false;

/// A fixed number of threads and a bounded queue before them.
class BoundedThreads final : public httplib::TaskQueue {
 public:
  BoundedThreads(unsigned threads, std::size_t waiting_max, HttpServerState& state) : waiting_max_(waiting_max), state_(state) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  void enqueue(std::function<void()> job) override {
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() < waiting_max_) {
        jobs_.push_back(std::move(job));
        state_.waiting.store(jobs_.size());
        job = nullptr;
      }
    }
    if (!job) return ready_.notify_one();
    turning_away = true;
    job();
    turning_away = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    ready_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
        state_.waiting.store(jobs_.size());
      }
      job();
    }
  }

  std::size_t waiting_max_;
  HttpServerState& state_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

/// The path as a regular expression that matches it and nothing else.
std::string literal(std::string_view path) {
  static constexpr std::string_view special = R"(\^$.|?*+()[]{})";
  std::string out;
  for (const char c : path) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

bool may_have_body(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE"; }

/// What the headers say about a body.
enum class Body { none, some, unclear };

Body body_of(const httplib::Request& request) {
  const auto lengths = request.get_header_value_count("Content-Length");
  const bool chunked = request.has_header("Transfer-Encoding");
  if (lengths > 1 || (lengths == 1 && chunked)) return Body::unclear;
  if (lengths == 0) return chunked ? Body::some : Body::none;
  const std::string length = request.get_header_value("Content-Length");
  if (length.empty() || length.size() > 18 || length.find_first_not_of("0123456789") != std::string::npos) return Body::unclear;
  return length.find_first_not_of('0') == std::string::npos ? Body::none : Body::some;
}

constexpr std::size_t path_bytes_max = 2048;

/// Of the request that this thread is answering: the connection cannot go on after it.
thread_local bool close_after_answer = false;

void close_after(httplib::Response& response) {
  close_after_answer = true;
  if (!response.has_header("Connection")) response.set_header("Connection", "close");
}

/// Of the connection that this thread works on: who its client has proved to be.
thread_local std::string client_of_connection;

std::map<std::string, std::string> headers_of(const httplib::Request& request) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    out.emplace(std::move(lower), value);
  }
  return out;
}

void fill(httplib::Response& response, HttpResponse answer) {
  response.status = answer.status;
  response.body = std::move(answer.body);
  response.headers.erase("Content-Type");
  response.set_header("Content-Type", answer.content_type);
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
}

}  // namespace

/// The library parses requests and writes answers; connections, threads, limits and routing are ours.
class HttpServer::Implementation final : private httplib::Server {
 public:
  Implementation(const HttpServerOptions& options, HttpRoutes routes) : options_(options), routes_(std::move(routes)) {
    limits_.request_timeout = std::chrono::seconds(options.request_seconds);
    limits_.response_timeout = std::chrono::seconds(options.response_seconds);
    limits_.idle_timeout = std::chrono::seconds(options.idle_seconds);
    limits_.body_bytes_max = options.body_bytes_max;
    limits_.request_bytes_max = options.body_bytes_max + 2 * limits_.header_bytes_max;

    new_task_queue = [this] { return new BoundedThreads(std::max(1U, options_.threads), options_.waiting_max, state_); };
    // Not SO_REUSEPORT, which the library would set: a second process on the same port is a mistake that must show.
    set_socket_options([](socket_t s) {
      const int yes = 1;
      ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_tcp_nodelay(true);
    set_payload_max_length(limits_.body_bytes_max);
    set_keep_alive_timeout(options.idle_seconds);
    set_keep_alive_max_count(limits_.requests_per_connection_max);
    set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});

    set_pre_routing_handler([this](const httplib::Request& q, httplib::Response& a) { return route(q, a); });
    for (const auto& r : routes_.all()) {
      if (!may_have_body(r.method)) continue;
      const auto handler = [this, &r](const httplib::Request& q, httplib::Response& a) { answer(r.handler, "", q, a); };
      const std::string pattern = literal(r.path);
      if (r.method == "PUT") Put(pattern, handler);
      if (r.method == "POST") Post(pattern, handler);
      if (r.method == "PATCH") Patch(pattern, handler);
      if (r.method == "DELETE") Delete(pattern, handler);
    }
    set_error_handler([this](const httplib::Request&, httplib::Response& a) {
      if (!a.body.empty()) return;  // Said by ourselves.
      fill(a, http_error(a.status, "the request cannot be served: " + reason_of(a.status)));
      close_after(a);
    });
    set_exception_handler([](const httplib::Request& q, httplib::Response& a, const std::exception_ptr&) {
      log(LogLevel::error, "an HTTP request could not be answered", {{"path", q.path}});
      fill(a, http_error(500, "internal error"));
      close_after(a);
    });
    set_logger([this](const httplib::Request&, const httplib::Response& a) {
      requests_.fetch_add(1, std::memory_order_relaxed);
      if (a.status >= 400 && a.status < 500) refused_.fetch_add(1, std::memory_order_relaxed);
      if (a.status >= 500) failed_.fetch_add(1, std::memory_order_relaxed);
    });
  }
  ~Implementation() override { stop_serving(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  Result<void> begin() {
    address_ = options_.address;
    errno = 0;
    // Both families where the machine has both.
    const std::vector<std::string> hosts =
        options_.address.host.empty() ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector<std::string>{options_.address.host};
    int port = -1;
    for (const auto& host : hosts) {
      if (options_.address.port == 0)
        port = bind_to_any_port(host);
      else
        port = bind_to_port(host, options_.address.port) ? options_.address.port : -1;
      if (port > 0) break;
    }
    if (port <= 0) {
      const std::string why = errno != 0 ? std::generic_category().message(errno) : "the host is not known";
      return fail(ErrorKind::unavailable, "HTTP server: cannot listen on " + to_string(options_.address) + ": " + why +
                                              "; allowed: an address of this machine and a free port");
    }
    address_.port = static_cast<std::uint16_t>(port);
    thread_ = std::thread([this] {
      listen_after_bind();
      ended_.store(true);
    });
    while (!is_running() && !ended_.load()) std::this_thread::yield();
    return {};
  }

  void stop_serving() {
    const std::lock_guard lock(stop_mutex_);
    if (!thread_.joinable()) return;
    state_.stop(limits_.stop_grace);
    stop();
    thread_.join();
  }

  [[nodiscard]] const ListenAddress& address() const { return address_; }
  [[nodiscard]] HttpServerStatistics statistics() const {
    return {requests_.load(std::memory_order_relaxed), refused_.load(std::memory_order_relaxed), failed_.load(std::memory_order_relaxed),
            rejected_.load(std::memory_order_relaxed)};
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    const bool tls = options_.tls != nullptr;
    HttpConnection connection(socket,
                              turning_away ? nullptr
                              : tls        ? tls_transport(socket, *options_.tls)
                                           : plain_transport(socket),
                              limits_, state_);
    if (turning_away) {
      rejected_.fetch_add(1, std::memory_order_relaxed);
      if (tls) return true;  // There is no talking before the hands are shaken.
      static constexpr std::string_view busy =
          "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";
      ::send(socket, busy.data(), busy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return true;
    }
    if (!connection.shake_hands()) return true;
    client_of_connection = connection.client();
    for (std::size_t served = 1; connection.wait_for_request(); ++served) {
      const bool last = served >= limits_.requests_per_connection_max || state_.stopping() || state_.waiting.load() > 0;
      close_after_answer = false;
      bool closed = false;
      try {
        const bool answered = process_request(connection, last, closed, [&connection](httplib::Request& request) {
          // One header can ask for more ranges than fit into memory.
          request.ranges.clear();
          connection.headers_are_read();
        });
        if (!answered) break;
      } catch (const std::exception& e) {
        log(LogLevel::warning, "an HTTP connection was given up", {{"error", e.what()}});
        break;
      } catch (...) {
        log(LogLevel::warning, "an HTTP connection was given up");
        break;
      }
      if (last || closed || close_after_answer) break;
    }
    return true;
  }

  HandlerResponse route(const httplib::Request& request, httplib::Response& response) {
    const Body body = body_of(request);
    const auto refuse = [&](int status, const std::string& message) {
      fill(response, http_error(status, message));
      if (body != Body::none) close_after(response);  // What was not read would be taken for the next request.
      return HandlerResponse::Handled;
    };
    if (body == Body::unclear) return refuse(400, "Content-Length and Transfer-Encoding do not say how long the body is");
    if (request.path.size() > path_bytes_max)
      return refuse(414, "path: found " + std::to_string(request.path.size()) + " bytes; allowed: " + std::to_string(path_bytes_max));

    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    const auto match = routes_.find(method, request.path);
    if (match.allowed.empty()) return refuse(404, "no such path: " + request.path);
    if (match.handler == nullptr) {
      std::string allowed;
      for (const auto& m : match.allowed) allowed.append(allowed.empty() ? "" : ", ").append(m);
      response.set_header("Allow", allowed);
      return refuse(405, "method: found " + request.method + "; allowed: " + allowed);
    }
    if (body == Body::some) {
      // The library reads it and then finds the handler by its pattern.
      if (may_have_body(method) && match.rest.empty()) return HandlerResponse::Unhandled;
      return refuse(400, "a body is not allowed here");
    }
    answer(*match.handler, match.rest, request, response);
    return HandlerResponse::Handled;
  }

  static void answer(const HttpHandler& handler, std::string rest, const httplib::Request& request, httplib::Response& response) {
    HttpRequest q{.method = request.method == "HEAD" ? "GET" : request.method,
                  .path = request.path,
                  .rest = std::move(rest),
                  .query = {request.params.begin(), request.params.end()},
                  .headers = headers_of(request),
                  .body = request.body,
                  .peer = request.remote_addr,
                  .client = client_of_connection};
    try {
      fill(response, handler(q));
    } catch (const std::exception& e) {
      log(LogLevel::error, "an HTTP handler failed", {{"path", request.path}, {"error", e.what()}});
      fill(response, http_error(500, "internal error"));
    } catch (...) {
      log(LogLevel::error, "an HTTP handler failed", {{"path", request.path}});
      fill(response, http_error(500, "internal error"));
    }
  }

  [[nodiscard]] std::string reason_of(int status) const {
    switch (status) {
      case 400:
        return "it is not well-formed";
      case 413:
        return "its body is longer than " + std::to_string(limits_.body_bytes_max) + " bytes";
      case 414:
        return "its target is too long";
      case 416:
        return "ranges are not served";
      default:
        return "status " + std::to_string(status);
    }
  }

  const HttpServerOptions options_;
  const HttpRoutes routes_;
  HttpLimits limits_;
  HttpServerState state_;
  ListenAddress address_;
  std::thread thread_;
  std::mutex stop_mutex_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> requests_{0}, refused_{0}, failed_{0}, rejected_{0};
};

HttpServer::HttpServer(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options, HttpRoutes routes) {
  auto implementation = std::make_unique<Implementation>(options, std::move(routes));
  if (auto begun = implementation->begin(); !begun) return tl::unexpected(begun.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(implementation)));
}

const ListenAddress& HttpServer::address() const { return implementation_->address(); }
void HttpServer::stop() { implementation_->stop_serving(); }
HttpServerStatistics HttpServer::statistics() const { return implementation_->statistics(); }

}  // namespace hindsight::operations
