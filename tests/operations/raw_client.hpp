#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace hindsight::operations {

/// A connection to a port of 127.0.0.1 that sends what it is told, well-formed or not. Waits at most for its patience for anything.
class RawClient {
 public:
  /// `from`: an address of 127.0.0.0/8, each of which is a peer of its own.
  explicit RawClient(std::uint16_t port, std::chrono::seconds patience = std::chrono::seconds(20), const std::string& from = "127.0.0.1");
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return socket_ >= 0; }
  /// False: the server has closed.
  bool send(std::string_view bytes);
  void finish_sending();
  /// Everything up to the end of the connection.
  std::string read_all();
  /// One answer with a Content-Length: its head and body. Empty: the connection ended before.
  std::string read_answer(bool has_body = true);
  /// Everything up to this text and with it, of an answer that does not end. Empty: the connection ended before.
  std::string read_until(std::string_view end);

 private:
  [[nodiscard]] bool connect_to(std::uint16_t port, const std::string& from) const;
  bool read_more();

  int socket_ = -1;
  std::string received_;
};

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
};

/// One request on a connection of its own.
Answer request(std::uint16_t port, std::string_view method, std::string_view target, std::string_view body = {},
               std::chrono::seconds patience = std::chrono::seconds(20));

}  // namespace hindsight::operations
