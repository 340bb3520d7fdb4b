#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "events/record_batch.hpp"

namespace hindsight::events {

/// Something wrong with a log. `offset` is that of the record, or of the snapshot; 0: the log as a whole.
struct Finding {
  Position offset = 0;
  std::string what;
};

struct CheckReport {
  std::uint64_t records = 0;      ///< Records that were read.
  std::uint64_t passed_over = 0;  ///< Of them those that a replaced writer left behind; only in logs where that can be.
  std::uint64_t set_aside = 0;    ///< Of them those that every reader passes over because a record says so.
  std::uint64_t snapshots = 0;
  Position last = 0;
  bool complete = true;  ///< False: ended early, by the caller or because there were too many findings.
  std::vector<Finding> findings;
};

/// Called with how many records were walked and how many there are; false ends the walk.
using CheckProgress = std::function<bool(Position done, Position total)>;

/// No report names more than this; a log that is that broken is not understood better with more.
inline constexpr std::size_t findings_max = 1000;

}  // namespace hindsight::events
