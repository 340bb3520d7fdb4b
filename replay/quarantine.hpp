#pragma once

#include <cstdint>
#include <string>

#include "events/log.hpp"
#include "replay/past.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

struct QuarantineOptions {
  Position record = 0;
  std::string writer, release, reason;
  Time now;
  /// Also a record with which somebody has decided since. Then the decisions on record are not those that follow without it.
  bool force = false;
  bool only_tell = false;
  Progress progress;
};

struct QuarantineReport {
  std::string domain;
  std::uint64_t sequence = 0;  ///< Of the record in its domain.
  std::string what;            ///< The record as one line, or why it cannot be read.
  bool already = false;        ///< It was set aside before; nothing was added.
  Position said_at = 0;        ///< Of the record that says so.
  std::size_t snapshots_dropped = 0;
  std::uint64_t decisions_with_it = 0;  ///< Decided since by who could take it.
  std::uint64_t state_hash = 0;         ///< At the end of the log, without the record.
};

/// Sets a record aside, for every reader of the log and of its copies, and for ever: a record that says so is appended, snapshots that have
/// it in them are dropped, and the log is folded to its end without it. Nobody else may write to the log. Errors: not_found (no such
/// record), conflict (decisions were made with it, and force was not asked for; nothing was changed), invalid (what cannot be set aside),
/// unsupported (it was written by a newer release), corrupt (another record cannot be taken: the record is set aside all the same), those
/// of the log.
[[nodiscard]] Result<QuarantineReport> quarantine(Log& log, const QuarantineOptions& options);

}  // namespace hindsight::replay
