#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::bench {

/// A big cluster in plain facts: cohorts of ClusterQueues with one LocalQueue each, and Workloads that no job owns.
struct Shape {
  std::size_t cohorts = 10;
  std::size_t queues = 1'000;
  std::size_t workloads = 100'000;
  bool fair_sharing = false;
  /// Every second queue has no quota of its own: half of the Workloads borrow.
  bool borrowing = true;
};

/// Observations with the memory of their views, to be told one after another.
class BigDomain {
 public:
  explicit BigDomain(const Shape& shape);

  [[nodiscard]] const std::vector<Observation>& configuration() const { return configuration_; }
  /// The i-th Workload, pending; valid until the next call.
  [[nodiscard]] Observation workload(std::size_t i);
  /// Resource groups as those of its queues, with nothing in them.
  [[nodiscard]] List<ResourceGroupFacts> without_quota();
  /// For the domain: settings that the configuration asks for.
  [[nodiscard]] admission::Domain::SettingsReader settings_reader() const;

 private:
  List<ResourceGroupFacts> groups(Amount nominal);

  Shape shape_;
  Arena arena_;
  std::vector<Observation> configuration_;
  std::string name_, uid_, queue_;
  ResourceAmount request_;
  PodSetFacts pod_set_;
};

/// The record with this body that follows `sequence`.
[[nodiscard]] RecordView record_after(std::uint64_t sequence, Time time, Body body);

}  // namespace hindsight::bench
