#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connectors/kubernetes/auth/authority.hpp"
#include "connectors/kubernetes/auth/credential_keeper.hpp"
#include "connectors/kubernetes/backoff.hpp"
#include "connectors/kubernetes/http/in_flight_limit.hpp"
#include "connectors/kubernetes/http/server_health.hpp"
#include "connectors/kubernetes/loop.hpp"
#include "connectors/kubernetes/notice.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::kubernetes {

class HeaderLists;

struct HttpRequest {
  enum class Method : std::uint8_t { get, post, patch, delete_ };
  enum class Content : std::uint8_t { none, json, merge_patch, apply_patch };
  /// urgent: at once, not counted against the cap, on a connection of its own (leases). background: only when no normal request waits
  /// (events).
  enum class Lane : std::uint8_t { urgent, normal, background };
  /// An answer about one object is smaller, whatever a tenant wrote: the API server takes at most 3 MiB of it, and writes a byte of a text
  /// ("<", a control character) as six at most.
  static constexpr std::size_t default_body_bytes_max = std::size_t{24} << 20U;

  Method method = Method::get;
  Content content = Content::none;
  Lane lane = Lane::normal;
  std::string path;                         ///< With the query: "/api/v1/configmaps?limit=500".
  std::shared_ptr<const std::string> body;  ///< Shared, so that a retry copies nothing. May be null.
  /// 0: none. Counts from when it is sent, and anew from when it has to wait for a credential. A place in the queue costs nothing of it.
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  std::size_t body_bytes_max = default_body_bytes_max;  ///< Of the answer, decompressed. Not for streams.
  bool only_as_leader = false;                          ///< Not sent while the fence is closed, see HttpClient::set_fence.
};

/// What came back. `status` is 0 when no complete answer came; `failure` and `error` then say why.
struct HttpAnswer {
  enum class Failure : std::uint8_t {
    none,
    connection,   ///< It could not be made, or broke off.
    timeout,      ///< It was sent, and not answered within time_limit.
    too_large,    ///< More than body_bytes_max, or headers without end.
    credentials,  ///< There are none.
    not_leading,  ///< The fence is closed: it was not sent, or given up.
    stopped,
  };
  int status = 0;
  Failure failure = Failure::none;
  std::string body;
  int retry_after_seconds = 0;  ///< At most retry_after_max.
  std::string error;
};

/// What a receiver says about the bytes that follow.
enum class Flow : std::uint8_t { more, pause };

/// Counters since the start; all but the last three only grow.
struct HttpStatistics {
  std::uint64_t answers = 0;            ///< Complete answers of any status.
  std::uint64_t connection_errors = 0;  ///< Requests that were sent and got no complete answer.
  std::uint64_t credential_loads = 0;   ///< After the first.
  std::uint64_t connections_opened = 0;
  std::size_t in_flight = 0;
  std::size_t waiting = 0;
  std::size_t writes_at_once = 0;  ///< As InFlightLimit has it now.
};

/// HTTP to one API server. Requests share one HTTP/2 connection (several connections if the server speaks only HTTP/1.1), urgent ones
/// have another, which nothing else can clog or break; each stream (a watch) has an HTTP/1.1 connection of its own, because there a
/// receiver that pauses stops the sender after the socket's buffers are full, whereas libcurl keeps up to 32 MiB for each paused stream of
/// a shared HTTP/2 connection.
///
/// Lives on the loop's thread: every function but `create` and `stop` is called there, every callback comes from there.
class HttpClient {
 public:
  struct Options {
    std::size_t max_in_flight = 64;  ///< Requests of the normal and background lanes at the same time.
    /// As many writes at a time as there may be requests; else no more than the server does well with (in_flight_limit.hpp).
    bool fixed_in_flight = false;
    /// A write that is not answered for so long, or for four times as long as one takes that is not hurried, does not count among them any
    /// more: a webhook of one kind that hangs, say, is in nobody else's way.
    std::chrono::milliseconds write_patience = std::chrono::seconds(1);
    std::chrono::milliseconds connect_time_limit = std::chrono::seconds(10);
    std::chrono::milliseconds exec_time_limit = std::chrono::seconds(60);
    std::chrono::milliseconds credential_retry = std::chrono::seconds(5);  ///< See CredentialKeeper::Options::retry.
    std::chrono::milliseconds look_interval = std::chrono::seconds(1);  ///< How often files of credentials and authorities are looked at.
    ServerHealth::Settling settling;
    /// Hears what the server's clock says, from the header Date of an answer that just begins, about once a second at most. May be empty.
    std::function<void(Time)> on_date;
  };
  using RequestId = std::uint64_t;
  using OnAnswer = std::function<void(HttpAnswer)>;
  using OnBytes = std::function<Flow(std::string_view)>;

