#pragma once

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"

namespace hindsight::admission {

// Can pods of this shape run on nodes of this flavor (base-admission §5.4 steps 3 and 4)?

/// The first NoSchedule or NoExecute taint of the flavor that neither the pods nor the flavor itself tolerate; nullptr: none (BA-82).
[[nodiscard]] const OwnedTaint* first_untolerated_taint(const FlavorConfig& flavor, const PodShape& shape);

/// nodeSelector and required node affinity, reduced to the label keys of this flavor: terms are OR-ed, and a term that becomes
/// empty matches (BA-81).
[[nodiscard]] bool matches_node_labels(const FlavorConfig& flavor, const PodShape& shape);

}  // namespace hindsight::admission
