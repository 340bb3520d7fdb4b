#include "page/server/page_server.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operations/logging.hpp"
#include "page/server/api_answers.hpp"
#include "page/server/api_table.hpp"
#include "page/server/log_routes.hpp"
#include "page/server/openapi.hpp"
#include "page/server/quiet_thread.hpp"
#include "projections/format.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;

constexpr std::string_view api_root = "/api/v1/";
constexpr std::size_t repeated_in_errors = 120;
constexpr std::size_t sign_in_bytes_max = Visitors::token_bytes_max + 1024;
/// Domains and branches whose states are told apart; of more, all are looked up anew.
constexpr std::size_t sources_max = 256;
/// A stream is told what somebody might see when it began.
constexpr std::chrono::seconds rights_hold_for{300};

/// One who sees all, where nobody is told apart.
class Everybody final : public Audience {
 public:
  [[nodiscard]] bool may_see(std::string_view /*namespace_*/) const override { return true; }
  [[nodiscard]] bool sees_all() const override { return true; }
};

/// Somebody as he was when his request came: rights that change while it is answered would give an answer of which nobody could say for
/// whom it is.
class AsHeCame final : public Audience {
 public:
  explicit AsHeCame(const Audience& who) : who_(who), sees_all_(who.sees_all()) {}
  [[nodiscard]] bool may_see(std::string_view namespace_) const override { return sees_all_ || who_.may_see(namespace_); }
  [[nodiscard]] bool sees_all() const override { return sees_all_; }

 private:
  const Audience& who_;
  const bool sees_all_;
};

std::string shown(std::string_view text) { return printable(cut_text(text, repeated_in_errors)); }

/// "[::1]:8080" → "[::1]", "localhost:8080" → "localhost".
std::string_view without_port(std::string_view host) {
  const auto colon = host.rfind(':');
  if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos) return host;
  return host.substr(0, colon);
}

bool is_loopback_name(std::string_view host) { return host == "localhost" || host == "127.0.0.1" || host == "[::1]"; }

HttpResponse with_safety(HttpResponse response) {
  add_safety_headers(response);
  return response;
}

}  // namespace

class PageServer::Implementation {
 public:
  Implementation(std::shared_ptr<const events::Log> log, std::shared_ptr<LiveEvents> live, PageServerOptions options)
      : options_(std::move(options)),
        log_(std::move(log)),
        live_(std::move(live)),
        table_(options_.views, options_.routes),
        description_(openapi(table_, options_.release)),
        memory_(options_.answers_bytes_max),
        states_(options_.states) {}

  Result<void> begin() {
    operations::HttpServerOptions http{.address = options_.address, .threads = options_.threads};
    http.tls = options_.tls;
    http.streams_max = options_.streams_max;
    http.streams_per_peer_max = options_.streams_per_peer_max;
    http.body_bytes_max = sign_in_bytes_max;
    for (const auto& route : options_.routes) http.body_bytes_max = std::max(http.body_bytes_max, route.body_bytes_max);
    http.judge = [this](const HttpRequest& q) { return judge(q); };
    auto server = operations::HttpServer::start(http, routes());
    if (!server) return fail(server.error().kind, "page: " + server.error().message);
    server_ = std::move(*server);
    return {};
  }

  void stop() {
    live_->stop();
    if (server_) server_->stop();
  }

  [[nodiscard]] const operations::ListenAddress& address() const { return server_->address(); }
  [[nodiscard]] PastStatesStatistics states() const { return states_.statistics(); }
  [[nodiscard]] operations::HttpServerStatistics http() const { return server_->statistics(); }

 private:
  [[nodiscard]] operations::HttpRoutes routes();
  [[nodiscard]] std::optional<HttpResponse> judge(const HttpRequest& request) const;
  [[nodiscard]] bool is_our_name(std::string_view host) const;

