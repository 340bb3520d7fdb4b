#include "runtime/node_metrics.hpp"

#include <algorithm>

namespace hindsight::runtime {

MetricsText::Labels labels_of_domain(std::int32_t partition, const std::string& domain) {
  return {{"partition", std::to_string(partition)}, {"domain", domain}};
}

void add_fleet_metrics(MetricsText& out, const FleetFigures& fleet) {
  out.add("hindsight_partitions_wanted", fleet.wanted);
  out.add("hindsight_partitions_open", fleet.open);
  out.add("hindsight_standby_domains", fleet.followed);
  out.add("hindsight_standby_domains_ready", fleet.ready);
}

void add_node_metrics(MetricsText& out, const std::vector<NodeFigures>& nodes, const NodeMetricsOptions& options) {
  const auto each = [&](projections::MetricName name, auto value) {
    for (const auto& n : nodes) out.add(name, value(n.status), n.labels);
  };
  each("hindsight_log_position", [](const auto& s) { return s.position; });
  if (options.epoch) each("hindsight_epoch", [](const auto& s) { return s.epoch; });
  for (const auto& n : nodes)
    if (n.decides()) out.add("hindsight_decisions_total", n.status.decisions, n.labels);
  each("hindsight_inbox", [](const auto& s) { return s.in_flight_records; });
  each("hindsight_domain_restarts_total", [](const auto& s) { return s.restarts; });
  each("hindsight_repeated_steps_total", [](const auto& s) { return s.repeated_steps; });
  for (const auto& n : nodes)
    if (n.decides())
      out.add("hindsight_deciding", n.status.caught_up && n.status.waits_for_log.empty() && n.status.error.empty() ? 1 : 0, n.labels);
  for (const auto& n : nodes) out.add_seconds("hindsight_log_behind_seconds", static_cast<double>(n.status.behind.micros) / 1e6, n.labels);
  for (const auto& n : nodes)
    if (n.snapshots) out.add("hindsight_snapshot_position", n.snapshots->position, n.labels);
  for (const auto& n : nodes)
    if (n.snapshots) out.add("hindsight_snapshot_failures_total", n.snapshots->failures, n.labels);
  if (std::ranges::none_of(nodes, [](const auto& n) { return n.decides(); })) return;
  actors::AttemptTimes attempts;
  for (const auto& n : nodes) attempts.add(n.status.attempts);
  const auto outcome = [&](const char* result, const actors::AttemptTimes::Outcome& times) {
    out.add_histogram("kueue_admission_attempt_duration_seconds", actors::AttemptTimes::bounds, times.counts, times.seconds,
                      {{"replica_role", options.replica_role}, {"result", result}});
  };
  outcome("inadmissible", attempts.inadmissible);
  outcome("success", attempts.success);
}

}  // namespace hindsight::runtime
