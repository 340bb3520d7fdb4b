#include "runtime/front_proxy.hpp"

#include <algorithm>

#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/json_views.hpp"
#include "runtime/visibility_api.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::runtime {
namespace {

using ObjectJson = connectors::manifests::Json;
using connectors::manifests::member;
using connectors::manifests::text;

/// A member of `data` that is a JSON list of texts; nothing when it is absent.
Result<std::vector<std::string>> names_in(const ObjectJson& data, const char* name) {
  std::vector<std::string> out;
  const auto written = text(data, name);
  if (written.empty()) return out;
  const auto list = connectors::manifests::parse_json(written);
  const bool good =
      list && list->is_array() && std::all_of(list->begin(), list->end(), [](const ObjectJson& one) { return one.is_string(); });
  if (!good)
    return fail(ErrorKind::invalid, "ConfigMap kube-system/extension-apiserver-authentication: data." + std::string(name) + ": found \"" +
                                        std::string(written) + "\"; allowed: a JSON list of texts");
  for (const auto& one : *list) out.push_back(one.get<std::string>());
  return out;
}

}  // namespace

Result<FrontProxy> read_front_proxy(const ObjectJson& config_map) {
  const ObjectJson& data = member(config_map, "data");
  FrontProxy out;
  out.authorities = text(data, "requestheader-client-ca-file");
  if (out.authorities.empty())
    return fail(
        ErrorKind::invalid,
        "ConfigMap kube-system/extension-apiserver-authentication: data.requestheader-client-ca-file: found nothing; allowed: PEM, as "
        "an API server with --requestheader-client-ca-file writes it");
  auto names = names_in(data, "requestheader-allowed-names");
  if (!names) return tl::unexpected(names.error());
  out.allowed_names = std::move(*names);
  auto headers = names_in(data, "requestheader-username-headers");
  if (!headers) return tl::unexpected(headers.error());
  for (auto& header : *headers) out.user_headers.push_back(lower(header));
  if (out.user_headers.empty()) out.user_headers.emplace_back("x-remote-user");
  return out;
}

operations::HttpResponse judge_origin(const operations::HttpRequest& request, const FrontProxy& proxy) {
  const auto refuse = [](const std::string& message) { return status_response(401, "Unauthorized", message); };
  if (request.client.empty()) return refuse("found no client certificate; allowed: requests that the API server hands on");
  const auto& names = proxy.allowed_names;
  if (!names.empty() && std::find(names.begin(), names.end(), request.client) == names.end())
    return refuse("found a client certificate of \"" + request.client + "\"; allowed: that of the API server's front proxy");
  const bool user = std::any_of(proxy.user_headers.begin(), proxy.user_headers.end(),
                                [&](const std::string& header) { return !request.header(header).empty(); });
  if (!user) return refuse("found no user in the headers; allowed: requests that the API server hands on");
  return {};
}

}  // namespace hindsight::runtime
