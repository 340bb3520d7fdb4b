#pragma once

#include <functional>
#include <string>

#include "events/log.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

/// Calls `see` with every record of a domain from `from` (1: from the first that is kept) to `to`, decoded, in order; it returns false to
/// end. An empty domain means all of them. Errors: corrupt, unsupported, io, with the offset; what is before has been seen.
[[nodiscard]] Result<void> scan(const events::Log& log, const std::string& domain, events::Position from, events::Position to,
                                const std::function<bool(const events::StoredRecord&, const RecordView&)>& see,
                                const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace hindsight::replay
