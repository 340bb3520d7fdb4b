// The SQLite log keeps the promises of every log, over openings and beside readers, and refuses files that are not its own.

#include "events/sqlite_log.hpp"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "events/record.hpp"
#include "events/snapshot.hpp"
#include "tests/events/log_contract.hpp"
#include "tests/events/random_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {
namespace {

using events::SqliteLog;

std::unique_ptr<SqliteLog> open(const std::string& path, events::SqliteLogOptions options = {.durability = events::Durability::off}) {
  auto log = SqliteLog::open(path, options);
  EXPECT_TRUE(log.has_value()) << log.error().message;
  return log ? std::move(*log) : nullptr;
}

Error error_of_open(const std::string& path, events::SqliteLogOptions options = {}) {
  const auto log = SqliteLog::open(path, options);
  EXPECT_FALSE(log.has_value());
  return log ? Error{} : log.error();
}

constexpr events::SqliteLogOptions read_only{.read_only = true};

struct SqliteLogMaker {
  std::unique_ptr<events::Log> make() { return open(folder.file("log.db")); }
  TemporaryFolder folder;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, LogContract, SqliteLogMaker);

class SqliteLogFile : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
};

TEST_F(SqliteLogFile, goes_on_where_it_stood_when_it_is_opened_again) {
  std::vector<std::string> before;
  {
    const auto log = open(path_);
    ASSERT_TRUE(log->append(Records().add("a", 1, 1, 100).add("b", 1, 2, 900).add("a", 2, 1, 200).list(), 0).has_value());
    ASSERT_TRUE(log->put_snapshot({.position = 2}, {}).has_value());
    before = read_all(*log);
  }
  const auto log = open(path_);
  EXPECT_EQ(log->last().value(), 3u);
  EXPECT_EQ(read_all(*log), before);
  EXPECT_EQ(log->snapshots().value().size(), 1u);
  EXPECT_EQ(log->append(Records().add("a", 2).list(), {}).error().kind, ErrorKind::conflict);
  EXPECT_EQ(log->append(Records().add("b", 2, 1).list(), {}).error().kind, ErrorKind::conflict);  // an older epoch
  EXPECT_EQ(log->append(Records().add("a", 3, 1, 300).add("b", 2, 2).list(), 3).value(), 5u);
}

// Time marks go on rising over openings although the newest record is not the latest.
TEST_F(SqliteLogFile, seeks_right_after_it_was_opened_again) {
  {
    const auto log = open(path_);
    ASSERT_TRUE(log->append(Records().add("a", 1, 1, 5000).list(), {}).has_value());
  }
  for (std::uint64_t first = 2; first <= 2100; first += 300) {
    const auto log = open(path_);
    ASSERT_TRUE(log->append(Records::run("a", first, 300).list(), {}).has_value());
  }
  const auto log = open(path_);
  EXPECT_EQ(log->seek(Time{1500}).value(), 1u);
  EXPECT_EQ(log->seek(Time{5000}).value(), 1u);
  EXPECT_EQ(log->seek(Time{5001}).value(), 2102u);
}

TEST_F(SqliteLogFile, is_written_by_one_process_and_names_it) {
  const auto log = open(path_);
  const Error error = error_of_open(path_);
  EXPECT_EQ(error.kind, ErrorKind::conflict);
  EXPECT_NE(error.message.find("log " + path_ + ": in use by process " + std::to_string(::getpid()) + " on "), std::string::npos)
      << error.message;
}

TEST_F(SqliteLogFile, is_free_again_when_its_writer_is_gone) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto log = SqliteLog::open(path_);
    ::_exit(log && (*log)->append(Records::run("a", 1, 10).list(), 0) ? 0 : 1);  // no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(open(path_)->last().value(), 10u);
}

