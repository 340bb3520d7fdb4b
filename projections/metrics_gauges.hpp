#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "projections/metrics.hpp"
#include "projections/presence.hpp"

namespace hindsight::projections {

/// What becomes of metrics where many domains of a cluster are shown as one; in the order in which they are printed.
enum class Across : std::uint8_t {
  same,           ///< Of the process; every domain says the same.
  nothing,        ///< Of one domain, and means nothing beyond.
  sum,            ///< Counts what is in one domain only, or happened there.
  cluster_queue,  ///< Describe a ClusterQueue, a LocalQueue, a Cohort: one of these is in one domain, and that tells.
  local_queue,
  cohort,
};

struct MetricGroup {
  Across across = Across::sum;
  std::vector<prometheus::MetricFamily> families;
};

/// All of one domain, of which MetricsValues are made.
struct DomainMetrics {
  struct LocalQueue {
    std::string namespace_, name;
    bool selected = false;
  };
  Presence presence;
  std::vector<MetricGroup> groups;
  bool chooses = false;  ///< Only metrics of some LocalQueues are wanted (BA-187), and which those are is known when all are together.
  std::vector<LocalQueue> local_queues;  ///< Those of the domain, if so.
};

/// Empty: it has no such label.
[[nodiscard]] std::string label_of(const prometheus::ClientMetric& metric, std::string_view name);

/// Are metrics of this LocalQueue wanted (BA-187)? One that is not there matches a selector that asks for nothing.
[[nodiscard]] bool selects(const MetricsOptions& options, const admission::StateView& state, const Symbol& namespace_,
                           const Symbol& local_queue);

/// Since when it waits for quota: its creation, or when it was requeued last; a family since it began anew (CA-104).
[[nodiscard]] Time queued_since(const admission::WorkloadState& w);

/// All gauges of a state, ready to be serialised.
[[nodiscard]] std::vector<MetricGroup> gauges_of(const admission::StateView& state, const MetricsOptions& options);

}  // namespace hindsight::projections
