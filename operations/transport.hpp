#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <poll.h>
#include <sys/types.h>

#include "operations/tls.hpp"

namespace hindsight::operations {

/// What one try to move bytes came to.
struct Moved {
  std::size_t bytes = 0;  ///< 0: none; see `wait_for`.
  short wait_for = 0;     ///< POLLIN or POLLOUT: try again then. 0 without bytes: the connection is over.
};

/// The bytes of one connection, plain or enciphered. Never blocks.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Moved receive(char* to, std::size_t size) = 0;
  virtual Moved send(const char* from, std::size_t size) = 0;
  /// Bytes 1: there is nothing (more) to agree on with the client.
  virtual Moved shake_hands() { return {1, 0}; }
  /// Common name of the good certificate that the client has shown; empty: none.
  [[nodiscard]] virtual std::string client() const { return {}; }
  /// Bytes are here that no poll() of the socket would tell of.
  [[nodiscard]] virtual bool holds_bytes() const { return false; }
};

[[nodiscard]] std::unique_ptr<Transport> plain_transport(int socket);
/// Null: the identity has no certificate yet.
[[nodiscard]] std::unique_ptr<Transport> tls_transport(int socket, const TlsIdentity& identity);

}  // namespace hindsight::operations
