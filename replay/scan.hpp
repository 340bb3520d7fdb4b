#pragma once

#include <functional>
#include <string>

#include "events/log.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

/// Calls `see` with every record of a domain from `from` (1: from the first that is kept) to `to`, decoded, in order; it returns false to
/// end. An empty domain means all of them. A record that was set aside and cannot be decoded goes to `unreadable`. Errors: corrupt,
/// unsupported, io, with the offset; what is before has been seen.
[[nodiscard]] Result<void> scan(const events::Log& log, const std::string& domain, events::Position from, events::Position to,
                                const std::function<bool(const events::StoredRecord&, const RecordView&)>& see,
                                const std::function<void(std::uint64_t, std::uint64_t)>& progress = {},
                                const std::function<void(const events::StoredRecord&, const Error&)>& unreadable = {});

/// Which of the records was set aside: by its sequence, or by its position where the reader counts. Without a fold this is as much as can
/// be said, and right in the log in which it was set aside.
[[nodiscard]] const events::QuarantinedRecord* find_quarantined(const std::vector<events::QuarantinedRecord>& list,
                                                                const events::StoredRecord& record);

}  // namespace hindsight::replay
