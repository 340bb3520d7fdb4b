// How far behind its log a reader is: what /metrics tells as hindsight_log_behind_seconds, on which the alert HindsightLogBehind stands.

#include "actors/tail.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "events/memory_log.hpp"
#include "events/record.hpp"

namespace hindsight::actors::testing {
namespace {

using std::chrono::milliseconds;

class TailTest : public ::testing::Test {
 protected:
  TailTest() : tail(log, [](const Error& error) { FAIL() << error.message; }) {}
  ~TailTest() override { tail.stop(); }

  void append() {
    RecordView record;
    record.envelope.domain = "default";
    record.envelope.sequence = ++sequence;
    record.envelope.epoch = 1;
    record.envelope.time = Time::from_seconds(1);
    record.body = EpochStarted{};
    events::Encoder encoder;
    const events::EncodedRecord encoded{"default", sequence, 1, record.envelope.time, encoder.encode(record)};
    ASSERT_TRUE(log.append({&encoded, 1}, std::nullopt));
  }
  void follow() {
    tail.follow(0, [this](const std::shared_ptr<const RecordsRead>&) { ++batches; });
  }
  /// Within ten seconds, as it is looked at again and again.
  static bool soon(const std::function<bool()>& look) {
    for (int i = 0; i < 10'000; ++i) {
      if (look()) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

  std::uint64_t sequence = 0;
  events::MemoryLog log;
  std::atomic<int> batches = 0;
  Tail tail;
};

TEST_F(TailTest, IsNotBehindAtTheEndOfTheLog) {
  follow();
  std::this_thread::sleep_for(milliseconds(700));
  EXPECT_TRUE(soon([&] { return tail.behind() < Duration::millis(500); }));
}

TEST_F(TailTest, IsBehindUntilWhatItReadIsTaken) {
  append();
  follow();
  ASSERT_TRUE(soon([&] { return batches == 1; }));
  std::this_thread::sleep_for(milliseconds(700));
  EXPECT_GT(tail.behind(), Duration::millis(600)) << "the batch was handed over, and nobody has worked on it";
  tail.taken();
  EXPECT_TRUE(soon([&] { return tail.behind() < Duration::millis(500); }));
}

TEST_F(TailTest, IsBehindBeforeItBegins) {
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_GT(tail.behind(), Duration::millis(200));
}

}  // namespace
}  // namespace hindsight::actors::testing