TEST_F(SqliteLogFile, is_read_while_it_is_written) {
  const auto log = open(path_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 3).list(), {}).has_value());
  const auto first = open(path_, read_only);
  const auto second = open(path_, read_only);
  EXPECT_EQ(read_all(*first).size(), 3u);
  ASSERT_TRUE(log->append(Records::run("a", 4, 3).add("new", 1).list(), {}).has_value());
  EXPECT_EQ(read_all(*first), read_all(*log));
  EXPECT_EQ(read_all(*second), read_all(*log));
  EXPECT_EQ(second->last().value(), 7u);
  EXPECT_EQ(first->domains().value(), log->domains().value());
  {
    std::jthread writer([&] { EXPECT_TRUE(log->append(Records::run("a", 7, 1).list(), {}).has_value()); });
    EXPECT_EQ(first->wait_beyond(7, Duration::seconds(60)).value(), 8u);
  }
  EXPECT_EQ(first->wait_beyond(8, Duration::millis(20)).value(), 8u);
}

// What a reader takes for the end of the log is the end, however fast the writer is.
TEST_F(SqliteLogFile, never_looks_damaged_to_a_reader_beside_a_fast_writer) {
  const auto log = open(path_);
  const auto reader = open(path_, read_only);
  std::atomic<bool> written = false;
  std::jthread writer([&] {
    for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_TRUE(log->append(Records::run("a", 3 * i + 1, 3).list(), {}).has_value());
    written = true;
  });
  events::RecordBatch batch;
  events::Position next = 1;
  while (next <= 6000) {
    const bool all_written = written;
    const auto read = reader->read(next, {}, batch);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    for (const auto& record : batch) ASSERT_EQ(record.offset, next++);
    ASSERT_FALSE(all_written && batch.empty());
  }
}

TEST_F(SqliteLogFile, refuses_writing_when_it_was_opened_to_read) {
  { ASSERT_TRUE(open(path_)->append(Records::run("a", 1, 3).list(), {}).has_value()); }
  const auto log = open(path_, read_only);
  EXPECT_EQ(log->append(Records().add("a", 4).list(), {}).error().kind, ErrorKind::denied);
  EXPECT_EQ(log->put_snapshot({}, {}).error().kind, ErrorKind::denied);
  EXPECT_EQ(log->drop_snapshot(1, "").error().kind, ErrorKind::denied);
  EXPECT_EQ(read_all(*log).size(), 3u);
}

TEST_F(SqliteLogFile, does_not_come_into_being_by_reading) {
  EXPECT_EQ(error_of_open(path_, read_only).kind, ErrorKind::not_found);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SqliteLogFile, is_one_file_when_it_is_closed) {
  { ASSERT_TRUE(open(path_)->append(Records::run("a", 1, 100).list(), {}).has_value()); }
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  const auto copy = folder_.file("copy #1 100%?.db");
  std::filesystem::copy_file(path_, copy);
  EXPECT_EQ(read_all(*open(copy, read_only)).size(), 100u);
}

TEST_F(SqliteLogFile, can_be_copied_by_sqlite_while_it_is_written_and_the_copy_goes_on) {
  const auto log = open(path_);
  ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), {}).has_value());
  const auto copy = folder_.file("copy.db");
  sql(path_, "VACUUM INTO '" + copy + "'");
  ASSERT_TRUE(log->append(Records::run("a", 101, 1).list(), {}).has_value());
  EXPECT_EQ(read_all(*open(copy, read_only)).size(), 100u);
  const auto copied = open(copy);
  const auto reader = open(copy, read_only);
  ASSERT_TRUE(copied->append(Records::run("a", 101, 50).list(), 100).has_value());
  EXPECT_EQ(read_all(*reader).size(), 150u);
}

TEST_F(SqliteLogFile, refuses_a_database_of_something_else) {
  sql(path_, "CREATE TABLE t (x); PRAGMA application_id = 42;");
  for (const auto& options : {events::SqliteLogOptions{}, read_only}) {
    const Error error = error_of_open(path_, options);
    EXPECT_EQ(error.kind, ErrorKind::invalid);
    EXPECT_EQ(error.message, "log " + path_ + ": not a Hindsight log: application id is 42, expected 1213418567");
  }
}

