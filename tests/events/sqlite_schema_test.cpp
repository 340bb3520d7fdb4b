// Files that somebody made to do harm: SQLite would run what stands in their schema. And what is in the place of a log and is no file.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string>

#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {
namespace {

using events::SqliteLog;

class SqliteSchema : public testing::Test {
 protected:
  SqliteSchema() {
    auto log = SqliteLog::open(path_, {.durability = events::Durability::off}).value();
    EXPECT_TRUE(log->append(Records::run("alpha", 1, 20).list(), {}));
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("l.db");
};

// A view that never ends, or one that gives rows of a gigabyte, in the place of each table: refused before the first row, by whoever reads
// and by whoever writes (issue 14: every file from outside has a bound).
TEST_F(SqliteSchema, AViewInThePlaceOfATableIsNotRead) {
  const std::string endless = " WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT ";
  const std::array<std::array<std::string, 2>, 4> places{{
      {"records", endless + "n AS offset, 1 AS domain, n AS sequence, 1 AS epoch, 0 AS time_us, 0 AS checksum, x'00' AS body FROM c"},
      {"records", " SELECT 1 AS offset, 1 AS domain, 1 AS sequence, 1 AS epoch, 0 AS time_us, 0 AS checksum, zeroblob(900000000) AS body"},
      {"domains", endless + "n AS id, 'd' || n AS name, 1 AS last_sequence, 1 AS last_epoch, 1 AS last_offset FROM c"},
      {"time_marks", endless + "n AS offset, n AS time_us FROM c"},
  }};
  for (const auto& [table, rows] : places) {
    SCOPED_TRACE(table + " AS" + rows);
    const TemporaryFolder own;
    const std::string path = own.file("l.db");
    std::filesystem::copy_file(path_, path);
    sql(path, "DROP VIEW log; ALTER TABLE " + table + " RENAME TO set_aside; CREATE VIEW " + table + " AS" + rows);
    for (const bool read_only : {true, false}) {
      const auto log = SqliteLog::open(path, {.read_only = read_only});
      ASSERT_FALSE(log);
      EXPECT_NE(log.error().message.find(path), std::string::npos) << log.error().message;
    }
  }
}

// One that would remove what is written, or add to it without end.
TEST_F(SqliteSchema, ATriggerDoesNothing) {
  sql(path_,
      "CREATE TRIGGER forget AFTER INSERT ON records BEGIN DELETE FROM records WHERE offset < new.offset; END;"
      "CREATE TRIGGER lie AFTER UPDATE ON domains BEGIN UPDATE records SET time_us = 7; END");
  {
    auto log = SqliteLog::open(path_, {.durability = events::Durability::off}).value();
    EXPECT_TRUE(log->append(Records::run("alpha", 21, 5).list(), {}));
    EXPECT_EQ(read_all(*log).size(), 25U);
  }
  const auto log = SqliteLog::open(path_, {.read_only = true}).value();
  const auto all = read_all(*log);
  ASSERT_EQ(all.size(), 25U);
  EXPECT_EQ(all.front(), "1 alpha 1 e1 t1 alpha#1");
  EXPECT_EQ(all.back(), "25 alpha 25 e1 t25 alpha#25");
}

// To open a pipe waits for somebody at its other end.
TEST_F(SqliteSchema, APipeIsNoLog) {
  const std::string pipe = folder_.file("pipe.db");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), folder_.path().string()}) {
    const auto log = SqliteLog::open(path, {.read_only = true});
    ASSERT_FALSE(log) << path;
    EXPECT_EQ(log.error().message, "log " + path + ": is no regular file; allowed: one");
  }
}

}  // namespace
}  // namespace hindsight::test
