#pragma once

#include <cstdint>
#include <functional>

#include "events/log.hpp"

namespace hindsight::events {

/// What a copy found and did.
struct CopyReport {
  std::uint64_t found = 0;        ///< Records that were there already, equal to the source's.
  std::uint64_t copied = 0;       ///< Records that were added.
  std::uint64_t passed_over = 0;  ///< Records of the source that do not count and were left out.
  std::uint64_t snapshots = 0;    ///< Snapshots that were added.
  std::uint64_t snapshots_left =
      0;                          ///< Snapshots that do not fit the copy: behind a record that was left out, or before what it begins with.
  std::uint64_t checkpoints = 0;  ///< Of the chain that were added (events/chain.hpp).
  Position last = 0;              ///< Of the copy.
  std::uint64_t hash = 0;         ///< Over all records, the same for both logs.
};

/// Called with how many records were walked and how many there are, in each of the two passes.
using CopyProgress = std::function<void(Position done, Position total)>;

/// Copies what counts in `from` behind what `to` holds, when that is the beginning of it; so a copy that ended early goes on. At the end
/// `to` is read again and compared by hash. Where `from` was trimmed, an empty `to` begins as late; one that goes back further keeps what
/// it has, so that repeated copies make an archive. Errors: conflict (`to` holds other records; the message names the first), unsupported
/// (`from` has lost its beginning otherwise, or `to` cannot begin late), corrupt (the copy differs from what was written), and those of the
/// logs.
[[nodiscard]] Result<CopyReport> copy_log(const Log& from, Log& to, const CopyProgress& progress = {});

}  // namespace hindsight::events
