#pragma once

#include "admission/model/catalog_view.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {

// Objects in the shape that the API gives them (v1beta2), as far as the log knows them: of pod templates only requests, selectors and
// tolerations are known, of metadata what decisions read. What the log knows beside the API stands in status.hindsight. docs/objects.md
// lists all fields. Values are values: numbers, Kubernetes quantities, times as RFC 3339. What is not known is left out.

/// How much of an object is told.
enum class Detail {
  own,    ///< What is its own: for lists of many.
  whole,  ///< Who holds, who waits and at which place, too, all of them: for one.
};

[[nodiscard]] Json workload_object(const StateView& state, const WorkloadAt& at, Detail detail = Detail::own);
[[nodiscard]] Json cluster_queue_object(const StateView& state, const admission::QueueConfig& queue, Detail detail = Detail::own);
[[nodiscard]] Json local_queue_object(const StateView& state, const admission::LocalQueueConfig& queue, Detail detail = Detail::own);
/// `cohort`: may be one that is only named by its members; then it has no spec.
[[nodiscard]] Json cohort_object(const StateView& state, const Symbol& cohort);
[[nodiscard]] Json resource_flavor_object(const admission::FlavorConfig& flavor);
/// With the queues and cohorts that have quota of it.
[[nodiscard]] Json resource_flavor_object(const StateView& state, const admission::FlavorConfig& flavor);
[[nodiscard]] Json admission_check_object(const admission::CheckConfig& check);
[[nodiscard]] Json priority_class_object(Symbol name, const admission::PriorityClassConfig& priority_class);

/// {"apiVersion": "v1", "kind": "List", "items": [...]}
[[nodiscard]] Json list_of(Json items);

// ---- parts, also for descriptions -------------------------------------------------------------------------------------------------

/// [{"type": ..., "status": ..., "reason": ..., "message": ..., "lastTransitionTime": ...}]
[[nodiscard]] Json conditions_json(const WorkloadState& w);
/// {"cpu": "1500m"}
[[nodiscard]] Json amounts_json(const std::vector<std::pair<Symbol, Amount>>& amounts);

}  // namespace hindsight::projections
