#include "runtime/run_report.hpp"

#include <algorithm>

namespace hindsight::runtime {
namespace {

using operations::HealthCondition;

/// The figures of each of many domains.
std::string domain_metrics(const std::vector<ClusterDomains::Status>& domains) {
  std::string body;
  const auto family = [&](const char* name, const char* kind, auto value) {
    body += std::string("# TYPE ") + name + " " + kind + "\n";
    for (const auto& d : domains)
      body += std::string(name) + "{partition=\"" + std::to_string(d.partition) + "\",domain=\"" + d.domain + "\"} " +
              std::to_string(value(d.node)) + "\n";
  };
  family("hindsight_log_position", "gauge", [](const auto& s) { return s.position; });
  family("hindsight_epoch", "gauge", [](const auto& s) { return s.epoch; });
  family("hindsight_inbox", "gauge", [](const auto& s) { return s.in_flight_records; });
  family("hindsight_domain_restarts_total", "counter", [](const auto& s) { return s.restarts; });
  family("hindsight_repeated_steps_total", "counter", [](const auto& s) { return s.repeated_steps; });
  return body;
}

}  // namespace

operations::HealthSources RunReport::sources() const {
  operations::HealthSources out;
  out.alive = [this] { return alive(); };
  out.ready = [this] { return ready(); };
  out.metrics = [this] { return metrics(); };
  return out;
}

std::vector<HealthCondition> RunReport::alive() const {
  std::string error;
  for (const auto& d : domains())
    if (error.empty()) error = d.node.error;
  return {{"domain", error.empty(), error.empty() ? "runs" : error}};
}

std::vector<HealthCondition> RunReport::ready() const {
  const auto* link = running_.link.load();
  const auto all = domains();
  const bool caught_up = !all.empty() && std::ranges::all_of(all, [](const auto& d) { return d.node.caught_up; });
  std::string waits;
  for (const auto& d : all)
    if (waits.empty()) waits = d.node.waits_for_log;
  const bool synced = link != nullptr && link->synced();
  std::vector<HealthCondition> out{{"lease", true,
                                    !elects_              ? "not asked for"
                                    : leadership_.leads() ? "held"
                                                          : "standby"},
                                   {"log", caught_up,
                                    caught_up       ? "caught up"
                                    : waits.empty() ? "behind"
                                                    : waits},
                                   {"mirror", synced, synced ? "synced" : "not synced"},
                                   clocks().condition()};
  if (const auto* space = running_.space.load())
    if (auto disk = space->condition()) out.push_back(std::move(*disk));
  if (const auto* webhooks = running_.webhooks.load()) out.push_back(webhooks->condition());
  if (const auto* visibility = running_.visibility.load()) out.push_back(visibility->condition());
  return out;
}

std::string RunReport::metrics() const {
  const auto* link = running_.link.load();
  const auto* d = running_.domains.load();
  std::string body = d == nullptr ? std::string() : d->metrics_text();
  const bool folded = !body.empty();
  const auto add = [&](const char* name, const char* kind, std::uint64_t v) {
    body += std::string("# TYPE ") + name + " " + kind + "\n" + name + " " + std::to_string(v) + "\n";
  };
  if (const auto all = domains(); trees_) {
    body += domain_metrics(all);
  } else if (!all.empty()) {
    const auto& s = all.front().node;
    add("hindsight_log_position", "gauge", s.position);
    if (!folded) add("hindsight_epoch", "gauge", s.epoch);  // else it is there: a family may stand in an answer once
    add("hindsight_decisions_total", "counter", s.decisions);
    add("hindsight_inbox", "gauge", s.in_flight_records);
    add("hindsight_domain_restarts_total", "counter", s.restarts);
    add("hindsight_repeated_steps_total", "counter", s.repeated_steps);
  }
  body += clocks().metrics();
  if (const auto* space = running_.space.load())
    if (const auto seen = space->latest()) body += space_metrics(*seen);
  if (link != nullptr) {
    const auto f = link->figures();
    add("hindsight_writes_total", "counter", f.writes);
    add("hindsight_write_conflicts_total", "counter", f.conflicts);
    add("hindsight_intents_outstanding", "gauge", f.outstanding);
    add("hindsight_watch_events_waiting", "gauge", f.queued);
  }
  return body;
}

std::vector<ClusterDomains::Status> RunReport::domains() const {
  const auto* d = running_.domains.load();
  return d == nullptr ? std::vector<ClusterDomains::Status>{} : d->status();
}

ClockReport RunReport::clocks() const {
  Duration ahead;
  for (const auto& d : domains()) ahead = std::max(ahead, d.node.ahead);
  return {clock_.standing(), ahead};
}

}  // namespace hindsight::runtime
