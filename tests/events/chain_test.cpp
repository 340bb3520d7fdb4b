// The chain of hashes over logs: the same in a log and its copy, kept where a log is trimmed, and taken up where somebody left it.

#include "events/chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "events/log_copy.hpp"
#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::events {
namespace {

using evidence::Checkpoint;
using evidence::Head;
using test::RawSqlite;
using test::Records;

constexpr Time noon{1'795'788'000'000'000};

Head head_of(const Log& log, Position upto) {
  ChainWalk walk(log, chain_start(log).value());
  EXPECT_TRUE(walk.to(upto));
  return walk.head();
}

Checkpoint store_at(Log& log, Position position, const evidence::SigningKey* key = nullptr) {
  ChainWalk walk(log, chain_start(log).value());
  EXPECT_TRUE(walk.to(position));
  EXPECT_EQ(walk.position(), position);
  const auto stored = store_checkpoint(log, walk, noon, "0.1.0", key);
  EXPECT_TRUE(stored) << (stored ? "" : stored.error().message);
  return stored.value_or(Checkpoint{});
}

class ChainOfLogs : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<SqliteLog> open(const std::string& name, bool read_only = false) const {
    auto log = SqliteLog::open(folder_.file(name), {.read_only = read_only, .durability = Durability::off});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }
  test::TemporaryFolder folder_;
};

/// Computed by another program from docs/log-format.md.
TEST_F(ChainOfLogs, IsTheOneThatTheFormatDescribes) {
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records().add("a", 1, 1, 10, "one").add("b", 1, 2, 11, "two").add("a", 2, 1, 12, "three").list(), 0));
  EXPECT_EQ(evidence::hex(head_of(*log, 3).hash), "c36eaedc2137c85d3df81f975ff912ab72a8afce9813b483ed85bba6bf945999");
  EXPECT_EQ(head_of(*log, 3).records, 3U);
}