TEST_F(SqliteLogFile, refuses_a_file_that_is_no_database) {
  std::ofstream(path_) << std::string(5000, 'x');
  for (const auto& options : {events::SqliteLogOptions{}, read_only}) {
    const Error error = error_of_open(path_, options);
    EXPECT_EQ(error.kind, ErrorKind::corrupt);
    EXPECT_NE(error.message.find("file is not a database"), std::string::npos) << error.message;
  }
}

TEST_F(SqliteLogFile, refuses_a_newer_format) {
  { open(path_); }
  sql(path_, "PRAGMA user_version = 6;");
  for (const auto& options : {events::SqliteLogOptions{}, read_only}) {
    const Error error = error_of_open(path_, options);
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
    EXPECT_EQ(error.message, "log " + path_ + ": its format version is 6, written by a newer release; this build reads up to 5");
  }
}

TEST_F(SqliteLogFile, says_why_a_folder_cannot_hold_it) {
  const auto missing = folder_.file("missing/log.db");
  EXPECT_EQ(error_of_open(missing).kind, ErrorKind::io);
  EXPECT_NE(error_of_open(missing).message.find("No such file or directory"), std::string::npos);
}

TEST_F(SqliteLogFile, is_written_only_when_its_parts_agree) {
  { ASSERT_TRUE(open(path_)->append(Records::run("a", 1, 3).list(), {}).has_value()); }
  sql(path_, "DELETE FROM records WHERE offset = 3;");
  const Error error = error_of_open(path_);
  EXPECT_EQ(error.kind, ErrorKind::corrupt);
  EXPECT_EQ(error.message, "log " + path_ + ": its last record is 2, but its domains end at 3; check it before it is written again");
}

// ---- audit ----------------------------------------------------------------------------------------------------------------

class SqliteLogCheck : public SqliteLogFile {
 protected:
  /// A log of real records: `n` in two domains, and a snapshot of both.
  void fill(std::size_t n) {
    const auto log = open(path_);
    RandomRecords random(2);
    events::Encoder encoder;
    for (std::uint64_t i = 0; i < n; ++i) {
      RecordView record = random.record();
      record.envelope = {i % 2 == 0 ? "even" : "odd", i / 2 + 1, 1 + i / 500, Time{static_cast<std::int64_t>(1000 + i)}, 0};
      const auto bytes = encoder.encode(record);
      const events::EncodedRecord encoded{record.envelope.domain, record.envelope.sequence, record.envelope.epoch, record.envelope.time,
                                          bytes};
      ASSERT_TRUE(log->append(std::span(&encoded, 1), i).has_value());
    }
    const events::SnapshotMeta meta{n, 1, Time{5}, events::snapshot_schema_version, 77, "0.1.0"};
    const events::DomainState states[] = {{"even", n / 2, 1, 70, {}}, {"odd", n / 2, 1, 7, {}}};
    ASSERT_TRUE(log->put_snapshot(meta, events::encode_snapshot(meta, 1, states)).has_value());
  }

  std::vector<std::string> findings() {
    const auto report = open(path_, read_only)->check();
    EXPECT_TRUE(report.has_value()) << report.error().message;
    std::vector<std::string> out;
    for (const auto& finding : report->findings) out.push_back(std::to_string(finding.offset) + ": " + finding.what);
    return out;
  }
};

TEST_F(SqliteLogCheck, finds_nothing_in_a_good_log) {
  fill(3000);
  std::vector<events::Position> steps;
  const auto report = open(path_, read_only)->check([&](events::Position done, events::Position total) {
    EXPECT_EQ(total, 3000u);
    steps.push_back(done);
    return true;
  });
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->findings.empty()) << report->findings[0].what;
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->records, 3000u);
  EXPECT_EQ(report->snapshots, 1u);
  EXPECT_EQ(report->last, 3000u);
  EXPECT_GE(steps.size(), 3u);
  EXPECT_EQ(steps.back(), 3000u);
}

TEST_F(SqliteLogCheck, works_beside_a_writer) {
  fill(100);
  const auto log = open(path_);
  EXPECT_TRUE(log->check().value().findings.empty());
}

