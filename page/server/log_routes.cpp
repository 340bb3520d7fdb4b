#include "page/server/log_routes.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "page/server/live_events.hpp"
#include "replay/moment.hpp"

namespace hindsight::page {
namespace {

Result<Json> describe_log(const events::Log& log, const LogFacts& facts, const ApiCall& call) {
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  const auto first_kept = log.first();
  if (!first_kept) return tl::unexpected(first_kept.error());
  const auto domains = log.domains();
  if (!domains) return tl::unexpected(domains.error());
  auto first = place_of(log, *last == 0 ? 0 : *first_kept), latest = place_of(log, *last);
  if (!first) return first;
  if (!latest) return latest;
  const std::string_view whole = log.name();
  const auto colon = whole.find(':');
  const std::string_view scheme = colon == std::string_view::npos ? std::string_view() : whole.substr(0, colon);
  const bool kafka = scheme == "kafka";
  // Of a file its name is enough, and the folders above it are nobody's business.
  const auto slash = whole.rfind('/');
  const std::string_view name = kafka                             ? whole.substr(colon + 1)
                                : slash != std::string_view::npos ? whole.substr(slash + 1)
                                : colon != std::string_view::npos ? whole.substr(colon + 1)
                                                                  : whole;
  Json names = Json::array();
  for (const auto& one : *domains) names.push_back(one.domain);
  Json out{{"name", name}, {"kind", kafka ? "kafka" : "sqlite"}, {"live", facts.live}, {"domains", std::move(names)}};
  if (!call.parameters.text("domain").empty()) {
    auto chosen = domain_of(log, call.parameters);
    if (!chosen) return tl::unexpected(chosen.error());
    out["domain"] = std::move(*chosen);
  } else if (domains->size() == 1) {
    out["domain"] = domains->front().domain;
  }
  out["first"] = std::move(*first);
  out["latest"] = std::move(*latest);
  out["release"] = facts.release;
  out["seesAll"] = call.audience.sees_all();
  out["canBranch"] = facts.can_branch && call.audience.sees_all();
  return out;
}

}  // namespace

Result<std::string> domain_of(const events::Log& log, const Parameters& parameters) {
  return replay::choose_domain(log, parameters.text("domain"));
}

std::vector<ApiRoute> log_routes(std::shared_ptr<const events::Log> log, LogFacts facts) {
  std::vector<ApiRoute> out;
  out.push_back(
      {.path = "log",
       .handler = [log = std::move(log), facts = std::move(facts)](const ApiCall& call) { return describe_log(*log, facts, call); },
       .summary = "The log that is looked at: its domains, its first and its last record",
       .parameters = {"domain"}});
  return out;
}

}  // namespace hindsight::page
