#include "operations/http_server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include <sys/socket.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "operations/connection_table.hpp"
#include "operations/descriptor_limit.hpp"
#include "operations/logging.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::operations {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;

/// How often clocks are looked at; all time-outs are much longer.
constexpr milliseconds tick{100};
/// Between two tries to accept when the system has no descriptors left.
constexpr milliseconds pause_without_descriptors{100};
/// Between two tries to go on when there is no memory.
constexpr milliseconds pause_without_memory{100};
/// What is being answered when the server stops may take so long.
constexpr milliseconds stop_grace{500};

/// Of the files that the process may open, one server takes one of so many shares at most: there are five servers, and a log to be written.
constexpr std::size_t descriptor_shares = 8;

std::size_t places_of(const HttpServerOptions& options) {
  return std::clamp<std::size_t>(descriptor_limit() / descriptor_shares, 1, std::max<std::size_t>(1, options.connections_max));
}

bool has_no_more(const boost::system::error_code& error) {
  return error.value() == EMFILE || error.value() == ENFILE || error.value() == ENOBUFS || error.value() == ENOMEM;
}

}  // namespace

class HttpServer::Implementation {
 public:
  Implementation(const HttpServerOptions& options, HttpRoutes routes)
      : shared_(options, std::move(routes)),
        table_(shared_, places_of(options),
               options.connections_per_peer_max != 0 ? options.connections_per_peer_max : places_of(options) - places_of(options) / 4),
        acceptor_(shared_.io),
        clock_(shared_.io),
        accept_again_(shared_.io),
        work_(asio::make_work_guard(shared_.io)) {
    shared_.forget = [this](std::uint64_t id) {
      table_.forget(id);
      if (finish_) end_if_done();
    };
    shared_.make_answer_room = [this] { table_.make_answer_room(); };
    shared_.make_request_room = [this] { table_.make_request_room(); };
  }
  ~Implementation() { stop(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  Result<void> begin() {
    address_ = shared_.options.address;
    if (const auto error = listen()) {
      const std::string why =
          error.category() == asio::error::get_netdb_category() || error.category() == asio::error::get_addrinfo_category()
              ? "the host is not known"
              : error.message();
      return fail(ErrorKind::unavailable, "HTTP server: cannot listen on " + to_string(shared_.options.address) + ": " + why +
                                              "; allowed: an address of this machine and a free port");
    }
    accept();
    thread_ = std::thread([this] { run(); });
    return {};
  }

  void stop() {
    const std::lock_guard lock(stop_mutex_);
    if (!thread_.joinable()) return;
    asio::post(shared_.io, [this] { begin_to_stop(); });
    shared_.workers.stop();
    if (shared_.urgent_workers) shared_.urgent_workers->stop();
    asio::post(shared_.io, [this] {
      // The answers that the threads have made came before this.
      finish_ = true;
      last_write_ = HttpConnection::Clock::now() + stop_grace;
      table_.for_each([this](HttpConnection& one) { one.finish(last_write_); });
      end_if_done();
    });
    thread_.join();
  }

  [[nodiscard]] const ListenAddress& address() const { return address_; }
  [[nodiscard]] HttpServerStatistics statistics() const {
    const auto value = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
    return {.requests = value(shared_.requests),
            .refused = value(shared_.refused),
            .failed = value(shared_.failed),
            .rejected = value(shared_.rejected),
            .evicted = value(shared_.evicted),
            .timed_out = value(shared_.timed_out),
            .received = value(shared_.received),
            .connections = value(shared_.connections),
            .strangers = value(shared_.strangers),
            .large = value(shared_.large),
            .streams = value(shared_.streams),
            .request_memory = shared_.memory.held(),
            .request_memory_peak = shared_.memory.peak()};
  }

 private:
  void run() {
    name_this_thread("http");
    // The TLS library writes to clients that have gone. Whoever uses the server need not know that.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    while (!runs_to_the_end()) std::this_thread::sleep_for(pause_without_memory);
  }

  /// False: there was no memory to go on with, and nothing but that is thrown here. The listener and the clock begin themselves anew each
  /// time, and may have been lost before they did: so whatever is left of them ends, and they begin again.
  bool runs_to_the_end() noexcept {
    try {
      accept();
      if (!table_.has_nothing_left()) watch_clock();
      shared_.io.run();
      shared_.io.restart();
      shared_.io.poll();  // whoever was told at the end that it is the end
      return true;
    } catch (const std::exception& e) {
      if (shared_.may_tell()) log(LogLevel::warning, "the HTTP server goes on after a pause", {{"error", e.what()}});
    }
    if (finish_ && table_.empty()) return true;
    boost::system::error_code ignored;
    acceptor_.cancel(ignored);
    accepting_ = watching_ = false;
    return false;
  }

  // ---- listening ------------------------------------------------------------------------------------------------------------------

  boost::system::error_code listen() {
    boost::system::error_code error;
    const auto& [host, port] = shared_.options.address;
    if (host.empty()) {  // both families where the machine has both
      error = listen_at({tcp::v6(), port});
      return error ? listen_at({tcp::v4(), port}) : error;
    }
    tcp::resolver resolver(shared_.io);
    const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error) return error;
    for (const auto& one : found)
      if (error = listen_at(one.endpoint()); !error) break;
    return error;
  }

  boost::system::error_code listen_at(const tcp::endpoint& endpoint) {
    boost::system::error_code error;
    acceptor_.close(error);
    acceptor_.open(endpoint.protocol(), error);
    // Not SO_REUSEPORT: a second process on the same port is a mistake that must show.
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && endpoint.protocol() == tcp::v6()) acceptor_.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) address_.port = acceptor_.local_endpoint(error).port();
    return error;
  }

  void accept() {
    if (accepting_ || shared_.stopping) return;
    acceptor_.async_accept([this, turn = ++accept_turn_](const boost::system::error_code& error, tcp::socket socket) {
      if (turn != accept_turn_) return;
      accepting_ = false;
      if (shared_.stopping || error == asio::error::operation_aborted) return;
      if (!error) {
        try {
          take(std::move(socket));
        } catch (const std::exception& e) {
          log(LogLevel::warning, "an HTTP connection could not be taken", {{"error", e.what()}});
        }
      } else if (has_no_more(error)) {
        // New connections wait; a slow one is closed.
        if (!table_.close_one()) told_of_descriptors();
        accept_again_.expires_after(pause_without_descriptors);
        accept_again_.async_wait([this](const boost::system::error_code& ended) {
          if (!ended) accept();
        });
        return;
      }
      accept();
    });
    accepting_ = true;
  }

  void told_of_descriptors() {
    if (std::exchange(told_, true)) return;
    log(LogLevel::warning, "HTTP: no more connections can be taken: the process has no file descriptors left");
  }

  void take(tcp::socket socket) {
    boost::system::error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    if (error) return;  // gone again
    socket.set_option(tcp::no_delay(true), error);
    auto address = endpoint.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    auto connection = std::make_shared<HttpConnection>(std::move(socket), ++last_id_, address.to_string(), shared_);
    if (!table_.make_room_for(connection->peer())) {
      shared_.rejected.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    watch_clock();  // before there is something that only the clock would end
    table_.add(connection);
    connection->begin();
  }

  // ---- time and end ---------------------------------------------------------------------------------------------------------------

  /// As long as there is anybody.
  void watch_clock() {
    if (watching_) return;
    clock_.expires_after(tick);
    clock_.async_wait([this](const boost::system::error_code& ended) {
      if (ended) return;
      watching_ = false;
      table_.bury();
      const auto now = HttpConnection::Clock::now();
      table_.for_each([&](HttpConnection& one) { one.look_at_clock(now); });
      if (finish_ && now >= last_write_) table_.for_each([](HttpConnection& one) { one.close(); });
      if (!table_.has_nothing_left() && !(finish_ && table_.empty())) watch_clock();
    });
    watching_ = true;
  }

  void begin_to_stop() {
    shared_.stopping = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    accept_again_.cancel();
    table_.for_each([](HttpConnection& one) { one.stop(); });
  }

  void end_if_done() {
    if (!table_.empty()) return;
    clock_.cancel();
    shared_.io.stop();  // and not when no work is left: what was lost for want of memory counts as work for ever
  }

  HttpShared shared_;
  ConnectionTable table_;
  tcp::acceptor acceptor_;
  asio::steady_timer clock_, accept_again_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  ListenAddress address_;
  std::uint64_t last_id_ = 0;
  std::uint64_t accept_turn_ = 0;  ///< Of the last one: those before it are void.
  bool told_ = false, finish_ = false, watching_ = false, accepting_ = false;
  HttpConnection::Clock::time_point last_write_;
  std::mutex stop_mutex_;
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options, HttpRoutes routes) {
  auto implementation = std::make_unique<Implementation>(options, std::move(routes));
  if (auto begun = implementation->begin(); !begun) return tl::unexpected(begun.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(implementation)));
}

const ListenAddress& HttpServer::address() const { return implementation_->address(); }
void HttpServer::stop() { implementation_->stop(); }
HttpServerStatistics HttpServer::statistics() const { return implementation_->statistics(); }

}  // namespace hindsight::operations
