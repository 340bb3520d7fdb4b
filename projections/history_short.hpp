#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "projections/history.hpp"

namespace hindsight::projections {

/// An entry of a history, and how often it was said.
struct ShortEntry {
  HistoryEntry entry;             ///< The first of them, with the text of the last: that names the newest amounts.
  std::size_t times = 1;          ///< So many entries stand in this one.
  std::uint64_t last_offset = 0;  ///< Of the last of them.
  Time last_time;
};

/// The history without what says the same again. A job that waits is tried whenever something changes near it, and a history of thousands
/// of lines has a dozen that tell something. Between two pieces of news there is one line for each outcome that tries of an object had,
/// with how often it came out so; amounts and counts in its text are no new outcome, and that it went back in line for such a try is not
/// told. Other entries are put together only where they are equal and no news stand between. The order is that of the first entries.
[[nodiscard]] std::vector<ShortEntry> condensed(const std::vector<HistoryEntry>& entries);

/// "14 times, last at 362 (2026-01-01T00:00:53.400000Z): tried in …"; of one that was said once its text.
[[nodiscard]] std::string short_text(const ShortEntry& entry);
/// The entry with `times`, and where that is above 1 `lastOffset` and `lastTime`.
[[nodiscard]] Json to_json(const ShortEntry& entry);

}  // namespace hindsight::projections
