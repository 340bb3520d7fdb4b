// A log file that forgets its beginning.

#include <gtest/gtest.h>

#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::events {
namespace {

using test::RawSqlite;
using test::read_all;
using test::Records;

class SqliteTrim : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<SqliteLog> open(bool read_only = false) const {
    auto log = SqliteLog::open(path_, {.read_only = read_only, .durability = Durability::off});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }
  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
};

TEST_F(SqliteTrim, KeepsWhatIsBehindTheCut) {
  const DomainsAt cut{4'500, {{"a", 4'500, 1, 4'500}}};
  std::vector<std::string> rest;
  {
    const auto log = open();
    ASSERT_TRUE(log->append(Records::run("a", 1, 5'000).list(), 0));
    rest = read_all(*log, 4'501);
    ASSERT_TRUE(log->forget(cut));
    EXPECT_EQ(log->trimmed().value(), cut);
    EXPECT_EQ(log->append(Records().add("a", 5'001, 1, 5'001).add("b", 1, 1, 5'002).list(), 5'000).value(), 5'002U);
  }
  RawSqlite raw(path_);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM records"), 502);
  EXPECT_EQ(raw.integer("SELECT count(*) FROM time_marks WHERE offset < 4500"), 0);
  EXPECT_EQ(raw.integer("PRAGMA user_version"), 4);
  const auto log = open();
  EXPECT_EQ(log->first().value(), 4'501U);
  EXPECT_EQ(log->last().value(), 5'002U);
  EXPECT_EQ(log->beginning("b").value(), 4'500U);
  EXPECT_EQ(log->beginning("a").error().kind, ErrorKind::not_found);
  auto found = read_all(*log, 4'501);
  found.resize(rest.size());
  EXPECT_EQ(found, rest);
  EXPECT_EQ(log->seek(Time{10}).value(), 4'501U);
  EXPECT_EQ(log->seek(Time{4'800}).value(), 4'800U);
  const auto report = log->check();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->records, 502U);
  for (const auto& f : report->findings)
    EXPECT_EQ(f.what.find("record"), 0U) << f.what;  // the made-up bytes do not decode; nothing else is wrong
}

// Who follows the records that go meets no damage.
TEST_F(SqliteTrim, IsSeenByOtherReaders) {
  const auto log = open();
  ASSERT_TRUE(log->append(Records::run("a", 1, 3'000).list(), 0));
  const auto reader = open(true);
  RecordBatch batch;
  ASSERT_TRUE(reader->read(1, {.records = 10}, batch));
  ASSERT_TRUE(log->forget({2'000, {{"a", 2'000, 1, 2'000}}}));
  const auto read = reader->read(11, {.records = 10}, batch);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, ErrorKind::not_found);
  EXPECT_NE(read.error().message.find("record 11 is not kept any more; the first that is kept is 2001"), std::string::npos)
      << read.error().message;
  ASSERT_TRUE(reader->read(2'001, {.records = 10}, batch));
  EXPECT_EQ(batch.size(), 10U);
  EXPECT_EQ(reader->first().value(), 2'001U);
}

TEST_F(SqliteTrim, IsRefusedWhereItMeansNothing) {
  const auto log = open();
  ASSERT_TRUE(log->append(Records::run("a", 1, 10).list(), 0));
  ASSERT_TRUE(log->forget({5, {{"a", 5, 1, 5}}}));
  for (const DomainsAt& cut : {DomainsAt{5, {{"a", 5, 1, 5}}}, DomainsAt{11, {{"a", 11, 1, 11}}}, DomainsAt{7, {}}}) {
    const auto refused = log->forget(cut);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
    EXPECT_NE(refused.error().message.find("allowed: from record 6 to 10"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(open(true)->forget({7, {{"a", 7, 1, 7}}}).error().kind, ErrorKind::denied);
  EXPECT_EQ(log->begin_behind({20, {{"a", 20, 1, 20}}}, {}).error().kind, ErrorKind::conflict);
  EXPECT_EQ(log->first().value(), 6U);
}

TEST_F(SqliteTrim, AnEmptyFileCanBeginLate) {
  {
    const auto log = open();
    EXPECT_EQ(log->begin_behind({0, {}}, {}).error().kind, ErrorKind::invalid);
    ASSERT_TRUE(log->begin_behind({20, {{"a", 12, 3, 19}, {"b", 8, 2, 20}}}, {}));
    EXPECT_EQ(log->last().value(), 20U);
    EXPECT_EQ(log->append(Records().add("a", 12, 3).list(), 20).error().kind, ErrorKind::conflict);
  }
  const auto log = open();
  EXPECT_EQ(log->first().value(), 21U);
  EXPECT_EQ(log->last().value(), 20U);
  EXPECT_EQ(log->append(Records().add("a", 13, 3).list(), 20).value(), 21U);
  const std::vector<DomainTail> tails{{"a", 13, 3, 21}, {"b", 8, 2, 20}};
  EXPECT_EQ(log->domains().value(), tails);
}

}  // namespace
}  // namespace hindsight::events