TEST_F(ChainOfLogs, EndsWhereItIsToldTo) {
  MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 5'000).list(), 0));
  ChainWalk walk(log, chain_start(log).value(), {.records = 7, .bytes = 1 << 20});
  Position seen = 0;
  ASSERT_TRUE(walk.to(4'321, [&](const ChainedRecord& met) { return (seen = met.record.offset) != 1'000; }));
  EXPECT_EQ(walk.position(), 1'000U);
  EXPECT_EQ(walk.head(), head_of(log, 1'000));
  ASSERT_TRUE(walk.to(4'321));
  EXPECT_EQ(walk.head(), head_of(log, 4'321));
  ASSERT_TRUE(walk.to(9'999));
  EXPECT_EQ(walk.position(), 5'000U);
}

TEST_F(ChainOfLogs, GoesOverTheRecordsThatCount) {
  MemoryLog log;
  ASSERT_TRUE(log.append(Records().add("a", 1).add("a", 2, 2).list(), 0));
  const auto before = head_of(log, 2);
  log.slip_in(Records().add("a", 3, 1).list()[0]);  // by a writer that has been replaced
  EXPECT_EQ(head_of(log, 3), before);
  ASSERT_TRUE(log.append(Records().add("a", 3, 2).list(), 3));
  const auto head = head_of(log, 4);
  EXPECT_EQ(head.records, 3U);
  ChainWalk walk(log, chain_start(log).value());
  std::vector<RecordOrder> orders;
  ASSERT_TRUE(walk.to(4, [&](const ChainedRecord& met) {
    orders.push_back(met.order);
    return true;
  }));
  EXPECT_EQ(orders, (std::vector<RecordOrder>{RecordOrder::next, RecordOrder::next, RecordOrder::passed_over, RecordOrder::next}));
  EXPECT_EQ(walk.passed_over(), 1U);

  const auto copy = open("copy.db");
  store_at(log, 4);
  const auto report = copy_log(log, *copy);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->checkpoints, 1U);
  EXPECT_EQ(head_of(*copy, 3), head);
  const auto carried = copy->checkpoints().value();
  ASSERT_EQ(carried.size(), 1U);
  EXPECT_EQ(carried[0].position, 3U);  // one record before it was left out
  EXPECT_EQ(carried[0].head, head);
}

TEST_F(ChainOfLogs, IsTakenUpFromACheckpointWithWhatCountsThere) {
  MemoryLog log;
  ASSERT_TRUE(log.append(Records().add("a", 1).add("b", 1, 5).add("a", 2).list(), 0));
  store_at(log, 3);
  log.slip_in(Records().add("b", 2, 4).list()[0]);  // whoever does not know that "b" is in epoch 5 would count it
  ASSERT_TRUE(log.append(Records().add("b", 2, 5).list(), 4));
  for (const auto& start : {chain_resume(log, nullptr).value(), chain_before(log, 4).value()}) {
    EXPECT_EQ(start.from, ChainStart::From::checkpoint);
    EXPECT_EQ(start.at.position, 3U);
    ChainWalk walk(log, start);
    ASSERT_TRUE(walk.to(5));
    EXPECT_EQ(walk.head(), head_of(log, 5));
  }
  EXPECT_EQ(chain_before(log, 2)->from, ChainStart::From::beginning);
  // Another checkpoint before the last one, of which it was not noted how the domains stood.
  store_at(log, 5);
  ChainWalk walk(log, chain_before(log, 4).value());
  EXPECT_EQ(walk.position(), 3U);
  ASSERT_TRUE(walk.to(5));
  EXPECT_EQ(walk.head(), head_of(log, 5));
}

TEST_F(ChainOfLogs, IsTakenUpFromWhatItsOwnKeyHasSigned) {
  const auto key = evidence::SigningKey::make().value();
  const auto other = evidence::SigningKey::make().value();
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records::run("a", 1, 40).list(), 0));
  store_at(*log, 10, &key);
  store_at(*log, 20, &other);
  store_at(*log, 30);
  EXPECT_EQ(chain_resume(*log, nullptr)->at.position, 30U);
  EXPECT_EQ(chain_resume(*log, &key.public_key())->at.position, 10U);
  auto altered = log->checkpoints()->front();
  altered.head.hash[0] ^= 1;
  ASSERT_TRUE(log->put_checkpoint(altered, {}));
  EXPECT_EQ(chain_resume(*log, &key.public_key())->at.position, 0U);
}

TEST_F(ChainOfLogs, AnUnsignedCheckpointTakesNoSignedOnesPlace) {
  const auto key = evidence::SigningKey::make().value();
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records::run("a", 1, 4).list(), 0));
  const auto first = store_at(*log, 4, &key);
  EXPECT_EQ(store_at(*log, 4), first);
  EXPECT_EQ(log->checkpoints().value(), std::vector<Checkpoint>{first});
}

TEST_F(ChainOfLogs, KeepsOneCheckpointOfEachKeyInAStretchAndTheNewestAll) {
  const auto one = evidence::SigningKey::make().value(), other = evidence::SigningKey::make().value();
  const auto log = open("log.db");
  Records records;
  for (std::uint64_t i = 1; i <= 60; ++i) records.add("a", i);
  ASSERT_TRUE(log->append(records.list(), 0));
  // in stretches of ten: 0 unsigned only, 1 both keys and unsigned, 2 one key; the newest are 40 and 50
  for (const Position at : {2, 4, 6, 12, 19}) store_at(*log, at);
  for (const Position at : {13, 15, 21, 24, 50}) store_at(*log, at, &one);
  for (const Position at : {14, 16, 40}) store_at(*log, at, &other);
  const auto positions = [&] {
    std::vector<Position> out;
    const auto all = log->checkpoints().value();
    for (const auto& c : all) out.push_back(c.position);
    return out;
  };
  EXPECT_EQ(thin_checkpoints(*log, 100, 10).value(), 0U);
  EXPECT_EQ(thin_checkpoints(*log, 2, 10).value(), 7U);
  EXPECT_EQ(positions(), (std::vector<Position>{2, 13, 14, 21, 40, 50}));
  EXPECT_EQ(thin_checkpoints(*log, 2, 10).value(), 0U) << "what stays once stays";
  // The head at a cut is what the chain goes on from.
  ASSERT_TRUE(keep_head_at(*log, 3, noon, "0.1.0", {}).value());
  ASSERT_TRUE(log->forget({3, {{"a", 3, 1, 3}}, {}}));
  EXPECT_EQ(thin_checkpoints(*log, 1, 1'000).value(), 2U);
  const auto kept = positions();
  EXPECT_TRUE(std::ranges::find(kept, 3U) != kept.end());
  EXPECT_EQ(chain_start(*log)->from, ChainStart::From::cut);
}

TEST_F(ChainOfLogs, GoesOnFromTheHeadAtTheCut) {
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records::run("a", 1, 3'000).list(), 0));
  const auto end = head_of(*log, 3'000);
  const auto cut_head = head_of(*log, 2'000);
  EXPECT_TRUE(keep_head_at(*log, 2'000, noon, "0.1.0", {}).value());
  ASSERT_TRUE(log->forget({2'000, {{"a", 2'000, 1, 2'000}}}));
  const auto start = chain_start(*log).value();
  EXPECT_EQ(start.from, ChainStart::From::cut);
  EXPECT_EQ(start.head, cut_head);
  EXPECT_EQ(head_of(*log, 3'000), end);
  // And again, from the first cut on.
  EXPECT_TRUE(keep_head_at(*log, 2'500, noon, "0.1.0", {}).value());
  ASSERT_TRUE(log->forget({2'500, {{"a", 2'500, 1, 2'500}}}));
  EXPECT_EQ(head_of(*log, 3'000), end);
  // A copy that begins as late has it too.
  const auto copy = open("copy.db");
  ASSERT_TRUE(copy_log(*log, *copy));
  EXPECT_EQ(chain_start(*copy)->from, ChainStart::From::cut);
  EXPECT_EQ(head_of(*copy, 3'000), end);
}

TEST_F(ChainOfLogs, NothingIsStoredWhenItIsToldToEnd) {
  MemoryLog log;
  ASSERT_TRUE(log.append(Records::run("a", 1, 5'000).list(), 0));
  EXPECT_FALSE(keep_head_at(log, 4'500, noon, "0.1.0", [](Position) { return false; }).value());
  EXPECT_TRUE(log.checkpoints()->empty());
}

/// By a build that knows of no chain, or by the retention of a topic.
TEST_F(ChainOfLogs, BeginsAnewWhereNoHeadWasKept) {
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), 0));
  const DomainsAt cut{60, {{"a", 60, 1, 60}}};
  ASSERT_TRUE(log->forget(cut));
  const auto lost = chain_start(*log).value();
  EXPECT_EQ(lost.from, ChainStart::From::lost);
  EXPECT_EQ(lost.head, evidence::genesis(60));
  const auto stored = store_at(*log, 80);
  EXPECT_EQ(stored.head.begin, 60U);
  EXPECT_EQ(stored.head.records, 80U);
  EXPECT_EQ(chain_start(*log)->from, ChainStart::From::lost);  // it can be computed from the first record on
  EXPECT_EQ(head_of(*log, 100).begin, 60U);
}

TEST_F(ChainOfLogs, GoesOnFromTheNextCheckpointWhereTheHeadAtTheCutIsMissing) {
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), 0));
  const auto end = head_of(*log, 100);
  store_at(*log, 40);
  const auto kept = store_at(*log, 80);
  ASSERT_TRUE(log->forget({60, {{"a", 60, 1, 60}}}));
  const auto start = chain_start(*log).value();
  EXPECT_EQ(start.from, ChainStart::From::checkpoint);
  EXPECT_EQ(start.at.position, 80U);
  EXPECT_EQ(start.head, kept.head);
  EXPECT_EQ(head_of(*log, 100), end);
}

// ---- files ----------------------------------------------------------------------------------------------------------------

TEST_F(ChainOfLogs, AFileWithoutCheckpointsIsReadAndGetsThem) {
  {
    const auto log = open("log.db");
    ASSERT_TRUE(log->append(Records::run("a", 1, 4).list(), 0));
    EXPECT_TRUE(log->checkpoints()->empty());
    EXPECT_FALSE(log->checkpoint_standing()->has_value());
    EXPECT_TRUE(log->drop_checkpoint(3));
  }
  EXPECT_EQ(RawSqlite(folder_.file("log.db")).integer("SELECT count(*) FROM sqlite_schema WHERE name = 'checkpoints'"), 0);
  const auto reader = open("log.db", true);
  EXPECT_TRUE(reader->checkpoints()->empty());
  Checkpoint stored;
  {
    const auto log = open("log.db");
    stored = store_at(*log, 4);
  }
  EXPECT_EQ(reader->checkpoints().value(), std::vector<Checkpoint>{stored});  // it was open before there was a table
  const auto denied = reader->put_checkpoint(stored, {});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().kind, ErrorKind::denied);
  EXPECT_EQ(RawSqlite(folder_.file("log.db")).integer("PRAGMA user_version"), 3);  // older builds go on reading it
}

TEST_F(ChainOfLogs, ADamagedRowIsNamed) {
  {
    const auto log = open("log.db");
    ASSERT_TRUE(log->append(Records::run("a", 1, 4).list(), 0));
    store_at(*log, 4);
  }
  const auto why = [&](const std::string& change) {
    test::sql(folder_.file("log.db"), change);
    const auto list = open("log.db", true)->checkpoints();
    EXPECT_FALSE(list);
    EXPECT_EQ(list.error().kind, ErrorKind::corrupt);
    const auto unreadable = open("log.db", true)->unreadable_checkpoints().value();
    EXPECT_EQ(unreadable.size(), 1U);
    EXPECT_EQ(unreadable.at(0).position, 4U);
    EXPECT_NE(list.error().message.find(unreadable.at(0).why), std::string::npos);
    return list.error().message;
  };
  EXPECT_TRUE(open("log.db", true)->unreadable_checkpoints()->empty());
  EXPECT_NE(why("UPDATE checkpoints SET hash = x'00'").find("checkpoint at position 4 is damaged: its hash has 1 bytes; allowed: 32"),
            std::string::npos);
  const auto report = open("log.db", true)->check().value();  // the made-up bytes of the records are found as well
  EXPECT_TRUE(
      std::ranges::any_of(report.findings, [](const Finding& f) { return f.what.find("its hash has 1 bytes") != std::string::npos; }));
  EXPECT_NE(why("UPDATE checkpoints SET hash = zeroblob(32), release = 'a' || char(10) || 'b'").find("release has 3 bytes"),
            std::string::npos);
  EXPECT_NE(why("UPDATE checkpoints SET release = 'a', signature = x'01'").find("signature has 1 bytes; allowed: 64"), std::string::npos);
  EXPECT_NE(why("UPDATE checkpoints SET signature = x'', chain_begin = 9").find("its chain begins behind record 9"), std::string::npos);
}

TEST_F(ChainOfLogs, MoreCheckpointsThanThereMayBeAreNotRead) {
  {
    const auto log = open("log.db");
    ASSERT_TRUE(log->append(Records::run("a", 1, 4).list(), 0));
    store_at(*log, 4);
  }
  test::sql(
      folder_.file("log.db"),
      "WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 1000003) "
      "INSERT INTO checkpoints SELECT i, chain_begin, i, hash, time_us, release, key, signature FROM n, checkpoints WHERE position = 4");
  EXPECT_EQ(open("log.db", true)->checkpoints()->size(), evidence::checkpoints_max);
  test::sql(folder_.file("log.db"),
            "INSERT INTO checkpoints SELECT 2000000, chain_begin, 2000000, hash, time_us, release, key, signature FROM checkpoints WHERE "
            "position = 4");
  const auto list = open("log.db", true)->checkpoints();
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message.find("more than 1000000 checkpoints; allowed: up to that"), std::string::npos) << list.error().message;
}

TEST_F(ChainOfLogs, CheckpointsAreWrittenBesideAppends) {
  const auto log = open("log.db");
  ASSERT_TRUE(log->append(Records::run("a", 1, 1).list(), 0));
  std::atomic<bool> ended = false;
  std::jthread writer([&] {
    for (std::uint64_t n = 2; n <= 400; ++n) EXPECT_TRUE(log->append(Records::run("a", n, 1).list(), {}));
    ended = true;
  });
  ChainWalk walk(*log, chain_start(*log).value());
  while (!ended || walk.position() < 400) {
    ASSERT_TRUE(walk.to(log->last().value()));
    ASSERT_TRUE(store_checkpoint(*log, walk, noon, "0.1.0", nullptr));
  }
  const auto list = log->checkpoints().value();
  for (const auto& checkpoint : list) EXPECT_EQ(checkpoint.head, head_of(*log, checkpoint.position));
}

// ---- copies ---------------------------------------------------------------------------------------------------------------

TEST_F(ChainOfLogs, ACopyGetsWhatItLacksAndKeepsWhatIsSigned) {
  const auto key = evidence::SigningKey::make().value();
  const auto from = open("from.db"), to = open("to.db");
  ASSERT_TRUE(from->append(Records::run("a", 1, 20).list(), 0));
  store_at(*from, 5);
  store_at(*from, 10, &key);
  EXPECT_EQ(copy_log(*from, *to)->checkpoints, 2U);
  EXPECT_EQ(to->checkpoints().value(), from->checkpoints().value());
  EXPECT_EQ(copy_log(*from, *to)->checkpoints, 0U);
  ASSERT_TRUE(from->append(Records::run("a", 21, 5).list(), 20));
  store_at(*from, 25);
  EXPECT_EQ(copy_log(*from, *to)->checkpoints, 1U);
  store_at(*from, 5, &key);  // signed since: the copy had it without
  EXPECT_EQ(copy_log(*from, *to)->checkpoints, 1U);
  EXPECT_TRUE(to->checkpoints()->front().is_signed());
}

TEST_F(ChainOfLogs, AnArchiveGoesOnWithTheChainOfALogThatIsTrimmed) {
  const auto live = open("live.db"), archive = open("archive.db");
  ASSERT_TRUE(live->append(Records::run("a", 1, 100).list(), 0));
  ASSERT_TRUE(copy_log(*live, *archive));
  EXPECT_TRUE(keep_head_at(*live, 70, noon, "0.1.0", {}).value());
  ASSERT_TRUE(live->forget({70, {{"a", 70, 1, 70}}}));
  ASSERT_TRUE(live->append(Records::run("a", 101, 50).list(), 100));
  store_at(*live, 150);
  EXPECT_EQ(copy_log(*live, *archive)->checkpoints, 2U);
  EXPECT_EQ(chain_start(*archive)->from, ChainStart::From::beginning);
  const auto list = archive->checkpoints().value();
  EXPECT_EQ(list.size(), 2U);
  for (const auto& checkpoint : list) EXPECT_EQ(checkpoint.head, head_of(*archive, checkpoint.position));
}

}  // namespace
}  // namespace hindsight::events
