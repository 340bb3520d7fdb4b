#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/record_batch.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events {

class Log;

// Records that no entity could take, and that every reader passes over because a later record says so (RecordQuarantined). A reader has to
// know of them before it begins to fold, so every log keeps a list beside its records, and adds to it when such a record is appended.

/// A record that is passed over. It is known by its sequence, which is the same in every copy of the log.
struct QuarantinedRecord {
  std::string domain;
  std::uint64_t sequence = 0;
  Position position = 0;  ///< Where it stood in the log in which that was said first; for people.
  friend auto operator<=>(const QuarantinedRecord&, const QuarantinedRecord&) = default;
};

/// What the record says, if it is one that sets another aside. Cheap for all others: it looks at one byte of them.
[[nodiscard]] std::optional<QuarantinedRecord> quarantine_in(const EncodedRecord& record);

/// The sequences of a domain that are passed over. Errors: those of Log::quarantined.
[[nodiscard]] Result<std::set<std::uint64_t>> passed_over(const Log& log, std::string_view domain);

}  // namespace hindsight::events
