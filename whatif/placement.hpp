#pragma once

#include <span>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "vocabulary/result.hpp"
#include "whatif/changes.hpp"

namespace hindsight::whatif {

/// A domain as it stands at the moment.
struct DomainState {
  std::string name;
  const admission::StateView* state = nullptr;
};

/// Which domain each change concerns, in the order of the domains. Limits go to the domain that has the queue, and hold in another one if
/// it comes there; nodes, classes, flavors and the configuration go to all that know such; queues to the domain of their cohort, jobs to
/// that of their queue. What belongs to no domain goes to the first, for it shares quota with nobody. With one domain all go there
/// unchecked: its player says what finds nothing.
///
/// Errors: not_found (no domain has the queue or the node), invalid (several have it; or a queue would join trees of two domains, which
/// are decided by one each).
[[nodiscard]] Result<std::vector<Changes>> placed(const Changes& changes, std::span<const DomainState> domains);

}  // namespace hindsight::whatif
