#pragma once

#include <memory>
#include <string>

namespace hindsight::projections {

struct DomainMetrics;

/// The metrics of one domain, or of many domains of one cluster together, as values that can be added up. Together they are what one domain
/// for the whole cluster would show: what was counted is added up, and so is what a state counts of jobs and Workloads, for each of them is
/// in one domain; what is said of a queue or a cohort is taken from the domain where it is (presence.hpp). What means nothing beyond one
/// domain, its epoch and the sequence of its last record, is left out.
class MetricsValues {
 public:
  MetricsValues();
  explicit MetricsValues(DomainMetrics domain);
  ~MetricsValues();
  MetricsValues(MetricsValues&& other) noexcept;
  MetricsValues& operator=(MetricsValues&& other) noexcept;

  /// Those of other domains of the cluster, collected with the same options.
  void add(MetricsValues other);
  /// In the Prometheus text format: families by name, samples by their labels.
  [[nodiscard]] std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace hindsight::projections