  /// Loads the credentials on the calling thread (an exec command may take its time) and prepares the connection.
  [[nodiscard]] static Result<std::unique_ptr<HttpClient>> create(Loop& loop, const Connection& connection, Options options,
                                                                  OnNotice on_notice);
  /// Must be stopped before.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends a request; `on_answer` is called once, unless it is cancelled.
  RequestId send(HttpRequest request, OnAnswer on_answer);
  /// Opens a stream. The bytes of a 2xx answer go to `on_bytes` as they come; other bodies are collected. When `on_bytes` says
  /// pause, it has taken what it got and gets no more before `resume`. `on_answer` tells that the stream has ended.
  RequestId stream(HttpRequest request, OnBytes on_bytes, OnAnswer on_answer);
  void resume(RequestId id);
  /// Forgets a request: no callback comes any more. What is on the wire may still take effect. Unknown ids are ignored.
  void cancel(RequestId id);
  /// Answers all requests with an error and takes no more. From any thread.
  void stop();

  /// Requests that are only for a leader are sent while `is_open` says so, which is asked in the moment before the first byte goes out.
  /// Without a fence all are sent.
  void set_fence(std::function<bool()> is_open) { fence_ = std::move(is_open); }
  /// Gives up all requests that are only for a leader: those that wait are not sent, those on the wire are broken off.
  void give_up_as_leader();

  /// See ServerHealth.
  [[nodiscard]] bool is_reachable() const { return health_.is_reachable(); }
  [[nodiscard]] bool is_settling() const { return health_.is_settling(Loop::Clock::now()); }
  [[nodiscard]] std::chrono::milliseconds settle_time() const { return options_.settling.time; }
  [[nodiscard]] HttpStatistics statistics() const;
  /// Of normal and background writes, now; beside those that take too long. Both from any thread.
  [[nodiscard]] std::size_t writes_at_once() const { return writes_at_once_.load(std::memory_order_relaxed); }
  /// InFlightLimit::found; 0: nothing. From any thread.
  [[nodiscard]] std::size_t writes_found() const { return writes_found_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t slow_writes() const { return slow_writes_.load(std::memory_order_relaxed); }
  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  struct Transfer;
  struct Curl;
  using Lane = HttpRequest::Lane;

  HttpClient(Loop& loop, const Connection& connection, Options options, OnNotice on_notice);

  RequestId enqueue(std::unique_ptr<Transfer> transfer);
  void put_in_lane(RequestId id, bool first);
  void pump();
  void pump_soon();
  /// Whether requests can set out now; else they wait, or have been answered that there is no credential.
  bool have_credential(Loop::Clock::time_point now);
  void wait_for_credential(Transfer& transfer);
  void fail_waiting(const std::string& why);
  [[nodiscard]] bool may_set_out(std::size_t lane) const;
  void leave(Transfer& transfer);
  [[nodiscard]] Loop::Clock::duration patience() const;
  void look_for_slow();
  void set_out(RequestId id);
  bool launch(Transfer& transfer);
  void finish(RequestId id, int curl_code);
  HttpAnswer take_answer(Transfer& transfer, int curl_code);
  void conclude(RequestId id, HttpAnswer answer);
  void fail(RequestId id, HttpAnswer::Failure failure, std::string why);
  bool retry_after_refusal(Transfer& transfer);
  void note_health(const Transfer& transfer, const HttpAnswer& answer);
  void note_header(std::string_view line);
  void on_credential(const std::string& error, bool usable);
  void look_at_authority(Loop::Clock::time_point now);
  void tell_renewal(bool& is_late, const std::string& error, const std::string& what);

  Loop& loop_;
  Options options_;
  Connection connection_;
  OnNotice on_notice_;
  ServerHealth health_;
  CredentialKeeper credentials_;
  Authority authority_;
  std::unique_ptr<Curl> curl_;
  std::function<bool()> fence_;

  std::unordered_map<RequestId, std::unique_ptr<Transfer>> transfers_;
  /// Urgent ones, reads, writes, what is for the background.
  std::array<std::deque<RequestId>, 4> lanes_;
  RequestId last_id_ = 0;
  std::size_t in_flight_ = 0;         ///< Of the lanes that count.
  std::size_t writes_in_flight_ = 0;  ///< Of those, without slow ones.
  std::atomic<std::size_t> slow_writes_ = 0;
  std::deque<RequestId> young_;  ///< Writes that set out, in order; some have ended.
  Loop::TimerId slow_timer_ = 0;
  InFlightLimit limit_{{options_.max_in_flight, options_.fixed_in_flight}};
  std::atomic<std::size_t> writes_at_once_ = limit_.now();
  std::atomic<std::size_t> writes_found_ = 0;
  bool pump_posted_ = false;
  bool stopped_ = false;

  std::shared_ptr<const HeaderLists> headers_;
  std::uint64_t headers_number_ = 0;  ///< Of the credential that they were made of.
  std::vector<RequestId> refused_;    ///< By 401; they wait for a new credential.
  bool blocked_ = false;              ///< Those in the lanes wait for a credential too.
  bool credentials_late_ = false;     ///< They could not be loaded again, and we told so.
  bool authority_late_ = false;       ///< The same of whom we trust.
  Loop::Clock::time_point next_authority_look_{};
  Loop::Clock::time_point next_date_{};
  HttpStatistics statistics_;
};

}  // namespace hindsight::connectors::kubernetes
