#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace hindsight::operations::attack {

/// From where: any address of 127.0.0.0/8 reaches this machine, and each is a peer of its own.
inline constexpr const char* neighbour = "127.0.0.66";
inline constexpr const char* same_machine = "127.0.0.1";

/// A way to hold a place in somebody's server.
struct Grip {
  std::string opening;  ///< Sent at once.
  std::string drip;     ///< Then one byte after the other, slowly, and from its beginning again; empty: nothing more.
  bool tls = false;     ///< Hands are shaken first.
  bool deaf = false;    ///< Nothing that comes is read.
  std::string from = neighbour;
  unsigned addresses = 1;  ///< From so many, one after the other, of which that is the first.
};

/// Holds connections to a port of 127.0.0.1 until the end of this object; what the server closes is opened again.
class Holder {
 public:
  Holder(std::uint16_t port, std::size_t connections, Grip grip);
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  /// How often a connection was opened. It has become as many as were asked for before the constructor returns, or the server refused.
  [[nodiscard]] std::size_t opened() const { return opened_.load(); }

 private:
  void hold();

  const std::uint16_t port_;
  const std::size_t connections_;
  const Grip grip_;
  std::atomic<std::size_t> opened_{0};
  std::atomic<bool> stop_{false}, all_{false};
  std::thread thread_;
};

/// Opens connections, says something and hangs up, as fast as it can until the end of this object.
class Churner {
 public:
  Churner(std::uint16_t port, std::vector<std::string> said, std::string from = neighbour);
  ~Churner();
  Churner(const Churner&) = delete;
  Churner& operator=(const Churner&) = delete;

  [[nodiscard]] std::size_t opened() const { return opened_.load(); }

 private:
  void churn();

  const std::uint16_t port_;
  const std::vector<std::string> said_;
  const std::string from_;
  std::atomic<std::size_t> opened_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// The beginning of a TLS handshake that goes no further.
[[nodiscard]] std::string half_a_client_hello();

/// 809 bytes that a Brotli decoder turns into 1 GiB.
[[nodiscard]] std::string brotli_bomb();

/// What is no request, or may be read as two different ones (RFC 9112, 11.2). None of them may be answered with 2xx.
struct BadRequest {
  const char* what;
  std::string bytes;
  int status;  ///< That it gets; 0: the connection ends without a word.
};
[[nodiscard]] std::vector<BadRequest> bad_requests();

/// Figures of a process, from /proc.
struct ProcessFigures {
  std::size_t resident_bytes_max = 0;  ///< The most that it ever had.
  std::size_t threads = 0;
  std::size_t descriptors = 0;
};
[[nodiscard]] ProcessFigures figures_of(int process);

}  // namespace hindsight::operations::attack
