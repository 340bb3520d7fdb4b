#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "operations/self_signed.hpp"

namespace hindsight::operations {

struct TlsManners {
  std::chrono::milliseconds patience = std::chrono::seconds(60);  ///< For all of it together, from the first byte to the last.
  bool says_end = false;                                          ///< It tells the server that nothing follows its requests.
};

/// What a client that trusts `authorities` (PEM) and asks for the server `name` gets from a port of 127.0.0.1: the answers to `requests`
/// sent one after the other over one connection. Empty: hands were not shaken. `own`: the certificate that it shows when it is asked for
/// one.
std::string ask_over_tls(std::uint16_t port, const std::string& authorities, const std::string& name, const std::string& requests,
                         const CertificatePair& own = {}, const TlsManners& manners = {});

/// A certificate that has signed itself, with that common name; valid for a day.
CertificatePair self_signed_client(const std::string& name);

}  // namespace hindsight::operations
