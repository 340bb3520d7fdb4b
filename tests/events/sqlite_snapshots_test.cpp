// Snapshots in the SQLite log: written and read in parts between which others have their turns, whole or not there at all, and
// taken over from files of older formats.

#include <gtest/gtest.h>

#include <random>

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "events/checksum.hpp"
#include "events/snapshot.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {
namespace {

using events::SnapshotMeta;
using events::SqliteLog;
using Bytes = std::vector<std::byte>;

constexpr events::SqliteLogOptions read_only{.read_only = true};

std::unique_ptr<SqliteLog> open(const std::string& path, events::SqliteLogOptions options = {}) {
  auto log = SqliteLog::open(path, options);
  EXPECT_TRUE(log.has_value()) << log.error().message;
  return log ? std::move(*log) : nullptr;
}

/// Some bytes that differ from place to place and from seed to seed.
Bytes some_bytes(std::size_t size, std::uint64_t seed) {
  // What can be compressed would be, and fill fewer parts.
  Bytes out(size);
  std::mt19937_64 random(seed);
  for (auto& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

/// More than four parts, and not a whole number of them.
constexpr std::size_t several_parts = (std::size_t{1} << 20) + 12'345;

SnapshotMeta meta_of(events::Position position, std::uint64_t hash, const std::string& domain = "") {
  return {position, 1, Time{100}, events::snapshot_schema_version, hash, "0.1.0", domain};
}

ErrorKind kind_of(const Result<events::StoredSnapshot>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorKind::invalid : result.error().kind;
}

class SqliteSnapshots : public testing::Test {
 protected:
  static void expect_snapshot(const events::Log& log, const SnapshotMeta& meta, const Bytes& bytes) {
    const auto stored = log.snapshot(meta.position, meta.domain);
    ASSERT_TRUE(stored.has_value()) << stored.error().message;
    EXPECT_EQ(stored->meta, meta);
    EXPECT_TRUE(stored->bytes == bytes);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
};

// ---- turns ----------------------------------------------------------------------------------------------------------------

TEST(Turns, go_to_who_asked_first) {
  events::sqlite::Turns turns;
  std::vector<int> order;
  std::vector<std::jthread> threads;
  turns.lock();
  for (int i = 1; i <= 3; ++i) {
    threads.emplace_back([&, i] {
      const std::lock_guard turn(turns);
      order.push_back(i);
    });
    while (turns.present() != static_cast<std::uint64_t>(i) + 1) std::this_thread::yield();
  }
  turns.unlock();
  turns.lock();  // at once, but behind those that wait
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  turns.unlock();
}

TEST_F(SqliteSnapshots, let_appends_and_reads_through_between_their_parts) {
  const auto log = open(path_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 1).list(), 0).has_value());
  const Bytes bytes = some_bytes(several_parts, 1);
  events::Position last = 1;
  log->on_part([&] {
    const auto appended = log->append(Records::run("a", last + 1, 1).list(), last);
    ASSERT_TRUE(appended.has_value()) << appended.error().message;
    last = *appended;
    EXPECT_EQ(read_all(*log).size(), last);
    EXPECT_TRUE(log->snapshots().value().empty());  // it counts when it is whole
  });
  ASSERT_TRUE(log->put_snapshot(meta_of(1, 1), bytes).has_value());
  const auto parts = static_cast<events::Position>(RawSqlite(path_).integer("SELECT count(*) FROM snapshot_parts"));
  EXPECT_EQ(parts, 5u);
  EXPECT_EQ(last, parts);

  log->on_part([&] {
    ASSERT_TRUE(log->append(Records::run("a", last + 1, 1).list(), last).has_value());
    EXPECT_EQ(read_all(*log).size(), ++last);
  });
  expect_snapshot(*log, meta_of(1, 1), bytes);
  EXPECT_EQ(last, 2 * parts - 1);
}

TEST_F(SqliteSnapshots, of_several_domains_are_put_read_and_dropped_beside_appends) {
  const auto log = open(path_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 20).list(), 0).has_value());
  std::atomic<int> putting = 2;
  std::vector<std::jthread> threads;
  for (const std::string domain : {"one", "two"}) {
    threads.emplace_back([&, domain] {
      for (std::uint64_t i = 1; i <= 10; ++i) {
        EXPECT_TRUE(log->put_snapshot(meta_of(i, i, domain), some_bytes(600'000, i)).has_value());
        EXPECT_TRUE(log->drop_snapshot(i - 1, domain).has_value());
      }
      --putting;
    });
  }
  threads.emplace_back([&] {
    while (putting > 0) {
      const auto list = log->snapshots();
      ASSERT_TRUE(list.has_value());
      for (const auto& meta : *list) {
        const auto stored = log->snapshot(meta.position, meta.domain);
        if (stored) {
          EXPECT_TRUE(stored->bytes == some_bytes(600'000, meta.state_hash));
        } else {
          EXPECT_EQ(stored.error().kind, ErrorKind::not_found) << stored.error().message;
        }
      }
    }
  });
  for (std::uint64_t next = 21; putting > 0; ++next) ASSERT_TRUE(log->append(Records::run("a", next, 1).list(), next - 1).has_value());
  threads.clear();
  EXPECT_EQ(log->snapshots().value(), (std::vector{meta_of(10, 10, "one"), meta_of(10, 10, "two")}));
  EXPECT_EQ(unclaimed_parts(path_), 0);
}

// ---- whole or not there ---------------------------------------------------------------------------------------------------

// The files as they are between two parts are what the death of the process would leave.
TEST_F(SqliteSnapshots, that_are_half_written_when_the_process_dies_leave_what_was_there_before) {
  const auto log = open(path_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 9).list(), 0).has_value());
  const Bytes before = some_bytes(several_parts, 1);
  ASSERT_TRUE(log->put_snapshot(meta_of(4, 1), before).has_value());
  int deaths = 0;
  log->on_part([&] {
    ++deaths;
    TemporaryFolder left;
    const auto copy = left.file("log.db");
    std::filesystem::copy_file(path_, copy);
    std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
    EXPECT_GT(unclaimed_parts(copy), 0);
    const auto reader = open(copy, read_only);
    EXPECT_EQ(reader->snapshots().value(), std::vector{meta_of(4, 1)});
    expect_snapshot(*reader, meta_of(4, 1), before);
    const auto next = open(copy);
    EXPECT_EQ(unclaimed_parts(copy), 0);
    EXPECT_EQ(next->snapshots().value(), std::vector{meta_of(4, 1)});
    expect_snapshot(*next, meta_of(4, 1), before);
  });
  const Bytes after = some_bytes(several_parts, 2);
  ASSERT_TRUE(log->put_snapshot(meta_of(4, 2), after).has_value());
  EXPECT_EQ(deaths, 4);
  log->on_part({});
  expect_snapshot(*log, meta_of(4, 2), after);
  EXPECT_EQ(unclaimed_parts(path_), 0);
}

TEST_F(SqliteSnapshots, that_nobody_finished_are_removed_by_the_next_put_and_the_next_opening) {
  const std::string unfinished = "INSERT INTO snapshot_parts (body) VALUES (zeroblob(300000)), (zeroblob(300000)), (x'00')";
  const Bytes bytes = some_bytes(several_parts, 1);
  {
    const auto log = open(path_);
    ASSERT_TRUE(log->append(Records::run("a", 1, 9).list(), 0).has_value());
    sql(path_, unfinished);
    ASSERT_TRUE(log->put_snapshot(meta_of(1, 1), bytes).has_value());
    EXPECT_EQ(unclaimed_parts(path_), 0);
    sql(path_, unfinished);
    ASSERT_TRUE(log->put_snapshot(meta_of(2, 2), bytes).has_value());
    ASSERT_TRUE(log->put_snapshot(meta_of(3, 3), bytes).has_value());
    ASSERT_TRUE(log->drop_snapshot(2, "").has_value());
    EXPECT_EQ(unclaimed_parts(path_), 0);
  }
  sql(path_, unfinished);
  EXPECT_EQ(unclaimed_parts(path_), 3);
  const auto log = open(path_);
  EXPECT_EQ(unclaimed_parts(path_), 0);
  EXPECT_EQ(RawSqlite(path_).integer("SELECT count(*) FROM snapshot_parts"), 10);
  for (const std::uint64_t i : {1, 3}) expect_snapshot(*log, meta_of(i, i), bytes);
}

TEST_F(SqliteSnapshots, that_are_dropped_or_replaced_while_they_are_read_are_not_found) {
  const auto log = open(path_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 9).list(), 0).has_value());
  const auto reader = open(path_, read_only);  // as in another process
  const Bytes first = some_bytes(several_parts, 1);
  const Bytes second = some_bytes(several_parts, 2);
  for (SqliteLog* reads : {reader.get(), log.get()}) {
    for (const int part : {1, 4}) {
      const auto read_during = [&](const std::function<void()>& event) {
        EXPECT_TRUE(log->put_snapshot(meta_of(4, 1), first).has_value());
        int parts = 0;
        reads->on_part([&] {
          if (++parts == part) event();
        });
        const auto stored = reads->snapshot(4, "");
        reads->on_part({});
        return kind_of(stored);
      };
      EXPECT_EQ(read_during([&] { EXPECT_TRUE(log->drop_snapshot(4, "").has_value()); }), ErrorKind::not_found);
      EXPECT_TRUE(log->snapshots().value().empty());
      EXPECT_EQ(read_during([&] { EXPECT_TRUE(log->put_snapshot(meta_of(4, 2), second).has_value()); }), ErrorKind::not_found);
      expect_snapshot(*reads, meta_of(4, 2), second);
    }
  }
}

// ---- damage ---------------------------------------------------------------------------------------------------------------

TEST_F(SqliteSnapshots, whose_parts_are_damaged_or_lost_are_found_by_a_check) {
  {
    const auto log = open(path_);
    const Bytes state = some_bytes(several_parts, 3);
    const events::DomainState domain{"a", 1, 1, 7, state};
    EXPECT_TRUE(log->append(Records().add("a", 1).list(), 0).has_value());
    for (const std::uint64_t hash : {1, 2}) {
      const auto meta = meta_of(1, hash, hash == 1 ? "" : "a");
      ASSERT_TRUE(log->put_snapshot(meta, events::encode_snapshot(meta, 1, std::span(&domain, 1))).has_value());
    }
  }
  const auto findings = [&] {
    const auto report = open(path_, read_only)->check();
    EXPECT_TRUE(report.has_value()) << report.error().message;
    std::vector<std::string> out;
    for (const auto& finding : report->findings)
      if (finding.what.find("snapshot") != std::string::npos) out.push_back(finding.what);
    return out;
  };
  const std::string damaged = "log " + path_ + ": snapshot at position 1 is damaged: ";
  EXPECT_EQ(findings(), std::vector<std::string>{});
  sql(path_, "INSERT INTO snapshot_parts (body) VALUES (x'00')");
  EXPECT_EQ(findings(), std::vector<std::string>{});  // of nobody, and in nobody's way
  sql(path_, "UPDATE snapshot_parts SET body = zeroblob(length(body)) WHERE id = 2");
  EXPECT_EQ(findings(), std::vector<std::string>{damaged + "its checksum does not match"});
  sql(path_, "DELETE FROM snapshot_parts WHERE id = 8");
  EXPECT_EQ(findings(), (std::vector<std::string>{damaged + "its checksum does not match", damaged + "part 3 of 5 is missing"}));
  sql(path_, "UPDATE snapshots SET parts = -1, first_part = 9223372036854775807 WHERE domain = 'a'");
  EXPECT_EQ(findings().size(), 2u);

  // All the same it is written, also in place of them.
  const auto log = open(path_);
  EXPECT_EQ(kind_of(log->snapshot(1, "a")), ErrorKind::corrupt);
  for (const std::string domain : {"", "a"}) {
    ASSERT_TRUE(log->put_snapshot(meta_of(1, 5, domain), some_bytes(several_parts, 5)).has_value());
    expect_snapshot(*log, meta_of(1, 5, domain), some_bytes(several_parts, 5));
  }
  EXPECT_EQ(unclaimed_parts(path_), 0);
}

// ---- older formats --------------------------------------------------------------------------------------------------------

class SqliteOlderFormat : public SqliteSnapshots {
 protected:
  struct Kept {
    SnapshotMeta meta;
    Bytes bytes;
  };

