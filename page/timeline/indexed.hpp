#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "page/timeline/object_index.hpp"
#include "page/timeline/rows.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page::timeline {

/// What is known of a history at one moment. Immutable, to be shared between threads.
struct Indexed {
  std::shared_ptr<const Series> main = std::make_shared<const Series>();
  /// Of the whole history from samples: counts are estimates, and few rows have a state. Counts only behind the end of `main`.
  std::shared_ptr<const Series> coarse;
  /// Where records about an object may be; null: nothing is known of that yet.
  std::shared_ptr<const ObjectIndex> objects;
  /// Stretches with narrower rows.
  std::vector<std::shared_ptr<const Series>> details;
  bool looked = false;                ///< At the log.
  Position last = 0;                  ///< Of the log, then.
  std::optional<Error> why_not_more;  ///< What keeps `main` from the end of the log.

  [[nodiscard]] bool complete() const { return looked && main->end >= last && !why_not_more; }
  /// The narrowest rows that there are of all records from `from` to `to`; null: the main ones.
  [[nodiscard]] const Series* detail_of(Position from, Position to) const;
};

/// A row, and the series that names its pairs.
struct DrawnRow {
  const Row* row = nullptr;
  const Series* series = nullptr;
};

struct Stretch {
  std::vector<DrawnRow> rows;  ///< In order; the first may lie before the stretch, as what was so when it began.
  const Series* detail = nullptr;
  bool exact = false;    ///< All rows are of records that were read, and none is missing.
  Position covered = 0;  ///< Up to here there are rows.
};

/// The best rows for the records from `from` to `to`. What it gives lives as long as `indexed`.
[[nodiscard]] Stretch stretch_of(const Indexed& indexed, Position from, Position to);

/// How many rows as they are in the main series lie in a stretch, at most.
[[nodiscard]] std::uint64_t main_rows_in(const Indexed& indexed, Position from, Position to);

}  // namespace hindsight::page::timeline
