#include "doctor/checks/process.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/json_views.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr double clock_seconds_max = 3;

void take_conditions(const std::string& body, std::vector<ProcessFacts::Condition>& out) {
  const auto json = m::parse_json(body);
  if (!json) return;
  const Json& list = m::member(*json, "conditions");
  if (!list.is_array()) return;
  for (const auto& one : list) out.push_back({std::string(m::text(one, "name")), std::string(m::text(one, "detail")), m::flag(one, "ok")});
}

/// What to do about a condition that does not hold.
Finding about_condition(const ProcessFacts& facts, const ProcessFacts::Condition& one, const Commands& commands) {
  Finding out{Severity::error, "process at " + facts.address, one.name + ": " + one.detail, "a condition that holds", "", ""};
  const std::string ask = "curl -s " + as_word(facts.address + "/readyz");
  if (one.name == "disk") {
    out.advice = "Give the log a larger disk or limit (--log-limit), or keep less history (--keep-history); what is in it";
    out.command = commands.hindsight("doctor --only log --log LOG");
  } else if (one.name == "webhooks" || one.name == "visibility") {
    out.advice = "Most often it lacks a right, or what deploy/ has for it is not there";
    out.command =
        commands.hindsight("doctor --only rights," + std::string(one.name == "webhooks" ? "webhooks" : "visibility") + ",certificates");
  } else if (one.name == "lease") {
    out.advice = "Another copy leads, or the lease cannot be written; see who holds it";
    out.command = commands.kubectl(std::string("get lease -A --field-selector metadata.name=") + names::lease);
  } else if (one.name == "mirror") {
    out.advice = "A kind that cannot be listed: a definition or a right that is missing";
    out.command = commands.hindsight("doctor --only rights,definitions");
  } else {
    out.advice = "The log of the process says more; when it has changed, it stands here";
    out.command = ask;
  }
  return out;
}

double metric(const ProcessFacts& facts, const std::string& name) {
  const auto it = facts.metrics.find(name);
  return it == facts.metrics.end() ? 0 : it->second;
}

}  // namespace

std::map<std::string, double> read_metrics(const std::string& text, std::size_t names_max) {
  std::map<std::string, double> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto end = line.find_first_of("{ ");
    const auto value = line.rfind(' ');
    if (end == std::string::npos || value == std::string::npos || end == 0) continue;
    const std::string name = line.substr(0, end);
    if (!out.contains(name) && out.size() >= names_max) continue;
    const double number = std::strtod(line.c_str() + value + 1, nullptr);
    if (std::isfinite(number)) out[name] += number;
  }
  return out;
}

Outcome judge_process(const ProcessFacts& facts, const Commands& commands) {
  const std::string object = "process at " + facts.address;
  Outcome out;
  if (!facts.unreachable.empty()) {
    out = blind(facts.unreachable);
    out.add({Severity::error, object, facts.unreachable, "a process that answers (--http, --probe-address)",
             "See whether it runs, and whether this is its address", "curl -sv " + as_word(facts.address + "/healthz")});
    return out;
  }
  if (facts.health_status == 404 && facts.ready_status == 404) {
    out.add({Severity::error, object, "it knows neither /healthz nor /readyz", "the address of --http or --probe-address",
             "Ask another address; this is what it serves", "curl -s " + as_word(facts.address + "/")});
    out.summary = facts.address;
    return out;
  }
  for (const auto* list : {&facts.health, &facts.ready})
    for (const auto& one : *list)
      if (!one.ok) out.add(about_condition(facts, one, commands));
  if (facts.health_status != 200 && facts.health.empty())
    out.add({Severity::error, object, "/healthz answers " + std::to_string(facts.health_status), "200", "Start it anew; what it says",
             "curl -s " + as_word(facts.address + "/healthz")});
  if (facts.ready_status != 200 && facts.ready.empty())
    out.add({Severity::error, object, "/readyz answers " + std::to_string(facts.ready_status), "200", "See what it waits for",
             "curl -s " + as_word(facts.address + "/readyz")});
  // What a condition says of itself in its detail and that holds all the same.
  for (const auto& one : facts.ready)
    if (one.ok && one.name == "disk" && one.detail.starts_with("nearly full"))
      out.add({Severity::warning, object, "disk: " + one.detail, "more room",
               "Give the log a larger disk or limit, or keep less history (--keep-history)",
               commands.hindsight("doctor --only log --log LOG")});
  for (const char* name :
       {"hindsight_clock_machine_offset_seconds", "hindsight_clock_api_server_offset_seconds", "hindsight_log_clock_ahead_seconds"})
    if (const double off = metric(facts, name); std::fabs(off) > clock_seconds_max)
      out.add({Severity::warning, object, std::string(name) + " is " + std::to_string(std::lround(off)) + " s",
               "at most 3 s: a clock was set, or is wrong",
               "On its machine, have the clock set from the network; it nears the right time by itself", "timedatectl set-ntp true"});
  if (const double set_aside = metric(facts, "hindsight_quarantined_objects"); set_aside > 0)
    out.add({Severity::warning, object, counted(static_cast<std::size_t>(set_aside), "object is set aside", "objects are set aside"),
             "none", "See which, and why", commands.hindsight("get quarantined --log LOG")});
  if (const double repeated = metric(facts, "hindsight_repeated_steps_total"); repeated > 0)
    out.add({Severity::warning, object,
             "hindsight_repeated_steps_total is " + std::to_string(std::lround(repeated)) + ": a rule has a mistake", "0",
             "Report it, with the line of the process log that names the Workload, and the log",
             commands.hindsight("log copy LOG sqlite:copy.db")});
  out.summary = facts.address + ", " + counted(facts.health.size() + facts.ready.size(), "condition", "conditions") +
                (facts.metrics_status == 200 ? ", " + counted(facts.metrics.size(), "metric", "metrics") : ", no metrics here");
  return out;
}

Outcome examine_process(Context& context) {
  if (context.options.server.empty()) return skipped("no process is named (--server)");
  ProcessFacts facts;
  facts.address = context.options.server;
  while (facts.address.ends_with('/')) facts.address.pop_back();
  const auto time_limit = context.options.timeout / 3;
  const auto health = plain_get(facts.address, "/healthz", time_limit);
  if (!health) {
    facts.unreachable = health.error().message;
    return judge_process(facts, context.commands);
  }
  facts.health_status = health->status;
  take_conditions(health->body, facts.health);
  if (const auto ready = plain_get(facts.address, "/readyz", time_limit)) {
    facts.ready_status = ready->status;
    take_conditions(ready->body, facts.ready);
  }
  if (const auto metrics = plain_get(facts.address, "/metrics", time_limit)) {
    facts.metrics_status = metrics->status;
    if (metrics->status == 200) facts.metrics = read_metrics(metrics->body);
  }
  return judge_process(facts, context.commands);
}

}  // namespace hindsight::doctor
