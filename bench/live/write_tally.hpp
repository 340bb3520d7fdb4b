#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vocabulary/observations.hpp"

namespace hindsight::bench {

/// How many versions of Workloads were written, by what is new in them. The owner creates, finishes and clears; all else is the
/// controller's.
struct WriteTally {
  std::size_t created = 0, finished = 0, cleared = 0;  ///< By the owner.
  std::size_t admissions = 0;                          ///< The reservation came, and the Workload is admitted with it.
  std::size_t evictions = 0;
  std::size_t reasons = 0;   ///< A pending Workload was told something new: why it waits, or that it is queued again.
  std::size_t repeated = 0;  ///< None of these: the write says nothing new about admission.

  [[nodiscard]] std::size_t by_controller() const { return admissions + evictions + reasons + repeated; }
};

/// What was last seen of one Workload.
class SeenWorkload {
 public:
  /// Counts what the newly seen version brings.
  void see(const WorkloadObserved& workload, WriteTally& tally);

  [[nodiscard]] bool admitted() const { return admitted_ && reserved_; }
  [[nodiscard]] bool evicted() const { return evicted_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool holds_quota() const { return reserved_; }

 private:
  bool known_ = false, reserved_ = false, admitted_ = false, evicted_ = false, finished_ = false;
  std::size_t told_ = 0;  ///< Hash of what its conditions say, but their times.
};

}  // namespace hindsight::bench
