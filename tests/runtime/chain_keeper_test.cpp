// The chain of a log is computed beside whoever writes it, and its heads are stored.

#include "runtime/chain_keeper.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/within_seconds.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::runtime {
namespace {

using events::Position;
using hindsight::test::Records;
using hindsight::test::within_seconds;

class ChainKeeperTest : public ::testing::Test {
 protected:
  [[nodiscard]] ChainKeeper::Options options(std::shared_ptr<const evidence::SigningKey> key = {}) {
    return {.release = "1.0",
            .key = std::move(key),
            .now = [] { return Time{1'795'788'000'000'000}; },
            .on_notice =
                [this](const std::string& text) {
                  const std::lock_guard lock(mutex_);
                  notices_.push_back(text);
                },
            .records = 100,
            .interval = std::chrono::seconds(3600),
            .look = std::chrono::milliseconds(2)};
  }
  [[nodiscard]] std::vector<std::string> notices() {
    const std::lock_guard lock(mutex_);
    return notices_;
  }
  [[nodiscard]] static std::vector<Position> positions(const events::Log& log) {
    std::vector<Position> out;
    const auto list = log.checkpoints();
    EXPECT_TRUE(list) << list.error().message;
    for (const auto& checkpoint : *list) out.push_back(checkpoint.position);
    return out;
  }
  static void expect_right(const events::Log& log) {
    const auto list = log.checkpoints().value();
    events::ChainWalk walk(log, events::chain_start(log).value());
    for (const auto& checkpoint : list) {
      ASSERT_TRUE(walk.to(checkpoint.position));
      EXPECT_EQ(walk.head(), checkpoint.head) << checkpoint.position;
    }
  }

  hindsight::test::TemporaryFolder folder_;
  std::mutex mutex_;
  std::vector<std::string> notices_;
};

TEST_F(ChainKeeperTest, StoresACheckpointAfterSoManyRecordsAndAtTheEnd) {
  events::MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 250).list(), 0));
  {
    const ChainKeeper keeper(log, options());
    EXPECT_TRUE(within_seconds(30, [&] { return positions(log) == std::vector<Position>{100, 200}; }));
    ASSERT_TRUE(log.append(Records::run("a", 251, 60).list(), 250));
    EXPECT_TRUE(within_seconds(30, [&] { return positions(log).size() == 3; }));
    ASSERT_TRUE(log.append(Records::run("a", 311, 5).list(), 310));
  }
  EXPECT_EQ(positions(log), (std::vector<Position>{100, 200, 300, 315}));
  expect_right(log);
  EXPECT_TRUE(notices().empty());
  EXPECT_FALSE(log.checkpoints()->front().is_signed());
}

// However long a log is written, its checkpoints do not pile up.
TEST_F(ChainKeeperTest, ForgetsOldCheckpointsThatProveNothingMore) {
  events::MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 1'500).list(), 0));
  auto often = options();
  often.records = 1;
  {
    const ChainKeeper keeper(log, often);
    EXPECT_TRUE(within_seconds(60, [&] {
      const auto all = positions(log);
      return !all.empty() && all.back() == 1'500;
    }));
  }
  const auto kept = positions(log);
  EXPECT_EQ(kept.front(), 1U);
  EXPECT_GE(kept.size(), 1'001U);
  EXPECT_LE(kept.size(), 1'102U);
  expect_right(log);
  EXPECT_TRUE(notices().empty());
}

TEST_F(ChainKeeperTest, StoresOneAfterSomeTimeIfThereWasAnyRecord) {
  events::MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 7).list(), 0));
  auto o = options();
  o.interval = std::chrono::seconds(0);
  const ChainKeeper keeper(log, std::move(o));
  EXPECT_TRUE(within_seconds(30, [&] { return positions(log) == std::vector<Position>{7}; }));
  ASSERT_TRUE(log.append(Records::run("a", 8, 1).list(), 7));
  EXPECT_TRUE(within_seconds(30, [&] { return positions(log) == std::vector<Position>{7, 8}; }));
}

