#pragma once

// Of the server alone: whoever includes this compiles Boost.Asio.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "operations/http_parser.hpp"
#include "operations/http_server.hpp"
#include "operations/http_workers.hpp"
#include "operations/large_lane.hpp"
#include "operations/logging.hpp"
#include "operations/request_memory.hpp"
#include "operations/transport.hpp"

namespace hindsight::operations {

/// What the connections of one server have in common. Of the thread that waits for all bytes, but for the counters.
struct HttpShared {
  HttpShared(const HttpServerOptions& o, HttpRoutes r);

  const HttpServerOptions options;
  const HttpRoutes routes;
  boost::asio::io_context io{1};
  HttpWorkers workers;
  std::optional<HttpWorkers> urgent_workers;  ///< Nothing: no route is urgent.
  LargeLane lane;
  RequestMemory memory;
  std::array<char, 64 * 1024> scratch{};  ///< What was read last, until the connection has taken it.
  std::size_t answer_memory = 0;          ///< Of answers that are being taken.
  bool stopping = false;
  std::map<std::string, std::size_t> streams_of_peers;  ///< Of those that have any.
  std::function<void(std::uint64_t id)> forget;         ///< A connection is over. It does not throw.
  std::function<void()> make_answer_room, make_request_room;

  /// Whether something that went wrong is told: once a second, so that callers cannot fill the log. From any thread.
  [[nodiscard]] bool may_tell();

  std::atomic<std::uint64_t> requests{0}, refused{0}, failed{0}, rejected{0}, evicted{0}, timed_out{0}, received{0};
  std::atomic<std::size_t> connections{0}, strangers{0}, large{0}, streams{0};

 private:
  std::atomic<std::int64_t> told_{0};
};

/// One connection of a client: a state machine that is told when its socket is ready, when its request has been handled, and when its time
/// is over. It never waits.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Clock = std::chrono::steady_clock;

  HttpConnection(boost::asio::ip::tcp::socket socket, std::uint64_t id, std::string ip, HttpShared& shared);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection() = default;

  void begin();
  /// Closes it at once.
  void close();
  /// Ends what has lasted too long.
  void look_at_clock(Clock::time_point now);
  /// The server stops: ends at once, unless it is being answered.
  void stop();
  /// No answer will be made any more: what is being sent has to be taken by then.
  void finish(Clock::time_point last_write);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// Whose it is (peer_of).
  [[nodiscard]] const std::string& peer() const { return peer_; }
  [[nodiscard]] Standing standing() const { return standing_; }
  [[nodiscard]] bool is_stranger() const { return standing_ == Standing::stranger; }
  [[nodiscard]] Clock::time_point since() const { return since_; }
  /// How little is lost if it is closed to make room: 0 nothing … 3; nothing: it must not be. Of those that are equal, the one that has
  /// been so for longest is closed.
  [[nodiscard]] std::optional<int> rank(Clock::time_point now) const;
  /// Closes it to make room. False: it is being answered, as its rank says from now on.
  [[nodiscard]] bool give_way();
  /// Bytes of an answer that it holds.
  [[nodiscard]] std::size_t answer_memory() const { return answer_memory_; }
  /// Bytes of a request that it holds, with those that the answer will take; of a large one that has its place none.
  [[nodiscard]] std::size_t request_memory() const { return request_memory_; }
  /// As `rank`, when it is only a request that is to be given up: 0 it has not come as a whole, 1 it waits for a thread; nothing: there is
  /// none to give up.
  [[nodiscard]] std::optional<int> request_rank() const;
  /// Answers that there is no room for the request. False: it is being answered.
  [[nodiscard]] bool give_up_request();

 private:
  /// handshake, head, body: bytes of the client are waited for, from its first one to its last. idle: the same between two requests.
  /// parked: a large request waits for its place. handling: a thread has it, or will. telling: it is told to go on with its body.
  /// streaming: it is sent events as they come.
  enum class Phase : std::uint8_t { handshake, idle, head, body, parked, handling, telling, answering, streaming, lingering, closed };

