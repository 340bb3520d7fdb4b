#include "connectors/kubernetes/http/endpoint.hpp"

#include <curl/curl.h>

#include <memory>

namespace hindsight::connectors::kubernetes {
namespace {

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

}  // namespace

Result<Endpoint> endpoint_of(const Connection& connection) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  const CURLUcode code = curl_url_set(url.get(), CURLUPART_URL, connection.server.c_str(), 0);
  const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
  if (code != CURLUE_OK || (scheme != "https" && scheme != "http")) {
    return fail(ErrorKind::invalid, connection.description + ": server: found \"" + connection.server +
                                        "\", allowed: an address such as https://10.0.0.1:6443");
  }
  Endpoint out;
  out.is_tls = scheme == "https";
  const std::string host = part_of(url.get(), CURLUPART_HOST);
  const std::string port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::string path = part_of(url.get(), CURLUPART_PATH);
  while (path.ends_with('/')) path.pop_back();
  out.is_loopback = host == "localhost" || host.starts_with("127.") || host == "[::1]";
  const bool renamed = out.is_tls && !connection.tls_server_name.empty() && connection.tls_server_name != host;
  const std::string& name = renamed ? connection.tls_server_name : host;
  out.base_url = scheme + "://" + name + ":" + port + path;
  if (renamed) out.connect_to = name + ":" + port + ":" + host + ":" + port;
  return out;
}

}  // namespace hindsight::connectors::kubernetes
