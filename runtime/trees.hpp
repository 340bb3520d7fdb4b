#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "actors/node.hpp"
#include "connectors/event_recorder/event_sender.hpp"
#include "runtime/cluster_link.hpp"
#include "runtime/many_domains.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// What `run --role connector --domains trees` needs.
struct TreesRunOptions {
  std::string log, log_config;  ///< On Kafka, without a partition: the domains are spread over all.
  std::string snapshot_folder;  ///< For copies of snapshots; empty: none are kept.
  std::string cluster;
  projections::MetricsOptions metrics;
  std::stop_token stop;                            ///< The log is not waited for any more.
  std::function<void(const std::string&)> notice;  ///< What is to be told while it starts.
};

/// Goes on with the domains of the cluster that are in the log, and makes others as trees appear. `node`: what all of them have in common.
/// Errors: invalid (a log of one partition), those of opening the log and of Node::start.
[[nodiscard]] Result<std::unique_ptr<ManyDomains>> start_trees(const TreesRunOptions& options, actors::NodeOptions node, ClusterLink& link,
                                                               connectors::EventSender& events);

}  // namespace hindsight::runtime
