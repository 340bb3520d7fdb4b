#pragma once

#include <cstdint>
#include <memory>

#include "operations/http.hpp"
#include "operations/listen_address.hpp"
#include "operations/tls.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::operations {

struct HttpServerOptions {
  ListenAddress address;
  unsigned threads = 4;                 ///< Requests that are handled at the same time.
  std::uint32_t waiting_max = 64;       ///< Connections that wait for a thread; one more gets status 503.
  std::uint32_t request_seconds = 5;    ///< A whole request must have arrived by then.
  std::uint32_t response_seconds = 10;  ///< And a whole answer must have been taken.
  std::uint32_t idle_seconds = 30;      ///< An open connection may be silent for so long, unless others wait.
  std::size_t body_bytes_max = 64 * 1024;
  std::shared_ptr<const TlsIdentity> tls;  ///< Null: plain text. A connection that comes before the first certificate is closed.
};

struct HttpServerStatistics {
  std::uint64_t requests = 0;  ///< Answered, with whatever status.
  std::uint64_t refused = 0;   ///< Of those: 4xx.
  std::uint64_t failed = 0;    ///< Of those: 5xx.
  std::uint64_t rejected = 0;  ///< Connections that found no place to wait.
};

/// A small HTTP/1.1 server on threads of its own, in plain text or over TLS. It asks nobody who he is: it listens on the loopback address
/// unless told otherwise.
///
/// Headers are read up to 16 KiB and bodies up to body_bytes_max. Byte ranges are not served.
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
