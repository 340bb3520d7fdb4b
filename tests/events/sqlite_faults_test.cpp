// What a disk or an operating system may do to the SQLite log while it is written: full, failing, read-only, and the death of the
// process. An acknowledged record is in the log afterwards, and the log is in order.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <random>

#include <csignal>
#include <latch>

#include "events/record.hpp"
#include "events/snapshot.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/faulty_vfs.hpp"
#include "tests/events/random_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {
namespace {

using events::Position;
using events::SnapshotMeta;
using events::SqliteLog;

/// Batches of real records of one domain whose content follows from their sequence.
events::RecordBatch batch_from(Position first, std::size_t n) {
  events::RecordBatch out;
  events::Encoder encoder;
  for (Position i = first; i < first + n; ++i) {
    RandomRecords random(i);
    RecordView record = random.record();
    record.envelope = {"domain", i, 1, Time{static_cast<std::int64_t>(i)}, 0};
    const auto bytes = encoder.encode(record);
    out.add({"domain", i, 1, record.envelope.time, bytes});
  }
  return out;
}

/// The log holds at least `at_least` records, all as batch_from makes them, and is in order.
Position expect_good(const std::string& path, Position at_least) {
  const auto log = SqliteLog::open(path, {.read_only = true});
  EXPECT_TRUE(log.has_value()) << log.error().message;
  if (!log) return 0;
  const auto report = (*log)->check();
  EXPECT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->findings.empty()) << report->findings[0].what;
  EXPECT_GE(report->last, at_least);
  EXPECT_EQ(report->records, report->last);
  events::RecordBatch batch;
  EXPECT_TRUE((*log)->read(report->last, {}, batch).has_value());
  if (report->last > 0 && !batch.empty()) {
    const auto expected = batch_from(report->last, 1);
    EXPECT_TRUE(std::ranges::equal(batch[0].bytes, expected[0].bytes));
  }
  return report->last;
}

/// A snapshot of several parts whose content follows from its hash.
SnapshotMeta snapshot_meta(std::uint64_t hash) { return {1, 1, Time{5}, events::snapshot_schema_version, hash, "0.1.0"}; }

