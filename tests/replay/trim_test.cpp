// Logs that forget their beginning: what can still be reached, what is told of the rest, and trims that were interrupted.

#include "replay/trim.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "events/sqlite_log.hpp"
#include "replay/moment.hpp"
#include "replay/owners.hpp"
#include "replay/verify.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;

/// The state hash of a domain after each position.
using Hashes = std::map<Position, std::uint64_t>;

Hashes hashes_of(const Log& log, const std::string& domain, Position from) {
  Hashes out;
  Past past(log, domain);
  for (Position p = from; p <= log.last().value(); ++p) {
    const auto there = past.go_to(p);
    EXPECT_TRUE(there.has_value()) << there.error().message;
    out[p] = past.driver().entities().state_hash();
  }
  return out;
}

class Trim : public ::testing::Test {
 protected:
  void SetUp() override {
    log_ = open();
    ASSERT_NE(log_, nullptr);
    LogWorld quiet(*log_, "quiet");
    quiet.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
    quiet.submit({.name = "once"});
    quiet.settle();
    quiet.flush();
    LogWorld busy(*log_, "busy");
    busy.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
    live(busy, 0, 6);
    busy.flush();
    early_ = log_->last().value();
    snapshot(busy, early_);
    live(busy, 6, 24);
    busy.flush();
    cut_ = log_->last().value() - 20;
    ASSERT_GT(cut_, early_);
    LogWorld late(*log_, "late");
    late.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
    late.flush();
  }

  [[nodiscard]] std::unique_ptr<Log> open(bool read_only = false) const {
    auto log = events::SqliteLog::open(path_, {.read_only = read_only, .durability = events::Durability::normal});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }
  static void live(LogWorld& w, int from, int to) {
    for (int i = from; i < to; ++i) {
      w.submit({.name = "w" + std::to_string(i)});
      w.settle();
      w.confirm();
      w.tick(Duration::seconds(60));
    }
  }
  void snapshot(LogWorld& w, Position position) {
    const auto s = encode_state(w.driver().entities(), "busy", position, "1.0");
    ASSERT_TRUE(log_->put_snapshot(s.meta, s.bytes));
  }
  static Owners owners_of(const Log& log) {
    return find_owners(log, log.last().value(), [](Position) { return true; }).value();
  }
  void expect_whole(Log& log) {
    const auto report = log.check();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->complete);
    for (const auto& f : report->findings) ADD_FAILURE() << f.offset << ": " << f.what;
  }

  hindsight::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
  std::unique_ptr<Log> log_;
  Position early_ = 0, cut_ = 0;
};

TEST_F(Trim, LeavesEveryLaterMomentAsItWas) {
  std::map<std::string, Hashes> before;
  for (const char* domain : {"quiet", "busy", "late"}) before[domain] = hashes_of(*log_, domain, cut_);
  const auto last = log_->last().value();
  const auto owners = owners_of(*log_);
  ASSERT_EQ(owners.size(), 3U);

  const auto only_told = trim(*log_, cut_, "1.0", true);
  ASSERT_TRUE(only_told.has_value()) << only_told.error().message;
  EXPECT_EQ(log_->first().value(), 1U);
  EXPECT_EQ(log_->snapshots().value().size(), 1U);

  const auto report = trim(*log_, cut_, "1.0", false);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->records, cut_);
  EXPECT_EQ(report->domains, 2U);
  EXPECT_EQ(report->snapshots_made, 2U);
  EXPECT_EQ(report->snapshots_dropped, 1U);
  EXPECT_EQ(only_told->records, report->records);
  EXPECT_EQ(only_told->snapshots_made, report->snapshots_made);
  EXPECT_EQ(only_told->snapshots_dropped, report->snapshots_dropped);

  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(log_->first().value(), cut_ + 1);
    EXPECT_EQ(log_->last().value(), last);
    for (const char* domain : {"quiet", "busy", "late"}) EXPECT_EQ(hashes_of(*log_, domain, cut_), before[domain]) << domain;
    EXPECT_EQ(log_->beginning("late").value(), cut_);
    EXPECT_EQ(log_->beginning("quiet").error().kind, ErrorKind::not_found);
    EXPECT_EQ(owners_of(*log_), owners) << "who began an epoch before the cut is noted";
    expect_whole(*log_);
    log_.reset();
    log_ = open();
  }
  ASSERT_TRUE(trim(*log_, cut_ + 3, "1.0", false));
  EXPECT_EQ(owners_of(*log_), owners) << "and stays so";
  for (const char* domain : {"quiet", "busy", "late"}) {
    const auto verified = verify(*log_, domain, {});
    ASSERT_TRUE(verified.has_value()) << verified.error().message;
    EXPECT_TRUE(verified->clean()) << domain;
  }
}

