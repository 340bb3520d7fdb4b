#pragma once

#include <functional>
#include <map>
#include <string>

#include "events/log.hpp"

namespace hindsight::replay {

/// Of each domain who began its newest epoch; of two that begin the same one the first has it.
using Owners = std::map<std::string, events::EpochOwner, std::less<>>;

/// As the records up to `upto` say, and what was noted of those that are not kept any more. `go_on` is asked now and then, with the
/// position that was reached; false ends it, with what was found so far. Errors: those of reading, each naming the offset.
[[nodiscard]] Result<Owners> find_owners(const events::Log& log, events::Position upto, const std::function<bool(events::Position)>& go_on);

}  // namespace hindsight::replay
