// Copies of logs: whole ones, ones that go on, and ones of logs that have forgotten their beginning.

#include "events/log_copy.hpp"

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::events {
namespace {

using test::read_all;
using test::Records;

class LogCopy : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<SqliteLog> open(const std::string& name) const {
    auto log = SqliteLog::open(folder_.file(name), {.durability = Durability::off});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }
  void SetUp() override {
    from_ = open("from.db");
    to_ = open("to.db");
    ASSERT_TRUE(from_->append(Records().add("a", 1).add("b", 1).add("a", 2).add("a", 3).list(), 0));
    ASSERT_TRUE(from_->append(Records().add("b", 2).add("a", 4).list(), 4));
  }
  /// Domain "a" stands at 3, "b" at 1.
  static DomainsAt cut() { return {4, {{"a", 3, 1, 4}, {"b", 1, 1, 2}}}; }
  CopyReport copied() {
    const auto report = copy_log(*from_, *to_);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report.value_or(CopyReport{});
  }
  void expect_refused(ErrorKind kind, const std::string& text) {
    const auto report = copy_log(*from_, *to_);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, kind);
    EXPECT_NE(report.error().message.find(text), std::string::npos) << report.error().message;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<SqliteLog> from_, to_;
};

TEST_F(LogCopy, TakesWhatIsMissing) {
  EXPECT_EQ(copied().copied, 6U);
  ASSERT_TRUE(from_->append(Records().add("b", 3).list(), 6));
  const auto report = copied();
  EXPECT_EQ(report.found, 6U);
  EXPECT_EQ(report.copied, 1U);
  EXPECT_EQ(report.last, 7U);
  EXPECT_EQ(read_all(*to_), read_all(*from_));
  EXPECT_EQ(to_->domains().value(), from_->domains().value());
}

TEST_F(LogCopy, OfATrimmedLogBeginsAsLate) {
  const SnapshotMeta meta{.position = 4, .epoch = 1, .time = Time{4}, .schema_version = 1, .state_hash = 9, .release = "1", .domain = "a"};
  ASSERT_TRUE(from_->put_snapshot(meta, std::as_bytes(std::span("state", 5))));
  ASSERT_TRUE(from_->forget(cut()));
  const auto report = copied();
  EXPECT_EQ(report.copied, 2U);
  EXPECT_EQ(report.snapshots, 1U);
  EXPECT_EQ(report.last, 6U);
  EXPECT_EQ(to_->first().value(), 5U);
  EXPECT_EQ(to_->trimmed().value(), cut());
  EXPECT_EQ(read_all(*to_, 5), read_all(*from_, 5));
  EXPECT_EQ(to_->domains().value(), from_->domains().value());
  EXPECT_EQ(to_->snapshots().value(), std::vector<SnapshotMeta>{meta});
  ASSERT_TRUE(from_->append(Records().add("b", 3).list(), 6));
  to_.reset();
  to_ = open("to.db");
  EXPECT_EQ(copied().found, 2U);
  EXPECT_EQ(to_->append(Records().add("a", 5).list(), 7).value(), 8U) << "the domains go on";
}

TEST_F(LogCopy, ThatGoesBackFurtherStaysAnArchive) {
  (void)copied();
  ASSERT_TRUE(from_->append(Records().add("b", 3).list(), 6));
  ASSERT_TRUE(from_->forget(cut()));
  const auto report = copied();
  EXPECT_EQ(report.found, 2U);
  EXPECT_EQ(report.copied, 1U);
  EXPECT_EQ(to_->first().value(), 1U);
  EXPECT_EQ(read_all(*to_).size(), 7U);
}

TEST_F(LogCopy, ThatWasTrimmedItselfGoesOn) {
  (void)copied();
  ASSERT_TRUE(to_->forget(cut()));
  ASSERT_TRUE(from_->append(Records().add("b", 3).list(), 6));
  const auto report = copied();
  EXPECT_EQ(report.found, 2U);
  EXPECT_EQ(report.copied, 1U);
  EXPECT_EQ(read_all(*to_, 5), read_all(*from_, 5));
}

TEST_F(LogCopy, LeavesNoGap) {
  ASSERT_TRUE(to_->append(Records().add("a", 1).add("b", 1).list(), 0));
  ASSERT_TRUE(from_->forget(cut()));
  expect_refused(ErrorKind::conflict, "ends with record 2, and log sqlite:" + folder_.file("from.db") + " begins with record 5");
}

TEST_F(LogCopy, IsOfOneLogOnly) {
  ASSERT_TRUE(to_->append(Records().add("a", 1).add("c", 1).list(), 0));
  expect_refused(ErrorKind::conflict, "record 2 is not that of log");
}

TEST_F(LogCopy, CannotBeginLateEverywhere) {
  ASSERT_TRUE(from_->forget(cut()));
  MemoryLog memory;
  const auto report = copy_log(*from_, memory);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::unsupported);
  EXPECT_NE(report.error().message.find("always begins with record 1"), std::string::npos) << report.error().message;
}

}  // namespace
}  // namespace hindsight::events