TEST_F(Trim, SaysWhatIsNotKept) {
  ASSERT_TRUE(trim(*log_, cut_, "1.0", false));
  Past past(*log_, "busy");
  const auto gone = past.go_to(cut_ - 1);
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().kind, ErrorKind::not_found);
  EXPECT_NE(gone.error().message.find("only its snapshots lead on; the first record that is kept is " + std::to_string(cut_ + 1)),
            std::string::npos)
      << gone.error().message;
  events::RecordBatch batch;
  const auto read = log_->read(3, {}, batch);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, ErrorKind::not_found);
  EXPECT_NE(read.error().message.find("record 3 is not kept any more; the first that is kept is " + std::to_string(cut_ + 1)),
            std::string::npos)
      << read.error().message;
  // The state at the cut is not that of a moment long before it.
  const auto moment = resolve(*log_, {.kind = Moment::Kind::ago, .ago = Duration::seconds(86'400)});
  ASSERT_FALSE(moment.has_value());
  EXPECT_EQ(moment.error().kind, ErrorKind::not_found);
  EXPECT_NE(moment.error().message.find(" begins at 2026-01-01T"), std::string::npos) << moment.error().message;
}

TEST_F(Trim, GivesUpBeforeAnythingIsForgotten) {
  const auto report = trim(*log_, cut_, "1.0", false, [](const std::string&, Position) { return false; });
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->complete);
  EXPECT_EQ(log_->first().value(), 1U);
  EXPECT_EQ(log_->snapshots().value().size(), 1U);
}

// A node beside it may find that it has newer snapshots enough.
TEST_F(Trim, ForgetsNothingWithoutItsSnapshots) {
  const auto report = trim(*log_, cut_, "1.0", false, [&](const std::string& domain, Position) {
    if (domain.empty()) {
      EXPECT_TRUE(log_->drop_snapshot(cut_, "busy"));
    }
    return true;
  });
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::conflict);
  EXPECT_NE(report.error().message.find("the snapshot of domain busy at record " + std::to_string(cut_) + " was dropped"),
            std::string::npos)
      << report.error().message;
  EXPECT_EQ(log_->first().value(), 1U);
}

// The process dies when the cut is noted, before the records and the older snapshots go.
TEST_F(Trim, GoesOnWhereItWasInterrupted) {
  const auto before = hashes_of(*log_, "busy", cut_);
  log_.reset();
  const std::string half = folder_.file("half.db");
  hindsight::test::RawSqlite(path_).run("VACUUM INTO '" + half + "'");
  log_ = open();
  ASSERT_TRUE(trim(*log_, cut_, "1.0", false));
  log_.reset();
  hindsight::test::RawSqlite raw(half);
  raw.run("ATTACH '" + path_ + "' AS whole");
  raw.run("CREATE TABLE trimmed AS SELECT * FROM whole.trimmed");
  raw.run("INSERT INTO snapshot_parts SELECT * FROM whole.snapshot_parts w WHERE w.id NOT IN (SELECT id FROM snapshot_parts)");
  raw.run("INSERT INTO snapshots SELECT * FROM whole.snapshots");
  raw.run("INSERT OR REPLACE INTO time_marks SELECT * FROM whole.time_marks");
  raw.run("PRAGMA user_version = 4");
  ASSERT_EQ(raw.integer("SELECT min(offset) FROM records"), 1);
  path_ = half;
  {
    const auto reader = open(true);
    EXPECT_EQ(reader->first().value(), cut_ + 1);
    events::RecordBatch batch;
    EXPECT_EQ(reader->read(1, {}, batch).error().kind, ErrorKind::not_found);
    EXPECT_EQ(hashes_of(*reader, "busy", cut_), before);
    EXPECT_EQ(reader->snapshots().value().size(), 3U);
  }
  log_ = open();  // whoever writes it next removes what is left
  EXPECT_EQ(raw.integer("SELECT min(offset) FROM records"), static_cast<std::int64_t>(cut_) + 1);
  const auto again = trim(*log_, cut_, "1.0", false);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->records, 0U);
  EXPECT_EQ(again->snapshots_dropped, 1U) << "the one from before the cut leads nowhere";
  EXPECT_EQ(hashes_of(*log_, "busy", cut_), before);
  expect_whole(*log_);
}

// Without records before it the oldest snapshot is what the moments behind it are reached from.
TEST_F(Trim, KeepsTheOldestSnapshotFromThenOn) {
  ASSERT_TRUE(trim(*log_, cut_, "1.0", false));
  SnapshotWriter writer(*log_, "busy", {.records = 1, .interval = {}, .newest = 1, .spacing = 0});
  for (const Position p : {cut_ + 5, cut_ + 10, cut_ + 15}) {
    Past past(*log_, "busy");
    ASSERT_TRUE(past.go_to(p));
    ASSERT_TRUE(writer.store(encode_state(past.driver().entities(), "busy", p, "1.0")));
  }
  std::vector<Position> kept;
  const auto all = snapshots_of(*log_, "busy").value();
  for (const auto& meta : all) kept.push_back(meta.position);
  EXPECT_EQ(kept, (std::vector<Position>{cut_ + 15, cut_}));
  EXPECT_EQ(hashes_of(*log_, "busy", cut_).size(), log_->last().value() - cut_ + 1);
}

TEST_F(Trim, MayForgetEverythingAndGoOn) {
  const auto last = log_->last().value();
  ASSERT_TRUE(trim(*log_, last, "1.0", false));
  log_.reset();
  log_ = open();
  EXPECT_EQ(log_->first().value(), last + 1);
  EXPECT_EQ(log_->last().value(), last);
  EXPECT_EQ(open(true)->last().value(), last);
  events::RecordBatch batch;
  ASSERT_TRUE(log_->read(last + 1, {}, batch));
  EXPECT_TRUE(batch.empty());
  expect_whole(*log_);
}

}  // namespace
}  // namespace hindsight::replay
