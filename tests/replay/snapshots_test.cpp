// When snapshots are written, which stay, and that what is read back is what was there.

#include "replay/snapshots.hpp"

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;

std::vector<Position> positions(const Log& log) {
  std::vector<Position> out;
  const auto all = log.snapshots().value();
  for (const auto& s : all) out.push_back(s.position);
  return out;
}

TEST(SnapshotWriter, IsDueAfterSoManyRecords) {
  events::MemoryLog log;
  SnapshotWriter writer(log, "default", {.records = 10, .interval = {}});
  const Time now = Time::from_seconds(1);
  EXPECT_FALSE(writer.due(0, now));
  EXPECT_FALSE(writer.due(9, now));
  EXPECT_TRUE(writer.due(10, now));
}

TEST(SnapshotWriter, IsDueAfterSoMuchTimeIfThereWasARecord) {
  events::MemoryLog log;
  SnapshotWriter writer(log, "default", {.records = 0, .interval = Duration::seconds(60)});
  EXPECT_FALSE(writer.due(5, Time::from_seconds(1000)));
  EXPECT_FALSE(writer.due(6, Time::from_seconds(1059)));
  EXPECT_TRUE(writer.due(7, Time::from_seconds(1060)));
  LogWorld w(log);
  w.flush();
  const auto snapshot = encode_state(w.driver().entities(), "default", 1, "1.0");
  ASSERT_TRUE(writer.store(snapshot));
  EXPECT_FALSE(writer.due(1, w.now + Duration::seconds(600)));  // nothing new
  EXPECT_TRUE(writer.due(2, w.now + Duration::seconds(600)));
}

TEST(SnapshotWriter, CountsFromTheSnapshotsThatARestartFinds) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  SnapshotWriter writer(log, "default", {.records = 1000, .interval = Duration::seconds(600)});
  ASSERT_TRUE(writer.open());
  const auto newest = positions(log).front();
  EXPECT_FALSE(writer.due(newest, w.now + Duration::seconds(6000)));
  EXPECT_FALSE(writer.due(newest + 999, w.now));
  EXPECT_TRUE(writer.due(newest + 1000, w.now));
}

// Issue 20: who writes the log alone has the state at hand, and stores it where a node would on its way to one that is due.
TEST(SnapshotWriter, ThoseOnTheWayAreWorthItOnceTheirSizeIsKnown) {
  events::MemoryLog log;
  LogWorld w(log);
  SnapshotWriter writer(log, "default", {.records = 40, .interval = {}, .newest = 2, .spacing = 16, .closest = 8});
  std::vector<Position> stored;
  while (w.position() < 100) {
    w.tick(Duration::seconds(1));
    w.flush();
    if (!writer.is_worth_it(w.position(), w.now)) continue;
    stored.push_back(w.position());
    ASSERT_TRUE(writer.store(encode_state(w.driver().entities(), "default", w.position(), "1.0")));
  }
  EXPECT_EQ(stored, (std::vector<Position>{40, 48, 64, 80, 96}));
  SnapshotWriter none(log, "default", {.records = 40, .interval = {}, .closest = 0});
  ASSERT_TRUE(none.store(encode_state(w.driver().entities(), "default", w.position(), "1.0")));
  EXPECT_FALSE(none.is_worth_it(w.position() + 39, w.now)) << "none stand on the way";
  EXPECT_TRUE(none.is_worth_it(w.position() + 40, w.now));
}

TEST(SnapshotWriter, KeepsTheNewestAndOneOfEachStretch) {
  events::MemoryLog log;
  LogWorld w(log);
  SnapshotWriter writer(log, "default", {.records = 5, .interval = {}, .newest = 2, .spacing = 20});
  while (w.position() < 60) {
    w.tick(Duration::seconds(1));
    w.flush();
    if (writer.due(w.position(), w.now)) {
      ASSERT_TRUE(writer.store(encode_state(w.driver().entities(), "default", w.position(), "1.0")));
    }
  }
  EXPECT_EQ(positions(log), (std::vector<Position>{60, 55, 40, 20, 5}));
}

