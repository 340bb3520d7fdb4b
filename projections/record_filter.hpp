#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::projections {

/// The name of a record's kind: "WorkloadObserved", "Decisions", "EpochStarted".
[[nodiscard]] std::string_view kind_of(const RecordView& record);
/// Names of all kinds of records and of all events of decisions, in the order of the schemas.
[[nodiscard]] std::vector<std::string_view> all_kinds();

/// "observed", "decided", or "log" for what the log says of itself (who began an epoch).
[[nodiscard]] std::string_view source_of(const RecordView& record);

/// Which records are wanted. Of one list any may match; all lists that are not empty must.
struct RecordFilter {
  std::vector<std::string> kinds;  ///< Of records, or of an event in a decision; empty: all.
  std::vector<std::string>
      objects;  ///< "name", "namespace/name" or a uid; empty: all. A record counts that is about one of them or names it.
  std::vector<std::string> events;   ///< Of events in a decision alone.
  std::vector<std::string> sources;  ///< As source_of has them.
  std::vector<std::string> texts;    ///< All of these stand in the record's line (events::to_line), whatever their case in ASCII.

  [[nodiscard]] bool matches(const RecordView& record) const;
  [[nodiscard]] bool is_set() const { return !kinds.empty() || !objects.empty() || !events.empty() || !sources.empty() || !texts.empty(); }

  static constexpr std::size_t words_max = 32, word_bytes_max = 512, text_bytes_max = std::size_t{64} << 10;
};

/// Reads a filter as people type it: words with blanks between them, of the forms kind:KIND, object:NAME, event:EVENT, source:SOURCE and
/// text:TEXT; a word without such a beginning is a text. Errors: invalid, naming the word, what was found and what is allowed.
[[nodiscard]] Result<RecordFilter> parse_record_filter(std::string_view words);

}  // namespace hindsight::projections
