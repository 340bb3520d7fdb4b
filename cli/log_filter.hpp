#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/record.hpp"

namespace hindsight::cli {

/// The name of a record's kind: "WorkloadObserved", "Decisions", "EpochStarted".
[[nodiscard]] std::string_view kind_of(const RecordView& record);
/// Names of all kinds of records and of all events of decisions, in the order of the schemas.
[[nodiscard]] std::vector<std::string_view> all_kinds();

/// Which records `log cat` prints.
struct RecordFilter {
  std::vector<std::string> kinds;  ///< Of records, or of an event in a decision; empty: all.
  std::vector<std::string>
      objects;  ///< "name", "namespace/name" or a uid; empty: all. A record counts that is about one of them or names it.

  [[nodiscard]] bool matches(const RecordView& record) const;
};

}  // namespace hindsight::cli