  /// What every answer of the API goes through.
  template <class F>
  [[nodiscard]] HttpResponse guarded(const HttpRequest& request, F answer) const;
  [[nodiscard]] HttpResponse answer(const HttpRequest& request, std::string_view rest, const Audience& audience);
  [[nodiscard]] HttpResponse answer_route(const HttpRequest& request, const ApiEntry& entry, const Parameters& parameters,
                                          const Audience& audience, const std::function<bool()>& is_over) const;
  [[nodiscard]] Result<HttpResponse> answer_view(const HttpRequest& request, const ApiEntry& entry, const Parameters& parameters,
                                                 const Audience& audience, const std::function<bool()>& is_over);
  [[nodiscard]] Result<ApiAnswer> look(const ApiEntry& entry, const Parameters& parameters, const Audience& audience,
                                       const std::shared_ptr<PastSource>& source, replay::Position at, const std::string& question,
                                       const std::function<bool()>& is_over);
  [[nodiscard]] Result<std::shared_ptr<PastSource>> source_of(const Parameters& parameters);
  void forget_branch(const std::string& branch);

  const PageServerOptions options_;
  const std::shared_ptr<const events::Log> log_;
  const std::shared_ptr<LiveEvents> live_;
  const ApiTable table_;
  const Json description_;
  const Everybody everybody_;
  AnswerMemory memory_;
  PastStates states_;
  std::mutex sources_mutex_;                                                            ///< Guards the next.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<PastSource>> sources_;  ///< By branch (empty: none) and domain.
  std::unique_ptr<operations::HttpServer> server_;
};

// ---- who is let in ----------------------------------------------------------------------------------------------------------------

bool PageServer::Implementation::is_our_name(std::string_view host) const {
  if (options_.visitors && options_.host_names.empty()) return true;
  const std::string name = lower(without_port(host));
  return is_loopback_name(name) || std::ranges::any_of(options_.host_names, [&](const std::string& one) { return lower(one) == name; });
}

/// On the thread that waits for all bytes: what needs no look at anything.
std::optional<HttpResponse> PageServer::Implementation::judge(const HttpRequest& request) const {
  if (!is_our_name(request.header("host")))
    return with_safety(api_error(403,
                                 "Host: found \"" + shown(request.header("host")) + "\"; allowed: localhost, 127.0.0.1, [::1]" +
                                     (options_.host_names.empty() ? std::string() : ", " + projections::joined(options_.host_names)),
                                 "Name the host that you call it by with --host-name."));
  const bool of_api = request.path.starts_with(api_root);
  // No page of somebody else's can send this header without asking first, which is not answered.
  if (of_api && request.method != "GET" && request.header("x-hindsight-page") != "1")
    return with_safety(api_error(403, "X-Hindsight-Page: found \"" + shown(request.header("x-hindsight-page")) +
                                          "\"; allowed: 1, with every request that changes something"));
  const bool signs_in = request.path == "/api/v1/session";
  if (of_api && options_.visitors && !signs_in && !Visitors::shows_anything(request))
    return with_safety(options_.visitors->enter(request).refusal);
  return std::nullopt;
}

template <class F>
HttpResponse PageServer::Implementation::guarded(const HttpRequest& request, F answer) const {
  thread_local bool quiet = false;
  if (options_.states.quiet && !std::exchange(quiet, true)) be_quiet();
  try {
    if (!options_.visitors) return with_safety(answer(everybody_));
    auto entry = options_.visitors->enter(request);
    if (!entry.audience) return with_safety(std::move(entry.refusal));
    const AsHeCame visitor(*entry.audience);
    return with_safety(answer(visitor));
  } catch (const std::exception& e) {
    operations::log(operations::LogLevel::error, "a view of the page failed", {{"path", request.path}, {"error", e.what()}});
    return with_safety(
        api_error(500, "this view failed: " + std::string(e.what()), "The log of the process that serves this page says more."));
  }
}