TEST_F(ChainKeeperTest, AnEmptyLogGetsNone) {
  events::MemoryLog log;
  { const ChainKeeper keeper(log, options()); }
  EXPECT_TRUE(positions(log).empty());
  EXPECT_TRUE(notices().empty());
}

TEST_F(ChainKeeperTest, GoesOnWhereItsKeyHasSigned) {
  const auto key = std::make_shared<const evidence::SigningKey>(evidence::SigningKey::make().value());
  const auto log = events::SqliteLog::open(folder_.file("log.db"), {.durability = events::Durability::off}).value();
  ASSERT_TRUE(log->append(Records::run("a", 1, 150).list(), 0));
  { const ChainKeeper keeper(*log, options(key)); }
  EXPECT_EQ(positions(*log).back(), 150U);
  // Somebody without the key stores a head that is none: it is not believed.
  ASSERT_TRUE(log->append(Records::run("a", 151, 20).list(), 150));
  evidence::Checkpoint forged{.position = 170, .head = {0, 170, {}}, .time = Time{1}, .release = "1.0", .key = {}, .signature = {}};
  ASSERT_TRUE(log->put_checkpoint(forged, {}));
  ASSERT_TRUE(log->append(Records::run("a", 171, 30).list(), 170));
  { const ChainKeeper keeper(*log, options(key)); }
  const auto list = log->checkpoints().value();
  EXPECT_EQ(list.back().position, 200U);
  EXPECT_TRUE(key->public_key().verifies(list.back()));
  events::ChainWalk walk(*log, events::ChainStart{});
  ASSERT_TRUE(walk.to(200));
  EXPECT_EQ(list.back().head, walk.head());
}

TEST_F(ChainKeeperTest, ALogThatIsAwayIsWaitedFor) {
  events::MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 120).list(), 0));
  log.be_away(true);
  {
    const ChainKeeper keeper(log, options());
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    log.be_away(false);
    EXPECT_TRUE(within_seconds(30, [&] { return positions(log).size() == 1; }));
  }
  EXPECT_TRUE(notices().empty());
  EXPECT_EQ(positions(log), (std::vector<Position>{100, 120}));
}

TEST_F(ChainKeeperTest, DamageIsToldOnceAndWhatIsBeforeItIsCovered) {
  events::MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 300).list(), 0));
  log.damage(250);
  {
    const ChainKeeper keeper(log, options());
    EXPECT_TRUE(within_seconds(30, [&] { return !notices().empty(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  EXPECT_EQ(notices(), std::vector<std::string>{"no checkpoint of the log is stored: log memory: record 250 is damaged"});
  EXPECT_EQ(positions(log), (std::vector<Position>{100, 200}));
}

/// By a trim of somebody else, while it was behind.
TEST_F(ChainKeeperTest, GoesOnBehindACut) {
  const auto log = events::SqliteLog::open(folder_.file("log.db"), {.durability = events::Durability::off}).value();
  ASSERT_TRUE(log->append(Records::run("a", 1, 500).list(), 0));
  events::ChainWalk whole(*log, events::ChainStart{});
  ASSERT_TRUE(whole.to(500));
  ASSERT_TRUE(events::keep_head_at(*log, 320, Time{1}, "1.0", {}).value());
  ASSERT_TRUE(log->forget({320, {{"a", 320, 1, 320}}}));
  { const ChainKeeper keeper(*log, options()); }
  EXPECT_EQ(log->checkpoints()->back().head, whole.head());
  EXPECT_TRUE(notices().empty());
}

TEST_F(ChainKeeperTest, AKeyThatCannotBeReadIsToldByItsOption) {
  EXPECT_EQ(checkpoint_key("").value(), nullptr);
  const auto none = checkpoint_key(folder_.file("absent.pem"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::invalid);
  EXPECT_NE(none.error().message.find("--checkpoint-key: key " + folder_.file("absent.pem")), std::string::npos) << none.error().message;
}

}  // namespace
}  // namespace hindsight::runtime
