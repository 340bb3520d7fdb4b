#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

namespace hindsight::operations {

/// Where a server listens.
struct ListenAddress {
  std::string host = "127.0.0.1";  ///< Name or IP address, without brackets; empty: all addresses of the machine.
  std::uint16_t port = 0;          ///< 0: any free one.

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// "127.0.0.1:8080", "[::1]:8080", "localhost:0", ":8081" (all addresses). Errors: invalid, with what was found and what is allowed.
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

/// Only this machine can reach it, as far as its text says: localhost, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_loopback(const ListenAddress& address);

/// As parse_listen_address() takes it.
[[nodiscard]] std::string to_string(const ListenAddress& address);

}  // namespace hindsight::operations
