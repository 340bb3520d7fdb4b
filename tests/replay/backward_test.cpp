// A log whose clock runs backwards, or whose times are those of nobody: work goes on, time stands still until it is reached again, and the
// log folds to the same state (issue 14: a hostile machine).

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "events/memory_log.hpp"
#include "replay/past.hpp"
#include "replay/verify.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::replay {
namespace {

TEST(Backward, TimesOfNobodyStopNothing) {
  constexpr auto latest = std::numeric_limits<std::int64_t>::max(), earliest = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t micros : {std::int64_t{0}, std::int64_t{-1}, earliest, earliest + 1, latest, latest - 1}) {
    SCOPED_TRACE(micros);
    events::MemoryLog log;
    hindsight::testing::LogWorld w(log);
    w.set_up({{.name = "team-a", .quotas = {{.nominal = 2000}}}});
    w.submit({.name = "before", .cpu = 1000});
    w.settle();
    w.confirm();
    w.snapshot();
    const Time before = w.driver().domain().now();
    w.now = Time{micros};
    w.submit({.name = "after", .cpu = 1000, .priority = 9});
    w.settle();
    w.confirm();
    const auto index = w.driver().domain().find_parent("uid-after");
    ASSERT_TRUE(index);
    EXPECT_TRUE(w.driver().parent(*index)->workloads().front().admitted());
    EXPECT_GE(w.driver().domain().now(), std::max(before, Time{micros}));
    w.finish("after");
    w.wake();
    w.settle();
    w.confirm();
    w.flush();
    EXPECT_TRUE(w.driver().parent(*index)->workloads().front().finished());

    const auto verified = verify(log, "default");
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_TRUE(verified->mismatches.empty());
    EXPECT_TRUE(verified->snapshot_mismatches.empty());
    Past past(log, "default", {.use_snapshots = false});
    ASSERT_TRUE(past.go_to(w.position()));
    EXPECT_EQ(past.driver().state_hash(), w.hashes().back());
  }
}

}  // namespace
}  // namespace hindsight::replay