// Where a log says how much room it takes, as many stay as take no more of it than the records do.
TEST(SnapshotWriter, KeepsAsManyAsTakeNoMoreRoomThanTheRecords) {
  const hindsight::test::TemporaryFolder folder;
  const auto log = events::SqliteLog::open(folder.file("l.db"), {.durability = events::Durability::off}).value();
  LogWorld w(*log);
  SnapshotWriter writer(*log, "default", {.records = 10, .interval = {}, .newest = 1, .spacing = 1'000'000});
  std::uint64_t bytes = 0;
  while (w.position() < 3'000) {
    w.tick(Duration::seconds(1));
    w.flush();
    if (!writer.due(w.position(), w.now)) continue;
    const auto snapshot = encode_state(w.driver().entities(), "default", w.position(), "1.0");
    bytes = snapshot.bytes.size();
    ASSERT_TRUE(writer.store(snapshot));
  }
  const auto kept = positions(*log);
  EXPECT_LE(kept.size() * bytes, log->space().value()->used / 2);
  ASSERT_GE(kept.size(), 20U);
  // They lie evenly: no moment is much farther from one than others.
  Position widest = 0;
  for (std::size_t i = 1; i < kept.size(); ++i) widest = std::max(widest, kept[i - 1] - kept[i]);
  EXPECT_LE(widest, 4 * 3'000 / kept.size());
}

// Who folds to a snapshot that is due stores others on the way, as many as there is room for: then few moments are a long fold away
// (issue 19, Speed).
TEST(SnapshotWriter, PassesOthersOnTheWayWhereTheLogHasRoom) {
  const hindsight::test::TemporaryFolder folder;
  const auto log = events::SqliteLog::open(folder.file("l.db"), {.durability = events::Durability::off}).value();
  LogWorld w(*log);
  SnapshotWriter writer(*log, "default", {.records = 1'000, .interval = {}, .newest = 1, .closest = 16});
  Position newest = 0;
  std::size_t passed = 0;
  std::uint64_t bytes = 0;
  while (w.position() < 6'000) {
    w.tick(Duration::seconds(1));
    w.flush();
    if (!writer.due(w.position(), w.now)) continue;
    const auto between = writer.on_the_way(newest, w.position()).value();
    EXPECT_TRUE(newest != 0 || between.empty());  // how large one is, is not known yet
    EXPECT_LE(between.size(), SnapshotWriter::on_the_way_max);
    Past past(*log, "default");
    for (const Position at : between) {
      EXPECT_GT(at, newest);
      EXPECT_LT(at, w.position());
      ASSERT_TRUE(past.go_to(at));
      ASSERT_TRUE(writer.store(encode_state(past.driver().entities(), "default", at, "1.0")));
      ++passed;
    }
    const auto snapshot = encode_state(w.driver().entities(), "default", w.position(), "1.0");
    bytes = snapshot.bytes.size();
    ASSERT_TRUE(writer.store(snapshot));
    newest = w.position();
  }
  const auto kept = positions(*log);
  EXPECT_GE(passed, 20U);
  EXPECT_GE(kept.size(), 20U);  // six were due
  EXPECT_LE(kept.size() * bytes, log->space().value()->used / 2);
  const auto all = log->snapshots().value();
  for (const auto& meta : all) {
    auto fresh = new_driver();
    EXPECT_TRUE(load_state(*log, meta, "default", fresh->entities())) << meta.position;
    EXPECT_EQ(meta.state_hash, w.hashes()[meta.position]) << meta.position;
  }
  // And not where the policy says none.
  SnapshotWriter none(*log, "default", {.records = 1'000, .interval = {}, .newest = 1, .closest = 0});
  ASSERT_TRUE(none.store(encode_state(w.driver().entities(), "default", w.position(), "1.0")));
  EXPECT_TRUE(none.on_the_way(0, w.position()).value().empty());
}

TEST(LoadState, GivesBackWhatWasWritten) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto all = log.snapshots().value();
  for (const auto& meta : all) {
    auto fresh = new_driver();
    ASSERT_TRUE(load_state(log, meta, "default", fresh->entities()));
    EXPECT_EQ(meta.domain, "default");
    EXPECT_EQ(fresh->state_hash(), w.hashes()[meta.position]);
    EXPECT_EQ(meta.state_hash, w.hashes()[meta.position]);
  }
}

TEST(LoadState, SaysWhyASnapshotIsOfNoUse) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const SnapshotMeta newest = log.snapshots().value().front();
  const auto why_not = [&](const SnapshotMeta& meta, std::string_view domain) {
    auto fresh = new_driver();
    return load_state(log, meta, domain, fresh->entities()).error();
  };
  SnapshotMeta later = newest;
  ++later.position;
  EXPECT_EQ(why_not(later, "default").kind, ErrorKind::not_found);
  EXPECT_EQ(why_not(newest, "other").kind, ErrorKind::not_found);
  auto stored = log.snapshot(newest.position, newest.domain).value();
  stored.bytes[stored.bytes.size() / 2] ^= std::byte{1};
  ASSERT_TRUE(log.put_snapshot(stored.meta, stored.bytes));
  EXPECT_EQ(why_not(newest, "default").kind, ErrorKind::corrupt);
}

// Whoever went on from there would leave records out, or wait for records that never come (issue 14: snapshots that do not belong).
TEST(LoadState, TakesNoStateOfAnotherPlace) {
  const hindsight::test::TemporaryFolder folder;
  const std::string path = folder.file("l.db");
  {
    const auto log = events::SqliteLog::open(path, {.durability = events::Durability::off}).value();
    LogWorld w(*log);
    while (w.position() < 8) {
      w.tick(Duration::seconds(1));
      w.flush();
    }
    // The state at the end, under the name of an earlier record.
    auto moved = encode_state(w.driver().entities(), "default", w.position(), "1.0");
    moved.meta.position = 3;
    ASSERT_TRUE(log->put_snapshot(moved.meta, moved.bytes));
    auto fresh = new_driver();
    const auto loaded = load_state(*log, moved.meta, "default", fresh->entities());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().kind, ErrorKind::corrupt);
    EXPECT_NE(loaded.error().message.find("it holds the state at " + std::to_string(w.position())), std::string::npos)
        << loaded.error().message;
    // A fold goes past it, and says so.
    Past past(*log, "default");
    ASSERT_TRUE(past.go_to(3));
    EXPECT_EQ(past.driver().state_hash(), w.hashes()[3]);
    const auto right = encode_state(w.driver().entities(), "default", w.position(), "1.0");
    ASSERT_TRUE(log->put_snapshot(right.meta, right.bytes));
  }
  // The log lost its end, and the snapshot there stayed.
  hindsight::test::RawSqlite(path).run("DELETE FROM records WHERE offset = (SELECT max(offset) FROM records)");
  const auto log = events::SqliteLog::open(path, {.read_only = true}).value();
  const auto newest = log->snapshots().value().front();
  ASSERT_GT(newest.position, log->last().value());
  auto fresh = new_driver();
  const auto loaded = load_state(*log, newest, "default", fresh->entities());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::corrupt);
  EXPECT_NE(loaded.error().message.find("the log ends at " + std::to_string(newest.position - 1)), std::string::npos)
      << loaded.error().message;
}

// Domains that share a log: each counts, finds and forgets its own, and two may have one at the same position.
TEST(SnapshotWriter, LeavesTheSnapshotsOfOtherDomainsAlone) {
  events::MemoryLog log;
  LogWorld w(log);
  while (w.position() < 40) {
    w.tick(Duration::seconds(1));
    w.flush();
  }
  SnapshotWriter one(log, "one", {.records = 5, .interval = {}, .newest = 1, .spacing = 0});
  SnapshotWriter two(log, "two", {.records = 5, .interval = {}, .newest = 1, .spacing = 0});
  const auto store = [&](SnapshotWriter& writer, const char* domain, Position at) {
    return writer.store(encode_state(w.driver().entities(), domain, at, "1.0")).has_value();
  };
  ASSERT_TRUE(store(one, "one", 10));
  ASSERT_TRUE(store(two, "two", 10));
  ASSERT_TRUE(store(one, "one", 20));
  EXPECT_EQ(positions(log), (std::vector<Position>{20, 10})) << "the older one of its own domain is forgotten";
  EXPECT_EQ(log.snapshots().value().back().domain, "two");
  SnapshotWriter again(log, "two", {.records = 5, .interval = {}});
  ASSERT_TRUE(again.open());
  EXPECT_FALSE(again.due(14, w.now)) << "counts from 10, not from the newer one of the other";
  EXPECT_TRUE(again.due(15, w.now));
  EXPECT_EQ(snapshots_of(log, "two").value().size(), 1U);
}

}  // namespace
}  // namespace hindsight::replay
