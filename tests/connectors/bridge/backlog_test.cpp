// The bound on what waits between the watches and the bridge.

#include "connectors/bridge/backlog.hpp"

#include <gtest/gtest.h>

namespace hindsight::connectors {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(Backlog, ManySmallObjectsArePausedByTheirNumber) {
  Backlog b;
  EXPECT_FALSE(b.pauses(Backlog::tasks_high - 1));
  EXPECT_FALSE(b.goes_on(0)) << "nobody paused";
  EXPECT_TRUE(b.pauses(Backlog::tasks_high));
  EXPECT_FALSE(b.goes_on(Backlog::tasks_low));
  EXPECT_TRUE(b.goes_on(Backlog::tasks_low - 1));
  EXPECT_FALSE(b.goes_on(0)) << "once for each pause";
}

/// 20,000 objects of 1.5 MiB would be 30 GB.
TEST(Backlog, FewLargeObjectsArePausedByTheirBytes) {
  Backlog b;
  std::size_t objects = 0;
  do {
    b.add(3 * mib / 2);
    ++objects;
  } while (!b.pauses(objects));
  EXPECT_LE(b.bytes(), 66 * mib);
  EXPECT_GE(b.bytes(), 64 * mib);
  while (!b.goes_on(objects)) {
    ASSERT_GT(objects, 0U);
    b.remove(3 * mib / 2);
    --objects;
  }
  EXPECT_LT(b.bytes(), 32 * mib);
  EXPECT_GT(b.bytes(), 29 * mib) << "as soon as there is room for as much again";
}

}  // namespace
}  // namespace hindsight::connectors
