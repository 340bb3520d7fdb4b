#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "page/timeline/rows.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page::timeline {

/// Estimates of a long history, for the first picture. Short pieces of records all over the log are read, and their counts stand for all
/// records between; usage, and how many wait and run, is read off some of the snapshots, because nothing else knows it without a fold.
/// With 10,000,000 records the pieces take a tenth of a second; each snapshot takes as long as it is large.
struct CoarseOptions {
  Position begin = 0;  ///< The rows begin behind it,
  Position end = 0;    ///< and end with it.
  std::size_t pieces = 256;
  std::size_t records = 32;          ///< Of a piece.
  std::size_t snapshots_max = 12;    ///< The newest, and others evenly between.
  std::int64_t snapshots_ms = 2000;  ///< When so much time has gone, no further snapshot is read.
};

/// `publish`: called with what is known so far, whenever that is more. `go_on`: asked before each thing that takes time; false ends it.
/// Errors: those of the log; what was published is right all the same.
[[nodiscard]] Result<void> make_coarse_rows(const events::Log& log, const std::string& domain, const CoarseOptions& options,
                                            const std::function<void(std::shared_ptr<const Series>)>& publish,
                                            const std::function<bool()>& go_on);

}  // namespace hindsight::page::timeline