operations::HttpRoutes PageServer::Implementation::routes() {
  operations::HttpRoutes out;
  add_static_routes(out, options_.files);
  for (const char* method : {"GET", "DELETE"})
    out.add(method, std::string(api_root) + "*",
            [this](const HttpRequest& q) { return guarded(q, [&](const Audience& who) { return answer(q, q.rest, who); }); });
  // Bodies are read for whole paths only.
  for (const auto& route : options_.routes) {
    if (route.method != "POST") continue;
    const auto handler = [this, path = route.path](const HttpRequest& q) {
      return guarded(q, [&](const Audience& who) { return answer(q, path, who); });
    };
    for (const char* method : {"GET", "DELETE"})
      if (table_.find(method, route.path).entry != nullptr) out.add(method, std::string(api_root) + route.path, handler);
    out.add("POST", std::string(api_root) + route.path, handler, {.bytes_max = std::max<std::size_t>(1, route.body_bytes_max)});
  }
  out.add("GET", std::string(api_root) + "openapi.json", [this](const HttpRequest& q) {
    return guarded(q, [&](const Audience& who) {
      const auto written = write_answer(description_, options_.answer_bytes_max);
      return written ? respond(q, *written, Freshness::changes, who.sees_all()) : api_error(written.error());
    });
  });
  out.add("GET", std::string(api_root) + "live", [this](const HttpRequest& q) {
    return guarded(q, [&](const Audience& who) {
      HttpResponse stream{.content_type = "text/event-stream"};
      stream.events = options_.visitors ? live_->follow(who.sees_all(), rights_hold_for) : live_->follow(who.sees_all());
      return stream;
    });
  });
  if (options_.visitors) {
    out.add("POST", "/api/v1/session", [this](const HttpRequest& q) { return with_safety(options_.visitors->sign_in(q)); },
            {.bytes_max = sign_in_bytes_max});
    out.add("DELETE", "/api/v1/session", [this](const HttpRequest& q) { return with_safety(options_.visitors->sign_out(q)); },
            {.bytes_max = 1});
  }
  return out;
}

// ---- answers ----------------------------------------------------------------------------------------------------------------------

HttpResponse PageServer::Implementation::answer(const HttpRequest& request, std::string_view rest, const Audience& audience) {
  const auto found = table_.find(request.method, rest);
  if (found.entry == nullptr && found.allowed.empty())
    return api_error(404, "no such path: /api/v1/" + shown(rest), "GET /api/v1/openapi.json lists those that there are.");
  if (found.entry == nullptr) {
    auto out = api_error(405, "method: found " + request.method + "; allowed: " + projections::joined(found.allowed));
    out.headers.emplace_back("Allow", projections::joined(found.allowed));
    return out;
  }
  if (auto ok = check_parameters(*found.entry, request.query); !ok) return api_error(ok.error());
  if (found.entry->only_for_all && !audience.sees_all())
    return api_error(403, "/api/v1/" + found.entry->path + ": is only for who may get Workloads in all namespaces",
                     "Ask for a role with verb get on workloads.kueue.x-k8s.io in all namespaces.");
  const Parameters parameters(found.path, request.query);
  const auto end = std::chrono::steady_clock::now() + options_.answer_time;
  const std::function<bool()> is_over = [&request, end] { return request.is_over() || std::chrono::steady_clock::now() >= end; };
  if (found.entry->route != nullptr) return answer_route(request, *found.entry, parameters, audience, is_over);
  auto out = answer_view(request, *found.entry, parameters, audience, is_over);
  return out ? std::move(*out) : api_error(out.error());
}

HttpResponse PageServer::Implementation::answer_route(const HttpRequest& request, const ApiEntry& entry, const Parameters& parameters,
                                                      const Audience& audience, const std::function<bool()>& is_over) const {
  const auto said = entry.route->handler({parameters, request.body, audience, is_over});
  if (!said) return api_error(said.error());
  if (said->is_null()) return {.status = 204};
  const auto written = write_answer(*said, options_.answer_bytes_max);
  if (!written) return api_error(written.error());
  return respond(request, *written, Freshness::changes, audience.sees_all());
}

Result<HttpResponse> PageServer::Implementation::answer_view(const HttpRequest& request, const ApiEntry& entry,
                                                             const Parameters& parameters, const Audience& audience,
                                                             const std::function<bool()>& is_over) {
  auto source = source_of(parameters);
  if (!source) return tl::unexpected(source.error());
  const auto last = (*source)->log().last();
  if (!last) return tl::unexpected(last.error());
  const std::string_view asked = parameters.text("at");
  const bool latest = asked.empty() || asked == "latest";
  const auto at = latest ? Result<std::uint64_t>(*last) : parameters.number("at", *last, 0, std::numeric_limits<std::uint64_t>::max());
  if (!at) return tl::unexpected(at.error());
  if (*at > *last)
    return fail(ErrorKind::not_found,
                "at: found " + std::to_string(*at) + ", which is behind the end of the log; the last record is " + std::to_string(*last));
  // Who sees all sees the same as all others who do; of the rest nobody's answer is another one's.
  std::string question;
  if (audience.sees_all()) {
    question = (*source)->domain() + '\0' + std::string(parameters.text("branch")) + '\0' + std::to_string(*at) + '\0' + entry.path;
    for (const auto& [name, value] : request.query)
      if (name != "at") question.append(1, '\0').append(name).append(1, '\0').append(value);
    question.append(1, '\0').append(request.rest);
  }
  const auto answer = look(entry, parameters, audience, *source, *at, question, is_over);
  if (!answer) return tl::unexpected(answer.error());
  return respond(request, *answer, latest ? Freshness::changes : Freshness::past, audience.sees_all());
}

