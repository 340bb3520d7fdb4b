#include "vocabulary/record_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hindsight {
namespace {

TEST(RecordOrder, counts_on_by_one_and_lets_no_epoch_fall) {
  EXPECT_EQ(record_order(0, 0, 1, 0), RecordOrder::next);
  EXPECT_EQ(record_order(7, 2, 8, 2), RecordOrder::next);
  EXPECT_EQ(record_order(7, 2, 8, 3), RecordOrder::next);
  EXPECT_EQ(record_order(7, 2, 7, 2), RecordOrder::passed_over);
  EXPECT_EQ(record_order(7, 2, 7, 3), RecordOrder::passed_over);  // too late for its number, whoever wrote it
  EXPECT_EQ(record_order(7, 2, 8, 1), RecordOrder::passed_over);  // its writer was replaced
  EXPECT_EQ(record_order(7, 2, 99, 1), RecordOrder::passed_over);
  EXPECT_EQ(record_order(7, 2, 9, 2), RecordOrder::gap);
}

TEST(RecordOrder, of_records_that_the_reader_numbers_only_the_epoch_counts) {
  EXPECT_EQ(record_order(0, 0, numbered_by_reader, 0), RecordOrder::next);
  EXPECT_EQ(record_order(7, 2, numbered_by_reader, 0), RecordOrder::next);  // an observation
  EXPECT_EQ(record_order(7, 2, numbered_by_reader, 2), RecordOrder::next);
  EXPECT_EQ(record_order(7, 2, numbered_by_reader, 3), RecordOrder::next);
  EXPECT_EQ(record_order(7, 2, numbered_by_reader, 1), RecordOrder::passed_over);  // its writer was replaced
}

struct Written {
  std::uint64_t sequence = 0, epoch = 0;
};

/// A writer reads the log to its end now and then, and numbers on from what counted there, in an epoch of its own.
struct Writer {
  std::uint64_t sequence = 0, epoch = 0;
  std::vector<Written> under_way;
};

/// What counts in a log.
Written counted(const std::vector<Written>& log) {
  Written last;
  for (const auto& r : log) {
    const auto order = record_order(last.sequence, last.epoch, r.sequence, r.epoch);
    EXPECT_NE(order, RecordOrder::gap);
    if (order == RecordOrder::next) last = r;
  }
  return last;
}

// Design rule 4: whatever several writers leave in one log, in whatever order it arrives, no reader meets a gap, and once one writer is
// left it can go on.
TEST(RecordOrder, no_interleaving_of_writers_makes_a_gap) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::vector<Written> log;
    std::vector<Writer> writers(3);
    for (int step = 0; step < 200; ++step) {
      Writer& w = writers[below(writers.size())];
      switch (below(4)) {
        case 0:  // takes the domain over; what it has under way is lost, or arrives all the same
          while (!w.under_way.empty() && below(2) == 0) {
            log.push_back(w.under_way.front());
            w.under_way.erase(w.under_way.begin());
          }
          w.under_way.clear();
          w.sequence = counted(log).sequence;
          w.epoch = std::max(counted(log).epoch, w.epoch) + 1;
          break;
        case 1:
        case 2:
          if (w.epoch > 0) w.under_way.push_back({++w.sequence, w.epoch});
          break;
        default:
          if (w.under_way.empty()) break;
          log.push_back(w.under_way.front());
          w.under_way.erase(w.under_way.begin());
      }
    }
    const Written last = counted(log);
    log.push_back({last.sequence + 1, last.epoch + 1});
    EXPECT_EQ(counted(log).sequence, last.sequence + 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hindsight
