#pragma once

#include <cstdint>
#include <string>

namespace hindsight::operations {

/// What a client that trusts `authorities` (PEM) and asks for the server `name` gets from a port of 127.0.0.1: the answers to `requests`
/// sent one after the other over one connection. Empty: hands were not shaken.
std::string ask_over_tls(std::uint16_t port, const std::string& authorities, const std::string& name, const std::string& requests);

}  // namespace hindsight::operations
