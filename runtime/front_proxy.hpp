#pragma once

#include <string>
#include <vector>

#include "connectors/manifests/schema.hpp"
#include "operations/http.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// How an API server that hands a request on shows that it is one: a client certificate, and headers that name the user whom it has
/// authenticated and authorized.
struct FrontProxy {
  std::string authorities;                 ///< PEM of who signs its certificate.
  std::vector<std::string> allowed_names;  ///< Common names of the certificate; empty: every one that those have signed.
  std::vector<std::string> user_headers;   ///< In lower case; the first that is there names the user.
};

/// Reads ConfigMap kube-system/extension-apiserver-authentication, which every API server keeps. Errors: invalid, when it does not say what
/// is needed: the API server has no --requestheader-client-ca-file.
[[nodiscard]] Result<FrontProxy> read_front_proxy(const connectors::manifests::Json& config_map);

/// The answer to a request that does not come from the front proxy; its status is 200 if it does.
[[nodiscard]] operations::HttpResponse judge_origin(const operations::HttpRequest& request, const FrontProxy& proxy);

}  // namespace hindsight::runtime