/// `question`: by which the answer is known again; empty: it is not kept.
Result<ApiAnswer> PageServer::Implementation::look(const ApiEntry& entry, const Parameters& parameters, const Audience& audience,
                                                   const std::shared_ptr<PastSource>& source, replay::Position at,
                                                   const std::string& question, const std::function<bool()>& is_over) {
  if (!question.empty())
    if (auto known = memory_.find(question)) return *known;
  std::optional<ApiAnswer> out;
  const auto looked = states_.look(source, at, is_over, [&](const events::Log& log, const replay::Past& past) -> Result<Json> {
    // Another one may have asked the same while this one waited for the state.
    if (!question.empty() && (out = memory_.find(question))) return Json();
    const bool of_branch = !parameters.text("branch").empty();
    const Look from_here{.log = log,
                         .past = past,
                         .audience = audience,
                         .is_over = is_over,
                         .trunk = of_branch ? log_.get() : nullptr,
                         .objects = of_branch || !options_.objects_of ? nullptr : options_.objects_of(log, past.domain_name())};
    const auto said = entry.view->view(from_here, parameters);
    if (!said) return said;
    auto written = write_answer(*said, options_.answer_bytes_max);
    if (!written) return tl::unexpected(written.error());
    out = std::move(*written);
    if (!question.empty() && !is_over()) memory_.keep(question, *out);
    return Json();
  });
  if (!looked) return tl::unexpected(looked.error());
  return std::move(*out);
}

Result<std::shared_ptr<PastSource>> PageServer::Implementation::source_of(const Parameters& parameters) {
  const std::string branch(parameters.text("branch"));
  std::shared_ptr<const events::Log> log = log_;
  if (!branch.empty()) {
    if (!options_.branch_logs) return fail(ErrorKind::not_found, "branch: found \"" + shown(branch) + "\"; there are no branches here");
    auto of_branch = options_.branch_logs(branch);
    if (!of_branch) {
      forget_branch(branch);
      return tl::unexpected(of_branch.error());
    }
    log = std::move(*of_branch);
  }
  auto domain = domain_of(*log, parameters);
  if (!domain) return tl::unexpected(domain.error());
  const std::lock_guard lock(sources_mutex_);
  if (sources_.size() >= sources_max) {
    for (const auto& [name, source] : sources_) states_.forget(source);
    sources_.clear();
  }
  auto& source = sources_[{branch, *domain}];
  if (!source) source = states_.source(std::move(log), std::move(*domain));
  return source;
}

/// It was thrown away; its states hold its log.
void PageServer::Implementation::forget_branch(const std::string& branch) {
  const std::lock_guard lock(sources_mutex_);
  for (auto it = sources_.lower_bound({branch, {}}); it != sources_.end() && it->first.first == branch;) {
    states_.forget(it->second);
    it = sources_.erase(it);
  }
}

PageServer::PageServer(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
PageServer::~PageServer() { stop(); }

Result<std::unique_ptr<PageServer>> PageServer::start(std::shared_ptr<const events::Log> log, std::shared_ptr<LiveEvents> live,
                                                      PageServerOptions options) {
  auto implementation = std::make_unique<Implementation>(std::move(log), std::move(live), std::move(options));
  if (auto begun = implementation->begin(); !begun) return tl::unexpected(begun.error());
  return std::unique_ptr<PageServer>(new PageServer(std::move(implementation)));
}

const operations::ListenAddress& PageServer::address() const { return implementation_->address(); }
void PageServer::stop() { implementation_->stop(); }
PastStatesStatistics PageServer::states() const { return implementation_->states(); }
operations::HttpServerStatistics PageServer::http() const { return implementation_->http(); }

}  // namespace hindsight::page
