#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "admission/domain/state_view.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors {

/// What events tell of a job beside the decision.
struct JobFacts {
  std::string uid, kind, group, namespace_, name;
  bool suspended = false;  ///< As it was seen last.
};

/// What events tell of a Workload beside the decision, as it is after the record.
struct WorkloadFacts {
  std::string uid, namespace_, name;
  Time created;
  Time requeued_at;  ///< When condition Requeued changed last; never: it is not there.
  Time reserved_at;  ///< When QuotaReserved became what it is.
  Time admitted_at;
  Time evicted_at;
  bool active = true;
  bool finished = false;
  bool reserved = false;
  bool admitted = false;
  bool evicted = false;
  std::string cluster_queue;  ///< Of its reservation.
  std::int32_t max_exec_seconds = 0;
  std::int64_t priority = 0;  ///< Effective: base + boost.
  std::int64_t boost = 0;
  std::optional<JobFacts> job;  ///< Of an Option none.
};

/// Finds a Workload by uid; nothing: the state does not know it (any more).
using FactSource = std::function<std::optional<WorkloadFacts>(Text uid)>;

/// The facts of a domain. Valid as long as no further record is applied.
[[nodiscard]] FactSource facts_of(const admission::StateView& state);

}  // namespace hindsight::connectors
