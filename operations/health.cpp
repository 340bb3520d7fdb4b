#include "operations/health.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "operations/logging.hpp"

namespace hindsight::operations {
namespace {

using nlohmann::json;

HttpResponse json_response(int status, const json& body) {
  return {.status = status,
          .content_type = "application/json",
          .body = body.dump(-1, ' ', false, json::error_handler_t::replace) + "\n",
          .headers = {}};
}

HttpResponse conditions_response(const std::vector<HealthCondition>& conditions, bool given, std::string_view good, std::string_view bad) {
  const bool ok = given && std::all_of(conditions.begin(), conditions.end(), [](const HealthCondition& c) { return c.ok; });
  json list = json::array();
  for (const auto& c : conditions) list.push_back({{"name", c.name}, {"ok", c.ok}, {"detail", c.detail}});
  return json_response(ok ? 200 : 503, {{"status", std::string(ok ? good : bad)}, {"conditions", std::move(list)}});
}

HttpResponse log_level_response() { return json_response(200, {{"level", std::string(log_level_name(log_level()))}}); }

/// The level that a PUT asks for, as it was written.
Result<std::string> wanted_level(const HttpRequest& request) {
  if (request.query.count("level") > 0) return std::string(request.parameter("level"));
  std::string_view text = request.body;
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  if (!text.starts_with('{')) return std::string(text);
  const json body = json::parse(text, nullptr, false);
  const auto level = body.is_object() ? body.find("level") : body.end();
  if (!body.is_object() || level == body.end() || !level->is_string())
    return fail(ErrorKind::invalid, R"(body: found something else; allowed: a level, or {"level":"debug"})");
  return level->get<std::string>();
}

HttpResponse put_log_level(const HttpRequest& request) {
  // There is no authorization here, and a log at level trace fills disks.
  if (!request.is_from_loopback())
    return http_error(
        403, "log level: found a request from " + request.peer + "; allowed: requests from this machine, or through kubectl port-forward");
  const auto wanted = wanted_level(request);
  if (!wanted) return http_error(400, wanted.error().message);
  const auto level = parse_log_level(*wanted);
  if (!level) return http_error(400, level.error().message);
  change_log_level(*level, "HTTP");
  return log_level_response();
}

}  // namespace

std::shared_ptr<const std::string> SharedText::get() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !making_; });
  if (text_ && std::chrono::steady_clock::now() - made_ < fresh_) return text_;
  making_ = true;
  lock.unlock();
  std::shared_ptr<const std::string> text;
  try {
    text = std::make_shared<const std::string>(make_());
  } catch (...) {
    lock.lock();
    making_ = false;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  making_ = false;
  text_ = text;
  made_ = std::chrono::steady_clock::now();
  changed_.notify_all();
  return text;
}

HttpHandler metrics_handler(std::function<std::string()> metrics) {
  return [text = std::make_shared<SharedText>(std::move(metrics))](const HttpRequest&) {
    HttpResponse out;
    out.content_type = "text/plain; version=0.0.4; charset=utf-8";
    out.shared_body = text->get();
    return out;
  };
}

void add_probe_routes(HttpRoutes& routes, const HealthSources& sources) {
  const auto answer_alive = [alive = sources.alive](const HttpRequest&) {
    return conditions_response(alive ? alive() : std::vector<HealthCondition>(), true, "ok", "failed");
  };
  routes.add("GET", "/healthz", answer_alive, {}, HttpHaste::urgent);
  routes.add("GET", "/readyz", [ready = sources.ready](const HttpRequest&) {
    return conditions_response(ready ? ready() : std::vector<HealthCondition>(), static_cast<bool>(ready), "ready", "not ready");
  });
}

void add_operational_routes(HttpRoutes& routes, HealthSources sources) {
  add_probe_routes(routes, sources);
  if (sources.metrics) routes.add("GET", "/metrics", metrics_handler(std::move(sources.metrics)));
  routes.add("GET", "/log-level", [](const HttpRequest&) { return log_level_response(); });
  routes.add("PUT", "/log-level", &put_log_level, {.bytes_max = 4096, .weigh = {}});

  json paths = json::array();
  for (const auto& route : routes.all()) paths.push_back(route.method + " " + route.path);
  std::sort(paths.begin(), paths.end());
  routes.add("GET", "/", [paths = std::move(paths)](const HttpRequest&) { return json_response(200, {{"paths", paths}}); });
}

}  // namespace hindsight::operations
