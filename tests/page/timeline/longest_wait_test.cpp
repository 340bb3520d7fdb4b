// Who waits longest, kept while records are folded, against a look at all Workloads after every record (issue 20: the curve of the oldest
// wait where only the index tells the hour).

#include "page/timeline/longest_wait.hpp"

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "tests/page/timeline/busy_history.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::page::timeline {
namespace {

TEST(LongestWait, IsThatOfALookAtAllAfterEveryRecord) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    events::MemoryLog log;
    BusyHistory history(log, seed);
    history.live_to(as_much_as(4'000, 1'500));
    const Position end = log.last().value();
    replay::Past past(log, "default");
    LongestWait from_the_beginning, from_the_middle;
    std::size_t waited = 0, nobody = 0;
    past.look_on({}, [&](Position at, const RecordView& record) {
      const auto& state = past.driver();
      from_the_beginning.after(record, state);
      if (at == end / 2) from_the_middle.begin(state);
      if (at > end / 2) from_the_middle.after(record, state);
      const Time truth = longest_wait_of(state);
      ++(truth.is_set() ? waited : nobody);
      if (at % 3 != 0) return;  // it need not be asked each time
      ASSERT_EQ(from_the_beginning.since(state), truth) << "record " << at << " of " << seed;
      if (at >= end / 2) {
        ASSERT_EQ(from_the_middle.since(state), truth) << "record " << at << " of " << seed;
      }
    });
    ASSERT_TRUE(past.fold_to(end));
    EXPECT_GT(waited, 100U);
    EXPECT_GT(nobody, 0U);
  }
}

}  // namespace
}  // namespace hindsight::page::timeline
