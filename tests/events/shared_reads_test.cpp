// A log that several read at about the same pace is read once.

#include "events/shared_reads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "events/memory_log.hpp"
#include "tests/events/log_records.hpp"

namespace hindsight::events {
namespace {

using test::Records;

constexpr Position records_of_test = 100;

/// All positions from one on, in reads of so many records.
std::vector<Position> walked(const ReadRecords& read, Position from, Position to, std::size_t records) {
  std::vector<Position> out;
  RecordBatch batch;
  for (Position at = from; at <= to;) {
    EXPECT_TRUE(read(at, {.records = records}, batch));
    if (batch.empty()) break;
    for (const auto& record : batch)
      if (record.offset <= to) out.push_back(record.offset);
    at = batch[batch.size() - 1].offset + 1;
  }
  return out;
}

class SharedReadsOfALog : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(log_.append(Records::run("a", 1, records_of_test).list(), 0)); }
  [[nodiscard]] static std::vector<Position> all(Position from, Position to) {
    std::vector<Position> out;
    for (Position p = from; p <= to; ++p) out.push_back(p);
    return out;
  }
  MemoryLog log_;
};

TEST_F(SharedReadsOfALog, GiveEachReaderAllRecordsAndReadEachOnce) {
  SharedReads shared(log_);
  Position begin = 1;
  for (const Position upto : {Position{30}, Position{64}, Position{100}}) {
    EXPECT_EQ(walked(shared.reader(), begin, upto, 7), all(begin, upto));
    EXPECT_EQ(walked(shared.reader(), begin, upto, 10), all(begin, upto));
    EXPECT_EQ(walked(shared.reader(), begin, upto, 1'000), all(begin, upto));
    shared.forget_before(upto + 1);
    begin = upto + 1;
  }
  EXPECT_EQ(shared.read_from_log(), records_of_test);
}

TEST_F(SharedReadsOfALog, GoBackToTheLogForWhatWasForgotten) {
  SharedReads shared(log_);
  EXPECT_EQ(walked(shared.reader(), 1, 100, 10), all(1, 100));
  shared.forget_before(51);
  EXPECT_EQ(walked(shared.reader(), 1, 100, 10), all(1, 100));
  EXPECT_GT(shared.read_from_log(), records_of_test);
}

TEST_F(SharedReadsOfALog, AreReadFromAnywhereAndOnAsTheLogGrows) {
  SharedReads shared(log_);
  EXPECT_EQ(walked(shared.reader(), 90, 100, 100), all(90, 100));
  EXPECT_EQ(walked(shared.reader(), 40, 60, 10), all(40, 60));
  EXPECT_EQ(walked(shared.reader(), 1, 100, 15), all(1, 100));
  RecordBatch batch;
  ASSERT_TRUE(shared.read(101, {}, batch));
  EXPECT_TRUE(batch.empty());
  ASSERT_TRUE(log_.append(Records::run("a", 101, 5).list(), std::nullopt));
  EXPECT_EQ(walked(shared.reader(), 99, 105, 100), all(99, 105));
}

TEST_F(SharedReadsOfALog, TellEachReaderOfDamage) {
  log_.damage(50);
  SharedReads shared(log_);
  RecordBatch batch;
  for (int reader = 0; reader < 2; ++reader) {
    EXPECT_EQ(walked(shared.reader(), 1, 49, 10), all(1, 49));
    const auto damaged = shared.read(50, {}, batch);
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().kind, ErrorKind::corrupt);
  }
}

}  // namespace
}  // namespace hindsight::events
