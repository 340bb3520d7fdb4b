#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "casefile/account.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::casefile {

/// The part of a log that answers about one Workload need, in a file of its own. It holds the records of everybody.
struct LogPart {
  /// A longer part is refused.
  static constexpr std::uint64_t bytes_max = std::uint64_t{4} << 30;

  Position from = 1, to = 0;  ///< Its records, at their positions.
  std::uint64_t records = 0;
};

/// Copies records up to the end of the account into a new file: from the newest snapshot on before which nothing is needed, or all that the
/// log has. The answer that the part gives is compared with that of the account; where it is another, because something older is needed
/// after all, the part begins where the log does. Errors: unsupported (the log holds records of writers that were replaced, so that
/// positions would differ), invalid (it is too long), corrupt (it answers otherwise even then), those of logs and copies.
[[nodiscard]] Result<LogPart> write_log_part(const events::Log& log, const Account& account, const std::string& file,
                                             const GatherProgress& progress = {});

}  // namespace hindsight::casefile