TEST_F(SqliteLogCheck, ends_when_the_caller_has_seen_enough) {
  fill(3000);
  const auto report = open(path_, read_only)->check([](events::Position done, events::Position) { return done == 0; });
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->complete);
  EXPECT_LT(report->records, 3000u);
  EXPECT_GT(report->records, 0u);
}

TEST_F(SqliteLogCheck, finds_what_was_changed_by_hand) {
  fill(2000);
  sql(path_, "UPDATE records SET epoch = 9 WHERE offset = 7;");
  const std::string damaged = "log " + path_ + ": record ";
  EXPECT_EQ(findings(), std::vector<std::string>{"7: " + damaged + "7 is damaged: its checksum does not match"});
  sql(path_, "DELETE FROM records WHERE offset BETWEEN 100 AND 102;");
  EXPECT_EQ(findings(), (std::vector<std::string>{"7: " + damaged + "7 is damaged: its checksum does not match",
                                                  "100: " + damaged + "100 is damaged: it is missing; the next one is 103",
                                                  "100: records 100 to 102 cannot be read"}));
}

TEST_F(SqliteLogCheck, finds_missing_records_at_the_end) {
  fill(100);
  sql(path_, "DELETE FROM records WHERE offset > 98; DELETE FROM snapshots;");
  EXPECT_EQ(findings(),
            (std::vector<std::string>{"0: domain \"even\": its last record is said to be sequence 50 at offset 99, which it is not",
                                      "0: domain \"odd\": its last record is said to be sequence 50 at offset 100, which it is not"}));
  const auto log = open(path_, read_only);
  events::RecordBatch batch;
  const auto read = log->read(99, {}, batch);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, "log " + path_ + ": record 99 is damaged: it is missing");
}

TEST_F(SqliteLogCheck, finds_damaged_snapshots_and_time_marks) {
  fill(3000);
  sql(path_, "UPDATE snapshot_parts SET body = x'00'; UPDATE time_marks SET time_us = 1 WHERE offset = 1024;");
  EXPECT_EQ(findings(),
            (std::vector<std::string>{"1024: time mark is missing or wrong",
                                      "3000: log " + path_ + ": snapshot at position 3000 is damaged: its checksum does not match"}));
}

TEST_F(SqliteLogCheck, finds_bodies_and_envelopes_that_are_wrong_although_the_checksums_are_right) {
  {
    const auto log = open(path_);
    RandomRecords random(2);
    RecordView record = random.record(13);
    record.envelope = {"a", 1, 4, Time{10}, 0};
    const auto bytes = events::encode(record);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ASSERT_TRUE(
        log->append(Records().add("a", 1, 4, 10, text).add("b", 1, 4, 10, text).add("a", 2, 5, 10, "no record").list(), {}).has_value());
    ASSERT_TRUE(log->put_snapshot({.position = 2}, std::as_bytes(std::span("no snapshot", 11))).has_value());
  }
  EXPECT_EQ(findings(), (std::vector<std::string>{"2: record: domain is \"a\" in its envelope, \"b\" in the log",
                                                  "3: record: its 9 bytes do not carry the identifier HSRC",
                                                  "2: snapshot at position 2: snapshot: its 11 bytes do not verify"}));
}

// Every record stays provable with the sqlite3 tool alone.
TEST_F(SqliteLogCheck, shows_itself_to_sqlite) {
  fill(10);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::vector<std::string> rows;
  const auto keep = [](void* out, int n, char** values, char**) {
    std::string row;
    for (int i = 0; i < n; ++i) row += std::string(i == 0 ? "" : "|") + (values[i] == nullptr ? "null" : values[i]);
    static_cast<std::vector<std::string>*>(out)->push_back(row);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, "SELECT offset, domain, sequence, epoch, time FROM log LIMIT 3", keep, &rows, nullptr), SQLITE_OK);
  sqlite3_close(db);
  EXPECT_EQ(rows, (std::vector<std::string>{"1|even|1|1|1970-01-01T00:00:00.001Z", "2|odd|1|1|1970-01-01T00:00:00.001Z",
                                            "3|even|2|1|1970-01-01T00:00:00.001Z"}));
}

}  // namespace
}  // namespace hindsight::test
