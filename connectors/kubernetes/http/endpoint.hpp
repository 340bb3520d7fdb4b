#pragma once

#include <string>

#include "connectors/kubernetes/auth/connection.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

/// A server's address in the terms of libcurl.
struct Endpoint {
  std::string base_url;    ///< What a path is appended to; its host is the name that the certificate must carry.
  std::string connect_to;  ///< CURLOPT_CONNECT_TO, empty when the name is the host.
  bool is_tls = false;
  bool is_loopback = false;  ///< Proxies of the environment are not for it (as in Go).
};

[[nodiscard]] Result<Endpoint> endpoint_of(const Connection& connection);

}  // namespace hindsight::connectors::kubernetes