  /// A table of snapshots as format 1 or 2 had it.
  static void create_snapshots(RawSqlite& database, const std::string& name, int format, const std::vector<Kept>& snapshots) {
    const std::string columns =
        ", epoch INTEGER NOT NULL, time_us INTEGER NOT NULL, schema_version INTEGER NOT NULL, state_hash INTEGER NOT NULL, "
        "release TEXT NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL";
    database.run("CREATE TABLE " + name +
                 (format == 1 ? " (position INTEGER PRIMARY KEY" + columns
                              : " (position INTEGER NOT NULL" + columns + ", domain TEXT NOT NULL, PRIMARY KEY (position, domain)") +
                 ") STRICT");
    for (const auto& [meta, bytes] : snapshots) {
      std::string values;
      for (const std::int64_t number : {static_cast<std::int64_t>(meta.position), static_cast<std::int64_t>(meta.epoch), meta.time.micros,
                                        static_cast<std::int64_t>(meta.schema_version), static_cast<std::int64_t>(meta.state_hash)})
        values += std::to_string(number) + ", ";
      values += "'" + meta.release + "', " + std::to_string(static_cast<std::int64_t>(events::checksum(meta, bytes))) + ", ?1";
      database.run("INSERT INTO " + name + " VALUES (" + values + (format == 1 ? ")" : ", '" + meta.domain + "')"), {bytes});
    }
  }

