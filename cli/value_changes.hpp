#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "cli/condition.hpp"
#include "events/log.hpp"
#include "replay/past.hpp"

namespace hindsight::cli {

/// A record behind which a value is another one than before it.
struct ValueChange {
  replay::Position position = 0;
  Time time;
  std::string record;         ///< As text.
  std::string before, after;  ///< `nothing_there` where it was not there.
};

/// Who changed a value.
struct ValueChanges {
  std::deque<ValueChange> changes;  ///< The newest last.
  replay::Position begin = 0;       ///< So far back it was looked: behind this record.
  std::string at_begin;             ///< What it was there.
  bool beginning_is_gone = false;   ///< It was looked as far back as the log is kept, and that is not its beginning.
  std::vector<std::string> notices;
};

/// The last `limit` changes (0: all) up to `until`. What lies near is found first: the log is folded in stretches from one snapshot to the
/// next, the last one first. Errors: not_found (the log begins behind `until`), and those of a fold.
[[nodiscard]] Result<ValueChanges> changes_of(const events::Log& log, const std::string& domain, const ObjectValue& value,
                                              replay::Position until, std::size_t limit, const replay::Progress& progress = {});

/// "At 71, 2026-01-01T00:00:05Z clusterqueue/a.pending became 1, from 0", and the record below.
[[nodiscard]] std::string change_text(const ObjectValue& value, const ValueChange& change);
/// What to say where nobody changed it.
[[nodiscard]] std::string no_change(const ObjectValue& value, const ValueChanges& found, replay::Position until);

}  // namespace hindsight::cli
