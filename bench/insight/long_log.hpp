#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "events/log.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::bench {

/// A long history of a big cluster: so many Workloads in the system at any time, one in ten runs, and for each that ends another comes.
struct LongHistory {
  std::uint64_t records = 10'000'000;
  std::size_t workloads = 100'000;
  std::size_t queues = 1'000;
  Duration runs = Duration::seconds(100);
};

/// What was written.
struct Written {
  events::Position last = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t snapshots = 0, snapshot_bytes = 0;
};

/// Plays it under the rules in virtual time and writes it into an empty log, with snapshots as this policy asks for them. `progress` is
/// told now and then how many records are written.
[[nodiscard]] Written write_history(events::Log& log, const LongHistory& history, const replay::SnapshotPolicy& policy,
                                    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace hindsight::bench
