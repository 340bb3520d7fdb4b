#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <httplib.h>

#include "operations/transport.hpp"

namespace hindsight::operations {

/// Bounds on what a client may take from the server.
struct HttpLimits {
  std::size_t request_bytes_max = 96 * 1024;  ///< Of a whole request; the headers alone may take header_bytes_max.
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t body_bytes_max = 64 * 1024;
  std::size_t requests_per_connection_max = 1000;
  std::chrono::milliseconds request_timeout{5000};    ///< From its first byte to its last.
  std::chrono::milliseconds response_timeout{10000};  ///< From its first byte to its last.
  std::chrono::milliseconds idle_timeout{30000};      ///< Between two requests.
  std::chrono::milliseconds stop_grace{500};          ///< What is being answered when the server stops may take so long.
};

/// What the connections of one server know of it.
class HttpServerState {
 public:
  HttpServerState();
  ~HttpServerState();
  HttpServerState(const HttpServerState&) = delete;
  HttpServerState& operator=(const HttpServerState&) = delete;

  void stop(std::chrono::milliseconds grace);
  [[nodiscard]] bool stopping() const { return stopping_.load(); }
  /// A descriptor that is readable once the server stops.
  [[nodiscard]] int stop_descriptor() const { return stop_descriptor_; }
  /// When answers that are under way must have been written.
  [[nodiscard]] std::chrono::steady_clock::time_point last_write() const;

  std::atomic<std::size_t> waiting{0};  ///< Connections that wait for a thread.

 private:
  int stop_descriptor_ = -1;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> last_write_{0};
};

/// One connection of a client, as the library reads and writes it. Every wait has an end: the limits, or the end of the server.
class HttpConnection final : public httplib::Stream {
 public:
  /// Takes the socket and closes it at the end. Without a transport it does nothing else.
  HttpConnection(int socket, std::unique_ptr<Transport> transport, const HttpLimits& limits, HttpServerState& server);
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Agrees with the client on how to talk, within the time of a request. False: that came to nothing.
  [[nodiscard]] bool shake_hands();
  /// Common name of the good certificate that the client has shown; empty: none.
  [[nodiscard]] std::string client() const { return transport_->client(); }
  /// Waits for the first byte of the next request. False: the client is gone or silent for too long, the server stops, or others wait
  /// for the thread.
  [[nodiscard]] bool wait_for_request();
  /// The headers are read; from here on a body may follow.
  void headers_are_read() { bytes_allowed_ = limits_.request_bytes_max; }

  [[nodiscard]] bool is_readable() const override;
  [[nodiscard]] bool is_writable() const override;
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool fill(Clock::time_point deadline, bool give_way);
  [[nodiscard]] bool wait(short events, Clock::time_point deadline, bool give_way);

  int socket_;
  std::unique_ptr<Transport> transport_;
  const HttpLimits& limits_;
  HttpServerState& server_;
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0, end_ = 0;  ///< What is read of the socket and not of the buffer.
  std::size_t bytes_taken_ = 0;      ///< Of this request.
  std::size_t bytes_allowed_ = 0;
  Clock::time_point request_deadline_;
  Clock::time_point response_deadline_;
  bool writing_ = false;
};

}  // namespace hindsight::operations
