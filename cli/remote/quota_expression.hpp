#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// What `create clusterqueue` says of quotas: each text is "flavor:resource=quantity;resource=quantity,flavor:…" (base-api §10). Empty: not
/// given.
struct QuotaExpressions {
  std::string nominal_quota, borrowing_limit, lending_limit;
};

/// `spec.resourceGroups` of a ClusterQueue: flavors with the same resources stand in one group, in the order in which they are named. A
/// flavor without nominal quota gets 0. Errors: invalid; each names the option, what was found and what is allowed.
[[nodiscard]] Result<Json> read_resource_groups(const QuotaExpressions& expressions);

}  // namespace hindsight::cli
