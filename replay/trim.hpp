#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "events/log.hpp"
#include "replay/past.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

/// What a trim did, or would do.
struct TrimReport {
  Position first = 1;         ///< Of the records that are kept afterwards.
  std::uint64_t records = 0;  ///< That are forgotten.
  std::size_t domains = 0;    ///< That had begun by then.
  std::size_t snapshots_made = 0, snapshots_dropped = 0;
  std::size_t checkpoints_dropped = 0;  ///< Of the chain, before the one that is kept of the place of the cut (events/chain.hpp).
  bool complete = true;                 ///< False: it was told to end before anything was forgotten.
};

/// Called now and then, while the state of a domain is being folded, or all records before the cut are looked through (then without a
/// name): which one, and where it stands on its way to the cut. False ends it.
using TrimProgress = std::function<bool(const std::string& domain, Position position)>;

/// Has a log forget its records up to `upto`: first every domain that has begun by then gets a snapshot there, so that every later moment
/// can be reached as before, and the head of the chain there is stored, so that it goes on from there; then the records go, then the older
/// snapshots and checkpoints. May be done beside live nodes, and again after it was
/// interrupted anywhere. `only_tell`: nothing is changed. Errors: those of folding, unsupported (the log keeps everything), denied, io.
[[nodiscard]] Result<TrimReport> trim(Log& log, Position upto, std::string_view release, bool only_tell, const TrimProgress& progress = {});

}  // namespace hindsight::replay
