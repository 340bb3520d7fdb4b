#include "operations/http.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

namespace hindsight::operations {
namespace {

bool is_prefix_route(std::string_view path) { return path.ends_with("/*"); }

}  // namespace

bool HttpRequest::is_from_loopback() const {
  std::string_view ip = peer;
  // An IPv4 client of a socket for both families.
  if (ip.starts_with("::ffff:")) ip.remove_prefix(7);
  return ip == "::1" || ip.starts_with("127.");
}

HttpResponse http_error(int status, std::string_view message) {
  const nlohmann::json body = {{"error", std::string(message)}};
  return {.status = status,
          .content_type = "application/json",
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
          .headers = {}};
}

void HttpRoutes::add(std::string method, std::string path, HttpHandler handler, HttpBodyLimits body) {
  if (!path.starts_with('/')) throw std::logic_error("route without a leading /: " + path);
  for (const auto& route : routes_)
    if (route.method == method && route.path == path) throw std::logic_error("route is there already: " + method + " " + path);
  routes_.push_back({std::move(method), std::move(path), std::move(handler), std::move(body)});
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
    if (is_prefix_route(route->path)) match.rest = path.substr(route->path.size() - 1);
  }
  return match;
}

}  // namespace hindsight::operations
