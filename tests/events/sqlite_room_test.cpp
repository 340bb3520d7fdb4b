// How large a log file may become, what happens when there is no more room, and that it gets smaller after a trim.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::events {
namespace {

using test::RawSqlite;
using test::Records;

constexpr std::size_t record_bytes = 10'000;

std::vector<EncodedRecord> large(Records& records, Position first, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    records.add("a", first + i, 1, static_cast<std::int64_t>(first + i), std::string(record_bytes, static_cast<char>('a' + i % 26)));
  return records.list();
}

Result<Position> append(SqliteLog& log, std::size_t n) {
  const Position last = log.last().value();
  Records records;
  return log.append(large(records, last + 1, n), last);
}

class SqliteRoom : public ::testing::Test {
 protected:
  std::unique_ptr<SqliteLog> open(std::uint64_t limit = 0) { return open(path_, limit); }
  static std::unique_ptr<SqliteLog> open(const std::string& path, std::uint64_t limit = 0) {
    auto log = SqliteLog::open(path, {.durability = Durability::off, .limit = limit});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }
  static DomainsAt cut(Position position) { return {position, {{"a", position, 1, position}}}; }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
};

TEST_F(SqliteRoom, ALimitRefusesRecordsUntilATrimHasMadeRoom) {
  constexpr std::uint64_t limit = std::uint64_t{4} << 20;
  const auto log = open(limit);
  Result<Position> last;
  for (int i = 0; i < 500 && (last = append(*log, 10)); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_FALSE(last.has_value()) << "it takes as much as anybody writes";
  EXPECT_EQ(last.error().kind, ErrorKind::unavailable);
  EXPECT_NE(last.error().message.find("log " + path_ + ": is full: "), std::string::npos) << last.error().message;
  EXPECT_NE(last.error().message.find("of at most 4.0 MiB used"), std::string::npos) << last.error().message;
  const auto space = log->space().value().value();
  EXPECT_TRUE(space.full());
  EXPECT_LT(space.used, 2 * limit) << "it looked too late";
  EXPECT_EQ(space.limit, limit);
  const Position end = log->last().value();
  EXPECT_FALSE(append(*log, 1)) << "it is full once and for all, not now and then";

  // What makes it smaller is not refused.
  ASSERT_TRUE(log->put_snapshot({.position = end - 1, .domain = "a"}, std::vector<std::byte>(300'000)));
  ASSERT_TRUE(log->forget(cut(end - 1)));
  EXPECT_FALSE(log->space().value()->full());
  EXPECT_EQ(append(*log, 5).value(), end + 5);
}

TEST_F(SqliteRoom, AnAlarmComesBeforeItIsFull) {
  LogSpace space{.used = 79, .limit = 100};
  EXPECT_FALSE(space.nearly_full());
  space.used = 80;
  EXPECT_TRUE(space.nearly_full());
  EXPECT_FALSE(space.full());
  space.used = 100;
  EXPECT_TRUE(space.full());
  space = {.used = 1, .disk = 1'600, .disk_free = 400, .disk_reserve = 100};
  EXPECT_FALSE(space.nearly_full());
  space.disk_free = 399;
  EXPECT_TRUE(space.nearly_full());
  EXPECT_FALSE(space.full());
  space.disk_free = 99;
  EXPECT_TRUE(space.full());
}

// Somebody looks into the file with a tool of his own and goes for lunch. Nothing fails; what grows is told, with its cause, once it is
// beyond what a log has otherwise (issue 14: a hostile machine).
TEST_F(SqliteRoom, AReaderWhoHoldsOnMakesTheWriteAheadLogGrow) {
  const auto log = open();
  ASSERT_TRUE(append(*log, 10));
  {
    RawSqlite reader(path_);
    reader.run("BEGIN");
    EXPECT_EQ(reader.integer("SELECT count(*) FROM records"), 10);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*log, 400));
    EXPECT_GT(log->space().value().value().write_ahead, std::uint64_t{32} << 20) << "what 16 MiB would have been moved at";
    EXPECT_EQ(reader.integer("SELECT count(*) FROM records"), 10);
  }
  EXPECT_EQ(log->last().value(), 4'010U);
  LogSpace space = log->space().value().value();
  EXPECT_EQ(space.text().find("write-ahead"), std::string::npos) << space.text();
  space.write_ahead = LogSpace::write_ahead_expected + 1;
  EXPECT_NE(space.text().find("; 256.0 MiB stand in the write-ahead log, which grows while another process keeps a read transaction open"),
            std::string::npos)
      << space.text();
}

TEST_F(SqliteRoom, AFileGetsSmallerAfterATrimWhileRecordsAreAppended) {
  auto log = open();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(append(*log, 100));  // 40 MB
  const Position end = log->last().value();
  log.reset();
  const auto before = std::filesystem::file_size(path_);
  ASSERT_GT(before, 40'000'000U);
  log = open();
  ASSERT_TRUE(log->forget(cut(end - 10)));
  std::atomic<bool> done = false;
  std::size_t between = 0;
  constexpr std::size_t records_max = 500;  // 5 MB: the file holds them, too, and is to be small in spite of them
  std::thread writer([&] {
    for (; !done && between < records_max; ++between)
      if (!append(*log, 1)) return;
  });
  while (log->last().value() < end + 3) std::this_thread::yield();
  ASSERT_TRUE(log->give_back());
  done = true;
  writer.join();
  EXPECT_GT(between, 3U);
  EXPECT_EQ(log->last().value(), end + between);
  log.reset();
  EXPECT_LT(std::filesystem::file_size(path_), before / 3);
  log = open();
  const auto report = log->check();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->records, 10 + between);
  for (const auto& f : report->findings) EXPECT_EQ(f.what.find("record"), 0U) << f.what;  // made-up bytes do not decode
}

// A file of an earlier release keeps its pages, until its operator has it converted as docs/operations.md says.
TEST_F(SqliteRoom, AnOlderFileKeepsItsPagesUntilItIsConverted) {
  auto log = open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*log, 100));
  const Position end = log->last().value();
  log.reset();
  test::sql(path_, "PRAGMA auto_vacuum = NONE; VACUUM;");
  log = open();
  ASSERT_TRUE(log->forget(cut(end - 10)));
  ASSERT_TRUE(log->give_back());
  log.reset();
  EXPECT_GT(std::filesystem::file_size(path_), 9'000'000U);
  test::sql(path_, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM;");  // the sentence of docs/operations.md
  EXPECT_LT(std::filesystem::file_size(path_), 1'000'000U);
  log = open();
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(append(*log, 100));
  ASSERT_TRUE(log->forget(cut(log->last().value() - 10)));
  ASSERT_TRUE(log->give_back());
  log.reset();
  EXPECT_LT(std::filesystem::file_size(path_), 6'000'000U);
}

// ---- a small disk ---------------------------------------------------------------------------------------------------------------------

/// A file system of 32 MiB in memory, which root alone may mount.
class SmallDisk : public SqliteRoom {
 protected:
  void SetUp() override {
    disk_ = folder_.file("disk");
    std::filesystem::create_directory(disk_);
    if (::mount("none", disk_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=32m") != 0)
      GTEST_SKIP() << "a file system cannot be mounted here (" << std::strerror(errno)
                   << "): run it as root, as continuous integration does";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }
  /// A file that takes all the room, but for so many bytes.
  void fill(std::uint64_t but) {
    const int file = ::open((disk_ + "/ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const auto room = std::filesystem::space(disk_).available;
    if (room > but) {
      EXPECT_EQ(::posix_fallocate(file, 0, static_cast<off_t>(std::filesystem::file_size(disk_ + "/ballast") + room - but)), 0);
    }
    ::close(file);
  }
  void empty() { std::filesystem::remove(disk_ + "/ballast"); }

  std::string disk_;
  bool mounted_ = false;
};

TEST_F(SmallDisk, RecordsLeaveRoomForATrim) {
  const auto log = open(disk_ + "/log.db");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(append(*log, 400));
    // What stands beside the file is moved into it by that; on a disk of usual size the reserve is larger than all that stands there.
    ASSERT_TRUE(log->put_snapshot({.position = log->last().value(), .domain = "a"}, std::vector<std::byte>(1'000)));
  }
  const Position end = log->last().value();
  fill(1 << 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it looked a moment ago, when there was room
  const auto refused = append(*log, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_NE(refused.error().message.find("where 2.0 MiB are kept for a trim"), std::string::npos) << refused.error().message;
  const auto kept = log->put_snapshot({.position = end - 1, .domain = "a"}, std::vector<std::byte>(300'000));
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_TRUE(log->forget(cut(end - 1)));
  ASSERT_TRUE(log->give_back());
  EXPECT_GT(std::filesystem::space(disk_).available, 2U << 20) << "12 MB of records have gone";
  EXPECT_EQ(append(*log, 1).value(), end + 1);
}

// Somebody else may take the last byte: then every write fails, and nothing is lost by it.
TEST_F(SmallDisk, ADiskWithoutAByteFailsEverythingAndLosesNothing) {
  auto log = open(disk_ + "/log.db");
  ASSERT_TRUE(append(*log, 300));
  const Position end = log->last().value();
  for (int round = 0; round < 3; ++round) {
    fill(0);
    EXPECT_FALSE(append(*log, 1));
    // A snapshot and a trim have no use for the reserve: there is none. The log stays what it is.
    EXPECT_FALSE(log->put_snapshot({.position = end, .domain = "a"}, std::vector<std::byte>(8 << 20)));
    EXPECT_EQ(log->last().value(), end + static_cast<Position>(round));
    EXPECT_TRUE(log->snapshots()->empty());
    log.reset();  // its end checkpoints, or leaves that to the next start
    auto again = SqliteLog::open(disk_ + "/log.db", {.durability = Durability::off});
    empty();
    if (!again) {
      EXPECT_EQ(again.error().kind, ErrorKind::unavailable) << again.error().message;
      again = SqliteLog::open(disk_ + "/log.db", {.durability = Durability::off});
    }
    ASSERT_TRUE(again) << again.error().message;
    log = std::move(*again);
    EXPECT_EQ(append(*log, 1).value(), end + static_cast<Position>(round) + 1);
    const auto report = log->check();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->records, end + static_cast<Position>(round) + 1);
    for (const auto& f : report->findings) EXPECT_EQ(f.what.find("record"), 0U) << f.what;
  }
}

// ENOSPC at every stage of a trim: it is done, or can be done again, and what it forgets it forgets whole.
TEST_F(SmallDisk, ATrimThatRunsOutOfRoomCanBeDoneAgain) {
  int interrupted = 0;
  for (std::uint64_t but = 0; but < 900'000; but += 60'000) {
    const std::string file = disk_ + "/log-" + std::to_string(but) + ".db";
    auto log = open(file);
    ASSERT_TRUE(append(*log, 400));
    const Position end = log->last().value();
    fill(but);
    const auto trim = [&]() -> Result<void> {
      if (auto ok = log->put_snapshot({.position = end - 5, .domain = "a"}, std::vector<std::byte>(200'000)); !ok) return ok;
      if (auto ok = log->forget(cut(end - 5)); !ok) return ok;
      return log->give_back();
    };
    const auto first = trim();
    if (!first) {
      ++interrupted;
      EXPECT_EQ(first.error().kind, ErrorKind::unavailable) << first.error().message;
    }
    empty();
    if (!first) {
      const auto cut_already = log->trimmed().value().has_value();
      if (!cut_already) {
        ASSERT_TRUE(trim());
      }
      log.reset();
      log = open(file);
    }
    EXPECT_EQ(log->first().value(), end - 4);
    EXPECT_EQ(log->append(Records().add("a", end + 1, 1, 1'000'000).list(), end).value(), end + 1);
    const auto report = log->check();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->records, 6U) << but;
    log.reset();
    std::filesystem::remove(file);
  }
  EXPECT_GT(interrupted, 0);
}

}  // namespace
}  // namespace hindsight::events
