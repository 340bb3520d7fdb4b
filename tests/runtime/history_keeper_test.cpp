// History that is kept for as long as one wants, beside whoever writes it.

#include "runtime/history_keeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "tests/cli/within_seconds.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::runtime {
namespace {

using hindsight::test::within_seconds;
using hindsight::testing::LogWorld;

class HistoryKeeperTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<events::Log> open(bool read_only = false) const {
    auto log = events::SqliteLog::open(path_, {.read_only = read_only, .durability = events::Durability::off});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }
  [[nodiscard]] HistoryKeeper::Options keep(Duration keep) {
    return {.keep = keep,
            .release = "1.0",
            .on_notice =
                [this](const std::string& text) {
                  const std::lock_guard lock(mutex_);
                  notices_.push_back(text);
                },
            .look = std::chrono::milliseconds(5)};
  }
  [[nodiscard]] std::vector<std::string> notices() {
    const std::lock_guard lock(mutex_);
    return notices_;
  }

  hindsight::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
  std::mutex mutex_;
  std::vector<std::string> notices_;
};

TEST_F(HistoryKeeperTest, ForgetsWhatIsOlderWhileRecordsCome) {
  const auto log = open();
  LogWorld w(*log, "prod");
  w.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
  w.flush();
  const auto begin = log->last().value();
  {
    const HistoryKeeper keeper(*log, keep(Duration::seconds(60)));
    for (int i = 0; i < 30; ++i) {
      w.submit({.name = "w" + std::to_string(i)});
      w.settle();
      w.confirm();
      w.tick(Duration::seconds(10));
      w.flush();
    }
    ASSERT_TRUE(within_seconds(60, [&] { return log->first().value() > begin + 1; })) << "nothing is forgotten";
  }
  const auto first = log->first().value();
  events::RecordBatch batch;
  ASSERT_TRUE(log->read(first, {.records = 1}, batch));
  EXPECT_GT(batch[0].time, w.now - Duration::seconds(400));
  replay::Past past(*log, "prod");
  ASSERT_TRUE(past.go_to(log->last().value()));
  EXPECT_EQ(past.driver().entities().state_hash(), w.driver().entities().state_hash());
  ASSERT_FALSE(notices().empty());
  EXPECT_EQ(notices().front().find("history before record "), 0U) << notices().front();
}

TEST_F(HistoryKeeperTest, FinishesATrimThatFailedHalfWay) {
  auto log = open();
  LogWorld w(*log, "prod");
  w.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
  for (int i = 0; i < 10; ++i) {
    w.submit({.name = "w" + std::to_string(i)});
    w.settle();
    w.confirm();
    w.tick(Duration::seconds(10));
  }
  w.flush();
  {
    const HistoryKeeper keeper(*log, keep(Duration::seconds(40)));
    ASSERT_TRUE(within_seconds(60, [&] { return log->first().value() > 1; }));
  }
  const auto first = log->first().value();
  // The cut is noted, and the records before it are still there.
  hindsight::test::RawSqlite raw(path_);
  raw.run("INSERT INTO records SELECT offset - " + std::to_string(first) +
          " + 1, domain, sequence, epoch, time_us, checksum, body FROM records WHERE offset = " + std::to_string(first));
  ASSERT_EQ(raw.integer("SELECT min(offset) FROM records"), 1);
  const HistoryKeeper keeper(*log, keep(Duration::seconds(1'000'000)));
  EXPECT_TRUE(within_seconds(60, [&] { return raw.integer("SELECT min(offset) FROM records") >= static_cast<std::int64_t>(first); }));
  EXPECT_EQ(log->first().value(), first);
}

TEST_F(HistoryKeeperTest, LeavesWhatIsYoungEnough) {
  const auto log = open();
  LogWorld w(*log, "prod");
  w.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
  w.flush();
  const HistoryKeeper keeper(*log, keep(Duration::seconds(86'400)));
  for (int hour = 0; hour < 23; ++hour) {
    w.tick(Duration::seconds(3600));
    w.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // it looks every 5 ms
  }
  EXPECT_EQ(log->first().value(), 1U);
  EXPECT_TRUE(notices().empty());
  w.tick(Duration::seconds(2 * 3600));
  w.flush();
  EXPECT_TRUE(within_seconds(60, [&] { return log->first().value() > 1; })) << "it had looked all the time";
}

// Both the last record and the clock must say that something is old: a record of a clock that was ahead makes nothing old.
TEST_F(HistoryKeeperTest, LeavesWhatTheClockCallsYoung) {
  const auto log = open();
  LogWorld w(*log, "prod");
  w.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
  w.flush();
  const Time begun = w.now;
  w.tick(Duration::seconds(365 * 86'400));
  w.flush();
  std::atomic<int> looks = 0;
  auto options = keep(Duration::seconds(86'400));
  options.now = [&] {
    ++looks;
    return begun + Duration::seconds(3600);
  };
  const HistoryKeeper keeper(*log, options);
  ASSERT_TRUE(within_seconds(60, [&] { return looks >= 3; }));
  EXPECT_EQ(log->first().value(), 1U);
  EXPECT_TRUE(notices().empty());
}

TEST_F(HistoryKeeperTest, SaysOnceWhyItCannot) {
  {
    const auto log = open();
    LogWorld w(*log, "prod");
    w.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
    w.tick(Duration::seconds(600));
    w.flush();
  }
  const auto log = open(true);
  const HistoryKeeper keeper(*log, keep(Duration::seconds(60)));
  ASSERT_TRUE(within_seconds(60, [&] { return !notices().empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(notices().size(), 1U);
  EXPECT_NE(notices()[0].find("old history is not forgotten: log " + path_ + ": was opened read-only"), std::string::npos) << notices()[0];
}

}  // namespace
}  // namespace hindsight::runtime
