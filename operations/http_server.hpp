#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "operations/http.hpp"
#include "operations/listen_address.hpp"
#include "operations/tls.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::operations {

/// What one server takes upon itself at most. Every number is a bound on what callers can do to it, together and each of them.
struct HttpServerOptions {
  ListenAddress address;
  /// Requests that are handled at the same time. One peer gets all but one of the threads.
  unsigned threads = 4;
  std::size_t waiting_max = 64;  ///< Requests that wait for a thread; of more, one of the peer that has most gets 503.
  /// Beyond it the peer that has most loses the one that was idle or slow for longest. Strangers, whose connection has not been proven
  /// (HttpRequest::proven), have half of them at most, and lose theirs before others do unless they have less than an eighth.
  std::size_t connections_max = 256;
  std::size_t connections_per_peer_max = 0;  ///< The same among those of one peer; 0: three quarters of connections_max.
  std::size_t requests_per_connection_max = 1000;

  std::uint32_t handshake_seconds = 2;  ///< Hands must be shaken by then.
  std::uint32_t head_seconds = 5;       ///< Request line and headers must have come.
  std::uint32_t body_seconds = 10;      ///< And then the body.
  std::uint32_t wait_seconds = 10;      ///< A request that has found no thread by then gets 503.
  std::uint32_t response_seconds = 10;  ///< A whole answer must have been taken.
  std::uint32_t idle_seconds = 30;      ///< An open connection may be silent for so long after an answer.

  /// Answers that are streams of events at the same time, in all and of one peer; of more, the last gets 503.
  std::size_t streams_max = 64, streams_per_peer_max = 32;
  std::uint32_t heartbeat_seconds = 15;  ///< After so long without an event an empty line says that the connection is alive.

  std::size_t head_bytes_max = 16 * 1024;
  std::size_t body_bytes_max = 64 * 1024;
  /// A request that takes more memory than this, its body and what the route says of it, is a large one. So many large ones are read and
  /// handled at the same time, the others are not read meanwhile, and have to be sent within `large_seconds`.
  std::size_t small_request_memory_max = 1024 * 1024;
  unsigned large_requests_max = 2;  ///< Half of these for strangers, but one at least.
  std::uint32_t large_seconds = 3;
  std::size_t request_memory_max = 256 * 1024 * 1024;  ///< Of one request; beyond it the answer is 413.
  /// Of all requests that are not answered yet, but for the large ones: their bytes, and what the routes say of them. Beyond it, and of
  /// strangers beyond half of it, the slowest of the peer that holds most is given up (503).
  std::size_t small_requests_memory_max = 64 * 1024 * 1024;
  std::size_t answer_memory_max = 128 * 1024 * 1024;  ///< Of all answers that are being taken, but for shared bodies.

  std::shared_ptr<const TlsIdentity> tls;  ///< Null: plain text. A connection that comes before the first certificate is closed.
  /// Looks at each request before its body is read: an answer refuses it. Called on the thread that waits for all bytes: it must not wait.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> judge;
};

struct HttpServerStatistics {
  std::uint64_t requests = 0;           ///< Answered, with whatever status.
  std::uint64_t refused = 0;            ///< Of those: 4xx.
  std::uint64_t failed = 0;             ///< Of those: 5xx.
  std::uint64_t rejected = 0;           ///< Requests and connections that were turned away because too many were there.
  std::uint64_t evicted = 0;            ///< Connections that were closed to make room for others.
  std::uint64_t timed_out = 0;          ///< Connections that took too long for something.
  std::uint64_t received = 0;           ///< Bytes that were taken to be looked at.
  std::size_t connections = 0;          ///< Open now.
  std::size_t strangers = 0;            ///< Of those: not proven.
  std::size_t large = 0;                ///< Large requests that are in progress now.
  std::size_t streams = 0;              ///< Answers that are streams of events, now.
  std::size_t request_memory = 0;       ///< What the others hold now,
  std::size_t request_memory_peak = 0;  ///< and the most that it ever was.
};

/// An HTTP/1.1 server, in plain text or over TLS. One thread waits for the bytes of all connections, so that a slow client takes no more
/// than a place in a table; requests that have come whole go to a few threads that handle them, by turns of the peers. It listens on the
/// loopback address unless told otherwise.
///
/// No encoded bodies (415), no transfer encoding but chunked, no byte ranges. A stream of events takes a connection and no thread. Two
/// servers share nothing: what happens to one does not hold up another.
class HttpServer {
 public:
  /// Listens, and answers from then on. Errors: unavailable, when the address cannot be had; names it and why.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options, HttpRoutes routes);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Where it listens, with the port that it got.
  [[nodiscard]] const ListenAddress& address() const;
  /// Takes no more connections, gives answers that are under way half a second, and ends. Within a second, if handlers return by then.
  void stop();
  [[nodiscard]] HttpServerStatistics statistics() const;

 private:
  class Implementation;
  explicit HttpServer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hindsight::operations
