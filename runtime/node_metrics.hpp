#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/node.hpp"
#include "runtime/metrics_text.hpp"
#include "runtime/node_snapshots.hpp"

namespace hindsight::runtime {

/// What /metrics tells of one domain that runs in this process.
struct NodeFigures {
  MetricsText::Labels labels;  ///< Which of many it is; empty: there is one.
  actors::NodeStatus status;
  std::optional<NodeSnapshots::Standing> snapshots;

  /// A connector makes no decisions, and no snapshots.
  [[nodiscard]] bool decides() const { return snapshots.has_value(); }
};

/// The labels of one of many domains.
[[nodiscard]] MetricsText::Labels labels_of_domain(std::int32_t partition, const std::string& domain);

struct NodeMetricsOptions {
  bool epoch = true;         ///< It does not stand in the same answer already, for a family may stand there once.
  std::string replica_role;  ///< The label of what Kueue has, too.
};
/// What a node of a fleet tells of its share.
struct FleetFigures {
  std::size_t wanted = 0, open = 0;     ///< Partitions that are its own, and of these those whose log is open.
  std::size_t followed = 0, ready = 0;  ///< Domains of others that it follows, and of these those read to their end.
};
void add_fleet_metrics(MetricsText& out, const FleetFigures& fleet);

void add_node_metrics(MetricsText& out, const std::vector<NodeFigures>& nodes, const NodeMetricsOptions& options);

}  // namespace hindsight::runtime