  void enter(Phase phase, std::chrono::milliseconds time);
  void time_is_over();
  void wait(short events);
  void step();
  void step_again();
  /// Whatever it throws ends the connection and nothing else.
  template <class F>
  void guarded(F f);
  void shake_hands();
  void read();
  void read_on();
  void end_of_input();
  void linger();
  void drain();

  void process();
  [[nodiscard]] bool take_head();
  [[nodiscard]] bool skip_empty_lines();
  [[nodiscard]] bool take_body();
  [[nodiscard]] bool is_too_long(std::uint64_t bytes);
  void begin_request();
  [[nodiscard]] bool find_handler(const HttpTarget& target);
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool enter_lane();
  void leave_lane();
  void count_memory();
  [[nodiscard]] bool claim_memory();
  void forget_request();
  void become(Standing next);
  void dispatch();
  [[nodiscard]] bool withdraw();
  void work_on(std::shared_ptr<HttpRequest> request) noexcept;
  [[nodiscard]] HttpResponse handle(const HttpRequest& request) const;
  void turn_away();

  /// Answers, and closes if `last`.
  void answer(HttpResponse response, bool last);
  void refuse(int status, const std::string& message);
  [[nodiscard]] std::string head_of(const HttpResponse& response) const;
  void write();
  void written();
  [[nodiscard]] bool has_left();

  [[nodiscard]] bool claim_stream();
  void refuse_stream(HttpResponse& response) const;
  void begin_stream();
  void take_events();
  void show_life();
  void watch_for_end();
  void look_for_end();
  void leave_stream();
  void forget_answer();

  boost::asio::ip::tcp::socket socket_;
  const std::uint64_t id_;
  const std::string ip_, peer_;
  HttpShared& shared_;
  std::unique_ptr<Transport> transport_;
  std::string client_;
  Standing standing_ = Standing::stranger;

  Phase phase_ = Phase::head;
  Clock::time_point since_, deadline_;
  std::uint64_t turn_ = 0;  ///< Of its last wait: those before it are void.
  std::size_t served_ = 0;

  std::string in_;           ///< Bytes that have come and are not taken.
  std::size_t seen_ = 0;     ///< Of these, looked at for the end of the head.
  std::size_t skipped_ = 0;  ///< Bytes of empty lines before the head.
  std::unique_ptr<HttpParser> parser_;
  HttpRequest request_;
  const HttpHandler* handler_ = nullptr;
  const HttpBodyLimits* body_limits_ = nullptr;
  HttpWorkers* workers_ = nullptr;           ///< Whose threads handle it.
  std::atomic<bool> begun_ = false;          ///< One of them has begun.
  std::atomic<bool> answer_lost_ = false;    ///< One of them had no memory for an answer.
  std::shared_ptr<std::atomic<bool>> left_;  ///< What the request that they have knows of the client (HttpRequest::is_over).
  bool head_only_ = false;                   ///< HEAD.
  std::size_t weight_ = 0;                   ///< What the request takes, beyond its bytes.
  std::size_t handed_over_ = 0;              ///< Bytes of the body that the thread has, or will.
  std::size_t request_memory_ = 0;           ///< As it was counted last.
  bool large_ = false;                       ///< It has its place among the large ones.

  std::string out_;  ///< To be sent first, then the rest of the answer.
  HttpResponse answer_;
  std::size_t sent_ = 0;  ///< Of both.
  std::size_t answer_memory_ = 0;
  std::size_t drained_ = 0;
  bool last_ = false;  ///< Nothing follows the answer.

  std::shared_ptr<EventStream> events_;  ///< Null: the answer is none of these.
  bool claimed_ = false;                 ///< It counts among the streams.
  bool watching_ = false;                ///< The end of the client is waited for.
  std::size_t said_in_stream_ = 0;       ///< Bytes that the client sent while it was sent events.
};

template <class F>
void HttpConnection::guarded(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    if (shared_.may_tell()) log(LogLevel::warning, "an HTTP connection was given up", {{"error", e.what()}});
    close();
  }
}

}  // namespace hindsight::operations
