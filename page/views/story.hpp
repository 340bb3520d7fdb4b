#pragma once

#include <optional>
#include <vector>

#include "page/view.hpp"
#include "page/views/curves.hpp"
#include "projections/history.hpp"
#include "projections/lookup.hpp"
#include "projections/trail.hpp"

namespace hindsight::page {

// What the log says of one Workload up to where somebody looks from. Records from before it was made are not read.

/// The first record that can be about a Workload that is there, or about its job: one from a minute before the oldest Workload of its job
/// was made, since clocks differ and a job is there before its Workload. A job that was held back for longer before it got a Workload
/// has a beginning that is not read.
[[nodiscard]] Result<Position> begins_at(const Look& look, const projections::WorkloadAt& at);

/// Reads the records from `from` up to the look. LocalQueues are taken as they are at the look where no record says otherwise. Errors:
/// those of the log; unavailable (nobody waits).
[[nodiscard]] Result<projections::Trail> read_trail(const Look& look, const projections::Target& target, Position from);

/// So many records before and behind a look are searched for what is not there; with an index of the log all of them are.
inline constexpr Position absent_records_max = 1'000'000;
/// Where a search for one that is gone begins.
[[nodiscard]] Result<Position> search_begins_at(const Look& look);
/// The first record behind the look that is about the target; nothing: none of the next `absent_records_max` is.
[[nodiscard]] Result<std::optional<events::StoredRecord>> appears_at(const Look& look, const projections::Target& target);

struct Story {
  /// As `hindsight history` tells it, oldest first.
  std::vector<projections::HistoryEntry> entries;
  /// False: it would have taken a fold over more than `story_fold_records_max` records, or of more than `story_fold_parents_max` jobs. Then
  /// `entries` are the decisions about it, from records alone; what was observed of it is left out, and so is its place.
  bool whole = true;
  /// How many stood before it in its queue; nothing where it did not wait.
  ViewCurve place;
};
inline constexpr Position story_fold_records_max = 20'000;
inline constexpr std::uint32_t story_fold_parents_max = 20'000;
inline constexpr std::size_t place_points = 60;

/// `uid`: of the Workload whose place is told; empty: of none. Errors: as above.
[[nodiscard]] Result<Story> read_story(const Look& look, const projections::Target& target, std::string_view uid, Position from,
                                       Time begins);

}  // namespace hindsight::page
