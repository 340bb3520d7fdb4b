#pragma once

#include <memory>
#include <string>

#include "actors/node.hpp"
#include "cli/live/cluster_link.hpp"
#include "cli/live/many_domains.hpp"
#include "connectors/event_recorder/event_sender.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// What `run --role connector --domains trees` needs.
struct TreesRunOptions {
  std::string log, log_config;  ///< On Kafka, without a partition: the domains are spread over all.
  std::string snapshot_folder;  ///< For copies of snapshots; empty: none are kept.
  std::string cluster;
  projections::MetricsOptions metrics;
};

/// Goes on with the domains of the cluster that are in the log, and makes others as trees appear. `node`: what all of them have in common.
/// Errors: invalid (a log of one partition), those of opening the log and of Node::start.
[[nodiscard]] Result<std::unique_ptr<ManyDomains>> start_trees(const TreesRunOptions& options, actors::NodeOptions node, ClusterLink& link,
                                                               connectors::EventSender& events);

}  // namespace hindsight::cli