std::vector<std::byte> snapshot_bytes(std::uint64_t hash) {
  std::vector<std::byte> state(700'000);
  std::mt19937_64 random(hash);  // or it would be compressed, and fill fewer parts
  for (auto& byte : state) byte = static_cast<std::byte>(random());
  const events::DomainState domain{"domain", 1, 1, hash, state};
  return events::encode_snapshot(snapshot_meta(hash), 1, std::span(&domain, 1));
}

/// The hash of the one snapshot in the log, which is whole; 0: there is none.
std::uint64_t expect_whole_snapshot(const events::Log& log) {
  const auto list = log.snapshots();
  EXPECT_TRUE(list.has_value());
  if (!list || list->empty()) return 0;
  EXPECT_EQ(list->size(), 1u);
  const std::uint64_t hash = list->front().state_hash;
  const auto stored = log.snapshot(1, "");
  EXPECT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_TRUE(stored && stored->meta == snapshot_meta(hash) && stored->bytes == snapshot_bytes(hash));
  return hash;
}

class SqliteFaults : public testing::Test {
 protected:
  std::unique_ptr<SqliteLog> open() {
    auto log = SqliteLog::open(path_);
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
};

TEST_F(SqliteFaults, a_full_disk_fails_the_append_and_the_log_goes_on_when_there_is_room_again) {
  FaultyDisk disk;
  Position last = 0;
  auto log = open();
  int struck = 0;
  for (int after = 0; after < 40; ++after) {
    disk.fail(DiskFault::full, after);
    const auto failed = log->append(batch_from(last + 1, 40).views(), last);
    disk.heal();
    if (failed) {
      last = *failed;
      continue;
    }
    ++struck;
    EXPECT_EQ(failed.error().kind, ErrorKind::unavailable);
    EXPECT_NE(failed.error().message.find("log " + path_ + ": database or disk is full"), std::string::npos) << failed.error().message;
    EXPECT_EQ(log->last().value(), last);
    const auto again = log->append(batch_from(last + 1, 40).views(), last);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    last = *again;
  }
  EXPECT_GT(struck, 5);
  log.reset();
  EXPECT_EQ(expect_good(path_, last), last);
}

TEST_F(SqliteFaults, a_full_disk_fails_a_snapshot_and_leaves_the_one_before) {
  FaultyDisk disk;
  auto log = open();
  Position last = log->append(batch_from(1, 5).views(), 0).value();
  std::uint64_t kept = 1;
  ASSERT_TRUE(log->put_snapshot(snapshot_meta(kept), snapshot_bytes(kept)).has_value());
  int struck = 0;
  for (int after = 0; after < 600; after += 35) {
    const std::uint64_t hash = kept + 1;
    disk.fail(DiskFault::full, after);
    const auto put = log->put_snapshot(snapshot_meta(hash), snapshot_bytes(hash));
    disk.heal();
    if (put) {
      kept = hash;
    } else {
      ++struck;
      EXPECT_EQ(put.error().kind, ErrorKind::unavailable);
      EXPECT_NE(put.error().message.find("log " + path_ + ": database or disk is full"), std::string::npos) << put.error().message;
    }
    EXPECT_EQ(expect_whole_snapshot(*log), kept);
    const auto appended = log->append(batch_from(last + 1, 5).views(), last);
    ASSERT_TRUE(appended.has_value()) << appended.error().message;
    last = *appended;
  }
  EXPECT_GT(struck, 5);
  // What could not be removed from the full disk goes with the next one.
  ASSERT_TRUE(log->put_snapshot(snapshot_meta(kept + 1), snapshot_bytes(kept + 1)).has_value());
  EXPECT_EQ(expect_whole_snapshot(*log), kept + 1);
  EXPECT_EQ(unclaimed_parts(path_), 0);
  log.reset();
  EXPECT_EQ(expect_good(path_, last), last);
}

// After a failed write or sync nobody knows what the disk holds: the log stops until it is opened again.
class SqliteBrokenDisk : public SqliteFaults, public testing::WithParamInterface<DiskFault> {};

TEST_P(SqliteBrokenDisk, stops_the_log_until_it_is_opened_again) {
  FaultyDisk disk;
  Position acknowledged = 0;
  int struck = 0;
  for (int after = 0; after < 60; after += 5) {
    auto log = open();
    ASSERT_NE(log, nullptr);
    const Position last = log->last().value();
    EXPECT_GE(last, acknowledged);
    disk.fail(GetParam(), after);
    Position next = last;
    Result<Position> outcome = next;
    for (int i = 0; i < 45 && outcome; ++i) {
      outcome = log->append(batch_from(next + 1, 20).views(), next);
      if (outcome) next = acknowledged = *outcome;
    }
    disk.heal();
    if (!outcome) {
      ++struck;
      EXPECT_EQ(outcome.error().kind, ErrorKind::io);
      EXPECT_TRUE(disk.struck());
      const auto later = log->append(batch_from(next + 1, 20).views(), {});
      ASSERT_FALSE(later.has_value());
      EXPECT_EQ(later.error().kind, ErrorKind::io);
      EXPECT_NE(later.error().message.find("has to be opened again"), std::string::npos) << later.error().message;
      EXPECT_EQ(log->put_snapshot({.position = 1}, {}).error().kind, ErrorKind::io);
      EXPECT_EQ(log->last().value(), next);
    }
  }
  EXPECT_GT(struck, 5);
  expect_good(path_, acknowledged);
}

TEST_P(SqliteBrokenDisk, leaves_a_whole_snapshot_or_the_one_before) {
  FaultyDisk disk;
  { ASSERT_TRUE(open()->append(batch_from(1, 5).views(), 0).has_value()); }
  const bool syncs = GetParam() == DiskFault::sync_error;
  std::uint64_t kept = 0;
  int struck = 0;
  for (int after = 0; after < (syncs ? 12 : 600); after += syncs ? 1 : 35) {
    {
      auto log = open();
      ASSERT_NE(log, nullptr);
      EXPECT_EQ(unclaimed_parts(path_), 0);
      disk.fail(GetParam(), after);
      const auto put = log->put_snapshot(snapshot_meta(kept + 1), snapshot_bytes(kept + 1));
      disk.heal();
      if (!put) {
        ++struck;
        EXPECT_EQ(put.error().kind, ErrorKind::io);
      }
    }
    const std::uint64_t found = expect_whole_snapshot(*SqliteLog::open(path_, {.read_only = true}).value());
    EXPECT_TRUE(found == kept || found == kept + 1) << found << " after " << kept;
    kept = found;
  }
  EXPECT_GT(struck, 1);
  expect_good(path_, 5);
}

INSTANTIATE_TEST_SUITE_P(Faults, SqliteBrokenDisk, testing::Values(DiskFault::write_error, DiskFault::sync_error));

TEST_F(SqliteFaults, a_limit_on_the_size_of_files_fails_the_append) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto log = SqliteLog::open(path_);
    if (!log) ::_exit(2);
    for (Position last = 0; last < 100'000;) {
      const auto next = (*log)->append(batch_from(last + 1, 50).views(), last);
      if (!next) ::_exit(next.error().kind == ErrorKind::io ? 0 : 3);
      last = *next;
    }
    ::_exit(4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GT(expect_good(path_, 50), 0u);
  auto log = open();
  const Position last = log->last().value();
  EXPECT_TRUE(log->append(batch_from(last + 1, 50).views(), last).has_value());
}

// ---- kill -9 --------------------------------------------------------------------------------------------------------------

/// Appends until it is killed, with several batches under way, and says into the pipe what was acknowledged.
[[noreturn]] void write_until_killed(const std::string& path, int pipe) {
  auto log = SqliteLog::open(path);
  if (!log) ::_exit(1);
  Position next = (*log)->last().value() + 1;
  std::counting_semaphore<8> room(8);
  for (;;) {
    room.acquire();
    auto batch = batch_from(next, 7);
    next += batch.size();
    (*log)->append_async(std::move(batch), {}, [&](Result<Position> position) {
      const Position acknowledged = position ? *position : 0;
      if (!position || ::write(pipe, &acknowledged, sizeof(acknowledged)) != sizeof(acknowledged)) ::_exit(1);
      room.release();
    });
  }
}

TEST_F(SqliteFaults, a_killed_writer_loses_nothing_that_was_acknowledged) {
  constexpr int rounds = 12;
  std::mt19937_64 random(9);
  Position acknowledged = 0;
  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      write_until_killed(path_, ends[1]);
    }
    ::close(ends[1]);
    // So many acknowledgements, then death at any point of the next ones.
    const auto wanted = 1 + random() % 60;
    Position position = 0;
    for (std::uint64_t i = 0; i < wanted && ::read(ends[0], &position, sizeof(position)) == sizeof(position); ++i) acknowledged = position;
    ::usleep(static_cast<useconds_t>(random() % 3000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (::read(ends[0], &position, sizeof(position)) == sizeof(position)) acknowledged = position;
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself in round " << round;
    expect_good(path_, acknowledged);
  }
  EXPECT_GT(acknowledged, 100u);
  const auto log = open();
  const Position last = log->last().value();
  EXPECT_TRUE(log->append(batch_from(last + 1, 5).views(), last).has_value());
}

/// Puts one snapshot after another until it is killed, and says into the pipe which one is there.
[[noreturn]] void put_snapshots_until_killed(const std::string& path, int pipe) {
  auto log = SqliteLog::open(path);
  if (!log) ::_exit(1);
  for (std::uint64_t hash = expect_whole_snapshot(**log) + 1;; ++hash) {
    const auto put = (*log)->put_snapshot(snapshot_meta(hash), snapshot_bytes(hash));
    if (!put || ::write(pipe, &hash, sizeof(hash)) != sizeof(hash)) ::_exit(1);
  }
}

TEST_F(SqliteFaults, a_killed_writer_leaves_a_whole_snapshot) {
  { ASSERT_TRUE(open()->append(batch_from(1, 5).views(), 0).has_value()); }
  std::mt19937_64 random(10);
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      put_snapshots_until_killed(path_, ends[1]);
    }
    ::close(ends[1]);
    std::uint64_t hash = 0;
    if (::read(ends[0], &hash, sizeof(hash)) == sizeof(hash)) acknowledged = hash;
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (::read(ends[0], &hash, sizeof(hash)) == sizeof(hash)) acknowledged = hash;
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself in round " << round;
    EXPECT_EQ(expect_good(path_, 5), 5u);
    const std::uint64_t found = expect_whole_snapshot(*SqliteLog::open(path_, {.read_only = true}).value());
    EXPECT_TRUE(found == acknowledged || found == acknowledged + 1) << found << " after " << acknowledged;
    const auto log = open();
    EXPECT_EQ(unclaimed_parts(path_), 0);
    EXPECT_EQ(expect_whole_snapshot(*log), found);
  }
  EXPECT_GT(acknowledged, 5u);
}

