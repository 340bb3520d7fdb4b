#include "operations/listen_address.hpp"

#include <charconv>

#include <arpa/inet.h>

#include "vocabulary/text.hpp"

namespace hindsight::operations {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto refuse = [&] {
    return fail(ErrorKind::invalid, "address: found \"" + std::string(cut_text(text, 80)) +
                                        "\"; allowed: HOST:PORT, [IPV6]:PORT or :PORT, with a port from 0 to 65535");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);

  ListenAddress address;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return refuse();

  if (host.starts_with('[')) {
    if (!host.ends_with(']') || host.find(':') == std::string_view::npos) return refuse();
    host = host.substr(1, host.size() - 2);
    if (host.find_first_not_of("0123456789abcdefABCDEF:.%") != std::string_view::npos) return refuse();
  } else if (host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != std::string_view::npos) {
    return refuse();
  }
  address.host = host;
  return address;
}

bool is_loopback(const ListenAddress& address) {
  if (address.host == "localhost" || address.host == "::1") return true;
  in_addr parsed{};  // a name may begin with 127. and lead anywhere
  return ::inet_pton(AF_INET, address.host.c_str(), &parsed) == 1 && (ntohl(parsed.s_addr) >> 24U) == 127;
}

std::string to_string(const ListenAddress& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace hindsight::operations
