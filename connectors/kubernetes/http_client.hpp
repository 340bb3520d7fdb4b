#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "connectors/kubernetes/credentials.hpp"
#include "connectors/kubernetes/loop.hpp"
#include "connectors/kubernetes/notice.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

class HeaderLists;

struct HttpRequest {
  enum class Method : std::uint8_t { get, post, patch, delete_ };
  enum class Content : std::uint8_t { none, json, merge_patch, apply_patch };
  /// urgent: at once, not counted against the cap (leases). background: only when no normal request waits (events).
  enum class Lane : std::uint8_t { urgent, normal, background };

  Method method = Method::get;
  Content content = Content::none;
  Lane lane = Lane::normal;
  std::string path;                                                 ///< With the query: "/api/v1/configmaps?limit=500".
  std::shared_ptr<const std::string> body;                          ///< Shared, so that a retry copies nothing. May be null.
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);  ///< 0: none. Counts from when it is sent.
};

/// What came back. `status` is 0 when no complete answer came; `error` then says why.
struct HttpAnswer {
  int status = 0;
  std::string body;
  int retry_after_seconds = 0;
  std::string error;
};

/// What a receiver says about the bytes that follow.
enum class Flow : std::uint8_t { more, pause };

/// Counters since the start; all but the last two only grow.
struct HttpStatistics {
  std::uint64_t answers = 0;            ///< Complete answers of any status.
  std::uint64_t connection_errors = 0;  ///< Requests without a complete answer.
  std::uint64_t credential_loads = 0;   ///< After the first.
  std::uint64_t connections_opened = 0;
  std::size_t in_flight = 0;
  std::size_t waiting = 0;
};

/// HTTP to one API server. Requests share one HTTP/2 connection (several connections if the server speaks only HTTP/1.1);
/// each stream (a watch) has an HTTP/1.1 connection of its own, because there a receiver that pauses stops the sender after
/// the socket's buffers are full, whereas libcurl keeps up to 32 MiB for each paused stream of a shared HTTP/2 connection.
///
/// Lives on the loop's thread: every function but `create` and `stop` is called there, every callback comes from there.
class HttpClient {
 public:
  struct Options {
    std::size_t max_in_flight = 64;  ///< Requests of the normal and background lanes at the same time.
    std::chrono::milliseconds connect_time_limit = std::chrono::seconds(10);
    std::chrono::milliseconds exec_time_limit = std::chrono::seconds(60);
    std::chrono::milliseconds credential_retry = std::chrono::seconds(5);  ///< Pause after credentials could not be loaded.
    std::chrono::milliseconds settle_time = std::chrono::seconds(15);      ///< See is_settling.
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

  /// Whether the server has come back only just now. An API server that starts serves before it knows its users, roles and
  /// kinds, so 401, 403 and "no such resource" mean nothing yet.
  [[nodiscard]] bool is_settling() const { return reachable_ && Loop::Clock::now() < settled_at_; }
  [[nodiscard]] HttpStatistics statistics() const;
  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] const Connection& connection() const { return credentials_.connection(); }

 private:
  struct Transfer;
  struct Curl;
  using Lane = HttpRequest::Lane;

  HttpClient(Loop& loop, const Connection& connection, Options options, OnNotice on_notice);

  RequestId enqueue(std::unique_ptr<Transfer> transfer);
  void put_in_lane(RequestId id, bool first);
  void pump();
  void pump_soon();
  bool launch(Transfer& transfer);
  void finish(RequestId id, int curl_code);
  void conclude(RequestId id, HttpAnswer answer);
  bool retry_with_new_credential(Transfer& transfer);
  void note_health(const Transfer& transfer, const HttpAnswer& answer);

  void check_credential();
  void load_credential();
  void take_credential(Result<Credential> loaded);

  Loop& loop_;
  Options options_;
  OnNotice on_notice_;
  Credentials credentials_;
  std::unique_ptr<Curl> curl_;

  std::unordered_map<RequestId, std::unique_ptr<Transfer>> transfers_;
  std::array<std::deque<RequestId>, 3> lanes_;
  RequestId last_id_ = 0;
  std::size_t in_flight_ = 0;  ///< Of the lanes that count.
  bool pump_posted_ = false;
  bool stopped_ = false;

  Credential credential_;
  std::shared_ptr<const HeaderLists> headers_;
  std::uint64_t credential_number_ = 1;
  bool loading_ = false;
  bool must_load_ = false;  ///< The server refused the credential that we have.
  Loop::Clock::time_point next_check_{};
  std::string load_error_;  ///< Of the last load, if it failed; requests fail with it until next_check_.
  std::jthread loader_;

  bool reachable_ = true;
  Loop::Clock::time_point settled_at_{};
  bool accepted_ = true;
  HttpStatistics statistics_;
};

}  // namespace hindsight::connectors::kubernetes
