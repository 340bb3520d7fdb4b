#include "connectors/jobs/index_ranges.hpp"

#include <gtest/gtest.h>

namespace hindsight::connectors {
namespace {

// EJ-61
TEST(IndexRanges, CountDistinctIndexesBelowTheBound) {
  struct Case {
    std::int32_t bound;
    std::string_view a, b;
    std::int64_t count;
  };
  const Case cases[] = {
      {10, "", "", 0},
      {10, "1", "", 1},
      {10, "1,3-5,7", "", 5},
      {10, "1,3-5,7", "4-8", 7},
      {5, "3-9", "", 2},
      {5, "5,6-7", "", 0},
      {5, "0-4", "0-4", 5},
      {10, "5-3", "", 0},
      {10, "a,2,-,3-,-4", "", 1},
      {10, "1--3,4", "", 1},
      {10, ",,2,", "2", 1},
      {0, "0", "", 0},
      {10, "99999999999", "1", 1},
      {2147483647, "0-2147483647", "", 2147483647},
  };
  for (const auto& c : cases) {
    IndexRanges ranges(c.bound);
    ranges.add(c.a);
    ranges.add(c.b);
    EXPECT_EQ(ranges.count(), c.count) << c.bound << " " << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace hindsight::connectors