// ---- read-only media ------------------------------------------------------------------------------------------------------

/// Runs `body` as somebody who may not write to the folder; root may always write, so it becomes another user first.
template <class Body>
int as_a_stranger(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

TEST_F(SqliteFaults, a_log_in_a_folder_that_cannot_be_written_is_still_read) {
  { ASSERT_TRUE(open()->append(batch_from(1, 100).views(), 0).has_value()); }
  ::unlink((path_ + ".lock").c_str());
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_EQ(as_a_stranger([&] {
              const auto log = SqliteLog::open(path_, {.read_only = true});
              if (!log) return 1;
              events::RecordBatch batch;
              if (!(*log)->read(1, {}, batch) || batch.size() != 100) return 2;
              const auto report = (*log)->check();
              return report && report->findings.empty() && report->last == 100 ? 0 : 3;
            }),
            0);
  EXPECT_EQ(
      as_a_stranger([&] {
        const auto log = SqliteLog::open(path_);
        return !log && log.error().kind == ErrorKind::denied && log.error().message.find("Permission denied") != std::string::npos ? 0 : 1;
      }),
      0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

TEST_F(SqliteFaults, a_copy_with_an_unfinished_tail_in_such_a_folder_says_what_to_do) {
  auto log = open();
  ASSERT_TRUE(log->append(batch_from(1, 100).views(), 0).has_value());
  TemporaryFolder copy;
  const auto copied = copy.file("copy.db");
  std::filesystem::copy_file(path_, copied);
  std::filesystem::copy_file(path_ + "-wal", copied + "-wal");
  log.reset();
  ASSERT_EQ(::chmod(copied.c_str(), 0444), 0);
  ASSERT_EQ(::chmod((copied + "-wal").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(copy.path().c_str(), 0555), 0);
  EXPECT_EQ(as_a_stranger([&] {
              const auto opened = SqliteLog::open(copied, {.read_only = true});
              return !opened && opened.error().message.find("copy both to a folder that can be written") != std::string::npos ? 0 : 1;
            }),
            0);
  ASSERT_EQ(::chmod(copy.path().c_str(), 0755), 0);
  EXPECT_EQ(expect_good(copied, 100), 100u);  // here it can be written
}

}  // namespace
}  // namespace hindsight::test
