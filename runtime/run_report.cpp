#include "runtime/run_report.hpp"

#include <algorithm>
#include <vector>

#include "runtime/metrics_text.hpp"
#include "runtime/node_metrics.hpp"

namespace hindsight::runtime {
namespace {

using operations::HealthCondition;

/// What the client of the API server counts; kinds by their name as `kubectl api-resources` has it.
void add_cluster_metrics(MetricsText& out, const connectors::kubernetes::KubernetesClusterStatistics& seen) {
  out.add("hindsight_api_server_reachable", seen.reachable ? 1 : 0);
  out.add("hindsight_api_answers_total", seen.http.answers);
  out.add("hindsight_api_connection_errors_total", seen.http.connection_errors);
  out.add("hindsight_api_requests_in_flight", seen.http.in_flight);
  out.add("hindsight_api_requests_waiting", seen.http.waiting);
  out.add("hindsight_api_writes_in_flight_limit", seen.http.writes_at_once);
  out.add("hindsight_api_write_retries_total", seen.writer.retries);
  out.add("hindsight_api_writes_refused_total", seen.writer.refused);
  const auto each = [&](projections::MetricName name, auto value) {
    for (const auto& kind : seen.kinds) {
      const auto& type = *kind.type;
      const std::string resource = std::string(type.plural) + (type.group.empty() ? "" : "." + std::string(type.group));
      out.add(name, value(kind), {{"resource", resource}});
    }
  };
  each("hindsight_mirror_objects", [](const auto& k) { return k.objects; });
  each("hindsight_watch_failing", [](const auto& k) { return k.failing ? 1 : 0; });
  each("hindsight_watch_failures_total", [](const auto& k) { return k.reflector.failures; });
}

/// Since 1970, of what is served now.
void add_certificates(MetricsText& out, const WebhookService* webhooks, const VisibilityService* visibility) {
  const auto add = [&](const char* use, Time until) {
    if (until.is_set()) out.add("hindsight_certificate_expiry_timestamp_seconds", until.floor_seconds(), {{"use", use}});
  };
  if (visibility != nullptr) add("visibility", visibility->certificate_until());
  if (webhooks != nullptr) add("webhooks", webhooks->certificate_until());
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
  // Who waits for the lease has begun neither with the log nor with the cluster, and lacks nothing: were it not ready, no rolling update
  // would come to its end, and no leader's node could be drained.
  const bool stands_by = elects_ && !leadership_.leads() && all.empty() && link == nullptr;
  std::vector<HealthCondition> out{{"lease", true,
                                    !elects_              ? "not asked for"
                                    : leadership_.leads() ? "held"
                                                          : "standby"},
                                   {"log", caught_up || stands_by,
                                    caught_up       ? "caught up"
                                    : stands_by     ? "standby"
                                    : waits.empty() ? "behind"
                                                    : waits},
                                   {"mirror", synced || stands_by,
                                    synced      ? "synced"
                                    : stands_by ? "standby"
                                                : "not synced"},
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
  const std::string folded = d == nullptr ? std::string() : d->metrics_text();
  MetricsText out;
  std::vector<NodeFigures> nodes;
  for (const auto& one : domains())
    nodes.push_back({trees_ ? labels_of_domain(one.partition, one.domain) : MetricsText::Labels(), one.node, one.snapshots});
  // With one domain the epoch is told by its state as soon as that is folded.
  if (!nodes.empty()) add_node_metrics(out, nodes, {.epoch = trees_ || folded.empty(), .replica_role = elects_ ? "leader" : "standalone"});
  clocks().add_metrics(out);
  if (const auto* space = running_.space.load())
    if (const auto seen = space->latest()) add_space_metrics(out, *seen);
  out.add("hindsight_leader", leadership_.leads() ? 1 : 0);
  if (link != nullptr) {
    const auto f = link->figures();
    out.add("hindsight_mirror_synced", link->synced() ? 1 : 0);
    out.add("hindsight_writes_total", f.writes);
    out.add("hindsight_write_conflicts_total", f.conflicts);
    out.add("hindsight_intents_outstanding", f.outstanding);
    out.add("hindsight_watch_events_waiting", f.queued);
  }
  if (auto* cluster = running_.cluster.load()) add_cluster_metrics(out, cluster->statistics());
  add_certificates(out, running_.webhooks.load(), running_.visibility.load());
  return folded + out.text();
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
