#pragma once

#include <functional>
#include <vector>

#include "page/timeline/object_index.hpp"
#include "page/view.hpp"
#include "projections/mentions.hpp"

namespace hindsight::page {

/// What somebody wants to read, and does with it.
struct ReadAbout {
  /// Which records he wants; asked again after he has seen some, since he may know more names by then. Empty: all of them.
  std::function<std::vector<timeline::Token>()> wants;
  /// Sees them in their order, and perhaps others; false ends it.
  std::function<bool(const events::StoredRecord&, const RecordView&)> see;
  /// Told of stretches that are left out, in their place; may be empty.
  std::function<void(const timeline::Segment&)> left_out;
};

/// Reads the records of the domain from `from` to `to` that count and that somebody wants: where the index of the log says that a stretch
/// has none of them, it is not read. Errors: those of the log; unavailable (nobody waits).
[[nodiscard]] Result<void> read_records_about(const Look& look, Position from, Position to, const ReadAbout& reading);

/// What stands in each record that `Mentions` can say of that it concerns it, as far as it has seen the ones before.
[[nodiscard]] std::vector<timeline::Token> tokens_of(const projections::Mentions& mentions);

}  // namespace hindsight::page