  /// A file of that format, of three records, as an older build wrote it.
  void write(int format, const std::vector<Kept>& snapshots) {
    const std::string today = folder_.file("today.db");
    ASSERT_TRUE(open(today)->append(Records::run("a", 1, 3).list(), 0).has_value());
    RawSqlite database(path_);
    const auto definitions =
        RawSqlite(today).column("SELECT sql FROM sqlite_schema WHERE name IN ('domains', 'records', 'time_marks', 'log')");
    ASSERT_EQ(definitions.size(), 4u);
    for (const auto& definition : definitions) database.run(definition);
    database.run("ATTACH '" + today + "' AS today");
    for (const std::string table : {"domains", "records", "time_marks"})
      database.run("INSERT INTO main." + table + " SELECT * FROM today." + table);
    database.run("DETACH today");
    create_snapshots(database, "snapshots", format, snapshots);
    database.run("PRAGMA application_id = 1213418567; PRAGMA user_version = " + std::to_string(format));
  }

  [[nodiscard]] std::vector<std::string> tables() const {
    return RawSqlite(path_).column("SELECT name FROM sqlite_schema WHERE name LIKE 'snapshot%' ORDER BY name");
  }
  const std::vector<std::string> tables_of_today_{"snapshot_parts", "snapshots"};
};

TEST_F(SqliteOlderFormat, number_two_is_read_as_it_is_and_brought_up_to_date_by_a_writer) {
  const Kept oldest{meta_of(1, 1, "prod/b"), some_bytes(several_parts, 1)};
  const Kept good{meta_of(2, 2, "prod/b"), some_bytes(several_parts, 2)};
  const Kept damaged{meta_of(3, 3, "prod/b"), some_bytes(several_parts, 3)};
  const Kept other{meta_of(3, 4, "prod/a"), some_bytes(100, 4)};
  const Kept nobodys{meta_of(2, 5), {}};
  write(2, {oldest, good, damaged, other, nobodys});
  sql(path_, "UPDATE snapshots SET checksum = checksum + 1 WHERE position = 3 AND domain = 'prod/b'");

  const auto reader = open(path_, read_only);
  EXPECT_EQ(read_all(*reader).size(), 3u);
  EXPECT_EQ(reader->snapshots().value(), (std::vector{other.meta, damaged.meta, nobodys.meta, good.meta, oldest.meta}));
  for (const Kept& kept : {oldest, good, other, nobodys}) expect_snapshot(*reader, kept.meta, kept.bytes);
  EXPECT_EQ(kind_of(reader->snapshot(3, "prod/b")), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(reader->snapshot(3, "prod/c")), ErrorKind::not_found);

  // The newest good one of each domain stays; so do readers that have the file open.
  const auto log = open(path_);
  for (const events::Log* each : std::vector<const events::Log*>{log.get(), reader.get()}) {
    EXPECT_EQ(each->snapshots().value(), (std::vector{other.meta, nobodys.meta, good.meta}));
    for (const Kept& kept : {good, other, nobodys}) expect_snapshot(*each, kept.meta, kept.bytes);
    EXPECT_EQ(read_all(*each).size(), 3u);
  }
  EXPECT_EQ(RawSqlite(path_).integer("PRAGMA user_version"), 3);
  EXPECT_EQ(tables(), tables_of_today_);
  ASSERT_TRUE(log->put_snapshot(damaged.meta, damaged.bytes).has_value());
  ASSERT_TRUE(log->drop_snapshot(2, "prod/b").has_value());
  expect_snapshot(*reader, damaged.meta, damaged.bytes);
  EXPECT_EQ(unclaimed_parts(path_), 0);
}

// Format 1 kept one snapshot at a position, whatever its domain.
TEST_F(SqliteOlderFormat, number_one_is_read_as_it_is_and_brought_up_to_date_by_a_writer) {
  const Kept older{meta_of(1, 1), some_bytes(20, 1)};
  const Kept newer{meta_of(2, 2), some_bytes(several_parts, 2)};
  write(1, {older, newer});
  const auto reader = open(path_, read_only);
  EXPECT_EQ(reader->snapshots().value(), (std::vector{newer.meta, older.meta}));
  for (const Kept& kept : {older, newer}) expect_snapshot(*reader, kept.meta, kept.bytes);
  EXPECT_EQ(kind_of(reader->snapshot(2, "a")), ErrorKind::not_found);

  const auto log = open(path_);
  EXPECT_EQ(log->snapshots().value(), std::vector{newer.meta});
  expect_snapshot(*log, newer.meta, newer.bytes);
  EXPECT_EQ(tables(), tables_of_today_);
  ASSERT_TRUE(log->put_snapshot(meta_of(2, 3, "a"), older.bytes).has_value());
  EXPECT_EQ(log->snapshots().value().size(), 2u);
  EXPECT_EQ(log->append(Records::run("a", 4, 1).list(), 3).value(), 4u);
}

// A process that brings a file up to date may die at any time: the next one finds what is left, and takes over all of it.
TEST_F(SqliteOlderFormat, is_brought_up_to_date_by_the_next_writer_when_the_first_one_dies) {
  const Kept one{meta_of(1, 1, "one"), some_bytes(several_parts, 1)};
  const Kept two{meta_of(2, 2, "two"), some_bytes(several_parts, 2)};
  {
    const auto log = open(path_);
    ASSERT_TRUE(log->append(Records::run("a", 1, 3).list(), 0).has_value());
    ASSERT_TRUE(log->put_snapshot(one.meta, one.bytes).has_value());  // was moved already
    RawSqlite database(path_);
    create_snapshots(database, "snapshots_2", 2, {one, two});
    database.run("INSERT INTO snapshot_parts (body) VALUES (x'00')");  // the second was on its way
  }
  EXPECT_EQ(open(path_, read_only)->snapshots().value(), std::vector{one.meta});
  const auto log = open(path_);
  EXPECT_EQ(log->snapshots().value(), (std::vector{two.meta, one.meta}));
  for (const Kept& kept : {one, two}) expect_snapshot(*log, kept.meta, kept.bytes);
  EXPECT_EQ(tables(), tables_of_today_);
  EXPECT_EQ(unclaimed_parts(path_), 0);
}

}  // namespace
}  // namespace hindsight::test
