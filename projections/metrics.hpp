#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/model/catalog.hpp"
#include "projections/metrics_values.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::projections {

struct MetricsOptions {
  std::string replica_role = "standalone";                        ///< leader, follower, standalone: the label of all metrics.
  std::map<std::string, std::string> build;                       ///< Labels of kueue_build_info.
  bool cluster_queue_resources = false;                           ///< metrics.enableClusterQueueResources (base-api §11).
  int topology_levels = 0;                                        ///< hindsight.topologyMetrics: so many from the top; 0: none.
  bool local_queues = true;                                       ///< metrics.localQueueMetrics.enable.
  std::vector<admission::OwnedRequirement> local_queue_selector;  ///< metrics.localQueueMetrics.localQueueSelector; empty: all.
};

/// The metrics of base-api §8 under Kueue's names, in the Prometheus text format. Counters and histograms count decisions as they are
/// applied, from when this was made; gauges are read from the state. Times are those of records, not of this process.
///
/// `record`, `text` and `values` must not run while a record is being applied; they may run at the same time as each other.
class Metrics {
 public:
  explicit Metrics(MetricsOptions options);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Counts what a record decided; to be told of every record of the domain, in order. `after`: the state with the record applied.
  void record(const RecordView& record, const admission::StateView& after);
  void set_replica_role(const std::string& role);

  [[nodiscard]] std::string text(const admission::StateView& state) const;
  /// Of this domain, to be added to those of the other domains of its cluster.
  [[nodiscard]] MetricsValues values(const admission::StateView& state) const;

 private:
  struct Counters;
  MetricsOptions options_;
  std::unique_ptr<Counters> counters_;
};

}  // namespace hindsight::projections
