#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "projections/json.hpp"
#include "whatif/outcome.hpp"

namespace hindsight::whatif {

/// One whose fate is another one.
struct Difference {
  std::string key;  ///< "namespace/name" of the Workload.
  Fate was, would_be;
  bool only_was = false, only_would_be = false;  ///< It is in one of the histories only.

  /// How much later it starts; of one that starts in one history only, the other counts as its end. Negative: earlier.
  Duration shift;
};

/// What became of everybody, and what would have.
struct Comparison {
  Ledger was, would_be;
  std::vector<Difference> differences;  ///< Those whose start, end or evictions differ, the largest shift first.
};

/// Starts and ends count as the same within a second.
[[nodiscard]] Comparison compare(Ledger was, Ledger would_be);

struct ComparisonStyle {
  std::size_t rows = 20;  ///< Of the table of those that differ; 0: all.
  bool colour = false;
};
[[nodiscard]] std::string to_text(const Comparison& comparison, const ComparisonStyle& style);
[[nodiscard]] projections::Json to_json(const Comparison& comparison);

}  // namespace hindsight::whatif
