#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight::connectors {

/// The distinct indexes below a bound that lists such as completedIndexes ("1,3-5,7") name together. Malformed and descending ranges are
/// skipped (EJ-61).
class IndexRanges {
 public:
  explicit IndexRanges(std::int32_t bound) : bound_(bound) {}

  void add(std::string_view list);
  [[nodiscard]] std::int64_t count() const;

 private:
  std::int32_t bound_;
  std::vector<std::pair<std::int32_t, std::int32_t>> ranges_;  ///< First and last, both included.
};

}  // namespace hindsight::connectors
