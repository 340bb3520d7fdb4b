#pragma once

#include <optional>
#include <vector>

#include "projections/top.hpp"

namespace hindsight::projections {

/// What all ClusterQueues use of each flavor and resource, and what they and all cohorts have of it; by flavor and resource. `borrowed` is
/// the sum over the queues. Time linear in the number of quotas.
[[nodiscard]] std::vector<TopQuota> quota_totals(const StateView& state);
/// The one that is used most, by `use_in_thousandths`; of equal ones the first. Null: none has a limited quota.
[[nodiscard]] const TopQuota* most_used(const std::vector<TopQuota>& totals);

}  // namespace hindsight::projections
