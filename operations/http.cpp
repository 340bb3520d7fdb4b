#include "operations/http.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <arpa/inet.h>
#include <nlohmann/json.hpp>

namespace hindsight::operations {
namespace {

bool is_prefix_route(std::string_view path) { return path.ends_with("/*"); }

}  // namespace

std::string peer_of(const std::string& ip) {
  in6_addr address{};
  const std::string bare = ip.substr(0, ip.find('%'));  // without the interface that a link's own address comes with
  if (::inet_pton(AF_INET6, bare.c_str(), &address) != 1) return ip;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {  // as the same caller appears where only IPv4 is spoken
    ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), std::uint8_t{0});
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

bool HttpRequest::is_from_loopback() const {
  std::string_view ip = peer;
  // An IPv4 client of a socket for both families.
  if (ip.starts_with("::ffff:")) ip.remove_prefix(7);
  return ip == "::1" || ip.starts_with("127.");
}

HttpResponse http_error(int status, std::string_view message) {
  // A text and no object: an object takes memory when it ends, too, and where there is none, the process ends with it.
  const nlohmann::json text(std::string{message});
  return {.status = status,
          .content_type = "application/json",
          .body = "{\"error\":" + text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "}\n",
          .headers = {}};
}

void HttpRoutes::add(std::string method, std::string path, HttpHandler handler, HttpBodyLimits body, HttpHaste haste) {
  if (!path.starts_with('/')) throw std::logic_error("route without a leading /: " + path);
  for (const auto& route : routes_)
    if (route.method == method && route.path == path) throw std::logic_error("route is there already: " + method + " " + path);
  routes_.push_back({std::move(method), std::move(path), std::move(handler), std::move(body), haste});
}

HttpRoutes::Match HttpRoutes::find(std::string_view method, std::string_view path) const {
  // There are a dozen routes at most, so the list is walked.
  const Route* best = nullptr;
  std::string_view best_path;
  std::vector<const Route*> same_path;
  for (const auto& route : routes_) {
    std::string_view fixed = route.path;
    if (is_prefix_route(fixed)) {
      fixed.remove_suffix(1);
      if (!path.starts_with(fixed) || path.size() == fixed.size()) continue;
    } else if (fixed != path) {
      continue;
    }
    if (best == nullptr || route.path.size() > best_path.size() || (!is_prefix_route(route.path) && is_prefix_route(best_path))) {
      same_path.clear();
      best_path = route.path;
    }
    if (route.path != best_path) continue;
    same_path.push_back(&route);
    best = &route;
  }

  Match match;
  for (const auto* route : same_path) {
    match.allowed.push_back(route->method);
    if (route->method != method) continue;
    match.handler = &route->handler;
    match.body = &route->body;
    match.haste = route->haste;
    if (is_prefix_route(route->path)) match.rest = path.substr(route->path.size() - 1);
  }
  return match;
}

}  // namespace hindsight::operations
