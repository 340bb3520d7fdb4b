// An audit finds what was changed in a log since its checkpoints, tells where, and says what it has proved and what not.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "events/chain.hpp"
#include "events/checksum.hpp"
#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "replay/audit.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::replay {
namespace {

using events::MemoryLog;
using evidence::Checkpoint;
using evidence::SigningKey;
using test::Records;

constexpr Time afternoon{1'795'790'000'000'000};

/// One record of a made-up log, to be changed before it is put into another.
struct Plain {
  std::string domain = "a";
  std::uint64_t sequence = 0, epoch = 1;
  std::int64_t micros = 0;
  std::string bytes;
};

std::vector<Plain> hundred() {
  std::vector<Plain> out;
  for (std::uint64_t n = 1; n <= 100; ++n) out.push_back({"a", n, 1, static_cast<std::int64_t>(n), "record " + std::to_string(n)});
  return out;
}

void fill(MemoryLog& log, const std::vector<Plain>& records) {
  for (const auto& r : records) log.slip_in(Records().add(r.domain, r.sequence, r.epoch, r.micros, r.bytes).list()[0]);
}

Checkpoint add_checkpoint(events::Log& log, Position position, const SigningKey* key) {
  events::ChainWalk walk(log, events::chain_start(log).value());
  EXPECT_TRUE(walk.to(position));
  const auto stored = events::store_checkpoint(log, walk, afternoon, "0.1.0", key);
  EXPECT_TRUE(stored) << stored.error().message;
  return stored.value_or(Checkpoint{});
}

std::string all_of(const std::vector<std::string>& sentences) {
  std::string out;
  for (const auto& sentence : sentences) out += sentence + "\n";
  return out;
}

class AuditOfChain : public ::testing::Test {
 protected:
  const SigningKey key_ = SigningKey::make().value();
  MemoryLog sound_;
  std::vector<Checkpoint> checkpoints_;

  void SetUp() override {
    fill(sound_, hundred());
    for (const Position p : {20, 40, 60, 80}) checkpoints_.push_back(add_checkpoint(sound_, p, nullptr));
  }
  [[nodiscard]] AuditOptions options() const { return {.keys = {key_.public_key()}, .decisions = false}; }
  [[nodiscard]] AuditReport audited(const events::Log& log) const {
    auto report = audit(log, options());
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(AuditReport{});
  }
  /// The audit of another log that has the checkpoints of the sound one.
  [[nodiscard]] AuditReport of(const std::vector<Plain>& records) const {
    MemoryLog log;
    fill(log, records);
    for (const auto& c : checkpoints_) {
      auto there = c;
      if (auto ok = log.put_checkpoint(there, {}); !ok) ADD_FAILURE() << ok.error().message;
    }
    return audited(log);
  }
  void sign_all() {
    for (auto& c : checkpoints_) c = add_checkpoint(sound_, c.position, &key_);
  }
};

TEST_F(AuditOfChain, ASoundLogIsSoundAndUnsignedCheckpointsProveLittle) {
  const auto r = audited(sound_);
  EXPECT_TRUE(r.sound());
  EXPECT_EQ(r.last, 100U);
  EXPECT_EQ(r.head.records, 100U);
  EXPECT_EQ(r.checkpoints.compared, 4U);
  EXPECT_EQ(r.checkpoints.unsigned_, 4U);
  EXPECT_FALSE(r.signed_up_to);
  ASSERT_TRUE(r.stored_up_to);
  EXPECT_EQ(r.stored_up_to->position, 80U);
  EXPECT_NE(all_of(proved(r)).find("no accident has changed one of them since"), std::string::npos) << all_of(proved(r));
  EXPECT_NE(all_of(not_proved(r, false)).find("No checkpoint is signed: whoever can write to the log can change records"),
            std::string::npos);
  EXPECT_NE(all_of(not_proved(r, true)).find("Records 1 to 100 are not covered by a checkpoint that a named key has signed"),
            std::string::npos);
}

TEST_F(AuditOfChain, SignedCheckpointsProveWhatIsBeforeThem) {
  sign_all();
  const auto r = audited(sound_);
  EXPECT_TRUE(r.sound());
  EXPECT_EQ(r.checkpoints.good, 4U);
  ASSERT_TRUE(r.signed_up_to);
  EXPECT_EQ(r.signed_up_to->position, 80U);
  EXPECT_EQ(r.signed_up_to->key, key_.public_key().id());
  EXPECT_NE(all_of(proved(r)).find(
                "Records 1 to 80 are what they were when a checkpoint was signed at 2026-11-27T14:33:20Z: nobody without key " +
                key_.public_key().id()),
            std::string::npos)
      << all_of(proved(r));
  EXPECT_NE(all_of(not_proved(r, true)).find("Records 81 to 100 are not covered by a checkpoint that a named key has signed"),
            std::string::npos);
  // Without the key, or with another one, nobody can tell.
  AuditOptions other = options();
  other.keys = {SigningKey::make()->public_key()};
  const auto unknown = audit(sound_, other).value();
  EXPECT_TRUE(unknown.sound());
  EXPECT_EQ(unknown.checkpoints.other_keys, 4U);
  EXPECT_FALSE(unknown.signed_up_to);
}

TEST_F(AuditOfChain, FindsWhatWasChangedAndWhere) {
  const std::vector<std::pair<std::string, std::function<void(std::vector<Plain>&)>>> changes{
      {"a flipped bit", [](auto& r) { r[49].bytes[0] ^= 1; }},
      {"another record", [](auto& r) { r[49].bytes = "something else"; }},
      {"another time", [](auto& r) { r[49].micros = 7; }},
      {"swapped bytes of two records", [](auto& r) { std::swap(r[49].bytes, r[50].bytes); }}};
  for (const auto& [name, change] : changes) {
    auto records = hundred();
    change(records);
    const auto r = of(records);
    EXPECT_FALSE(r.sound()) << name;
    EXPECT_FALSE(r.chain_sound) << name;
    ASSERT_EQ(r.failures.size(), 1U) << name;
    EXPECT_EQ(r.failures[0].position, 41U) << name;
    EXPECT_EQ(
        r.failures[0].what,
        "records 41 to 60 are not those that the checkpoint at position 60 was made of: one of them was changed, removed, added or moved; "
        "those behind it, up to 80, are those of the next checkpoint")
        << name;
    EXPECT_EQ(r.stored_up_to->position, 40U) << name;
  }
}

TEST_F(AuditOfChain, FindsARemovedAndAnAddedRecord) {
  auto fewer = hundred();
  fewer.erase(fewer.begin() + 49);
  for (std::size_t i = 49; i < fewer.size(); ++i) --fewer[i].sequence;  // made to fit
  const auto removed = of(fewer);
  EXPECT_FALSE(removed.sound());
  EXPECT_EQ(removed.failures[0].position, 41U);
  auto more = hundred();
  more.insert(more.begin() + 49, {"b", 1, 1, 50, "slipped in"});
  const auto added = of(more);
  EXPECT_FALSE(added.sound());
  EXPECT_EQ(added.failures[0].position, 41U);
}

/// In the stretch behind the last checkpoint nobody can tell.
TEST_F(AuditOfChain, WhatIsBehindTheLastCheckpointIsNotCovered) {
  auto records = hundred();
  records[90].bytes = "something else";
  EXPECT_TRUE(of(records).sound());
}

TEST_F(AuditOfChain, TellsACheckpointThatWasChangedFromRecordsThatWere) {
  checkpoints_[1].head.hash[5] ^= 1;
  auto r = of(hundred());
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_EQ(r.failures[0].position, 40U);
  EXPECT_EQ(
      r.failures[0].what,
      "the checkpoint at position 40 is not what the records lead to, and the next one, at 60, is: the checkpoint was changed, and not the "
      "records");
  EXPECT_EQ(r.stored_up_to->position, 80U);
  // Of the last one nobody can tell which.
  checkpoints_[1] = add_checkpoint(sound_, 40, nullptr);
  checkpoints_[3].head.hash[5] ^= 1;
  r = of(hundred());
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_EQ(r.failures[0].what, "records 61 to 80 are not those that the checkpoint at position 80 was made of, or it was changed");
  EXPECT_EQ(r.stored_up_to->position, 60U);
}

TEST_F(AuditOfChain, ASignatureTellsThatItWasTheRecords) {
  sign_all();
  auto records = hundred();
  records[70].bytes = "something else";
  const auto r = of(records);
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_EQ(r.failures[0].position, 61U);
  EXPECT_NE(r.failures[0].what.find("records 61 to 80 are not those that the checkpoint at position 80, which key " +
                                    key_.public_key().id() + " has signed, was made of"),
            std::string::npos)
      << r.failures[0].what;
  EXPECT_EQ(r.signed_up_to->position, 60U);
}

/// Whoever can write to the log, but has no key, changes a record and computes all checkpoints anew.
TEST_F(AuditOfChain, AForgerWithoutTheKeyIsFound) {
  sign_all();
  auto records = hundred();
  records[10].bytes = "something else";
  MemoryLog forged;
  fill(forged, records);
  for (const auto& c : checkpoints_) {
    auto mine = add_checkpoint(forged, c.position, nullptr);
    mine.key = c.key;
    mine.signature = c.signature;
    ASSERT_TRUE(forged.put_checkpoint(mine, {}));
  }
  const auto r = audited(forged);
  EXPECT_FALSE(r.sound());
  EXPECT_FALSE(r.signed_up_to);
  EXPECT_NE(r.failures[0].what.find("the signature of the checkpoint at position 20 is not by key"), std::string::npos)
      << r.failures[0].what;
  // Without signatures at all he is not found, and the audit says so.
  MemoryLog bare;
  fill(bare, records);
  for (const auto& c : checkpoints_) add_checkpoint(bare, c.position, nullptr);
  const auto unsigned_ = audited(bare);
  EXPECT_TRUE(unsigned_.sound());
  EXPECT_FALSE(unsigned_.signed_up_to);
  EXPECT_NE(all_of(not_proved(unsigned_, true)).find("somebody who can write to the log could have changed them"), std::string::npos);
}

/// A head that was kept elsewhere needs no signature.
TEST_F(AuditOfChain, AHeadThatWasNotedElsewhereIsCompared) {
  const auto head = audited(sound_).head;
  auto o = options();
  o.known = {{head.records, head.hash}, {checkpoints_[0].head.records, checkpoints_[0].head.hash}, {0, evidence::genesis().hash}};
  const auto r = audit(sound_, o).value();
  EXPECT_TRUE(r.sound());
  EXPECT_EQ(r.known_up_to, 100U);
  EXPECT_NE(all_of(proved(r)).find("The records up to number 100 in the chain are those of which the head was noted elsewhere"),
            std::string::npos);

  auto records = hundred();
  records[90].bytes = "something else";
  MemoryLog changed;
  fill(changed, records);
  const auto found = audit(changed, o).value();
  EXPECT_FALSE(found.sound());
  EXPECT_NE(found.failures[0].what.find("the head that was noted of record 100 is"), std::string::npos) << found.failures[0].what;

  sound_.truncate(90);
  const auto shorter = audit(sound_, o).value();
  EXPECT_FALSE(shorter.sound());
  EXPECT_NE(shorter.failures[0].what.find("noted of record 100 cannot be compared: the chain was computed up to record 90"),
            std::string::npos)
      << shorter.failures[0].what;
}

TEST_F(AuditOfChain, RecordsThatWereCutOffAtTheEndAreMissed) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("log.db");
  {
    const auto log = events::SqliteLog::open(path, {.durability = events::Durability::off}).value();
    ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), 0));
    add_checkpoint(*log, 80, nullptr);
  }
  test::sql(path, "DELETE FROM records WHERE offset > 70; UPDATE domains SET last_sequence = 70, last_offset = 70;");
  const auto r = audited(*events::SqliteLog::open(path, {.read_only = true}).value());
  EXPECT_FALSE(r.sound());
  EXPECT_EQ(r.failures[0].position, 71U);
  EXPECT_NE(r.failures[0].what.find("the checkpoint at position 80 covers records that are not there: the log ends with 70"),
            std::string::npos)
      << r.failures[0].what;
}

/// With its checksum right a replaced record is sound for every reader but the chain.
TEST_F(AuditOfChain, ARecordOfAFileThatWasReplacedWithItsChecksumRightIsFound) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("log.db");
  {
    const auto log = events::SqliteLog::open(path, {.durability = events::Durability::off}).value();
    ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), 0));
    add_checkpoint(*log, 80, nullptr);
  }
  const auto records = Records().add("a", 33, 1, 33, "another record");
  const auto other = records.list()[0];
  events::StoredRecord stored{other, 33};
  test::RawSqlite(path).run("UPDATE records SET body = ?1, checksum = " +
                                std::to_string(static_cast<std::int64_t>(events::checksum(stored))) + " WHERE offset = 33",
                            {other.bytes});
  const auto log = events::SqliteLog::open(path, {.read_only = true}).value();
  events::RecordBatch batch;
  ASSERT_TRUE(log->read(33, {.records = 1}, batch));
  const auto r = audited(*log);
  EXPECT_FALSE(r.sound());
  EXPECT_EQ(r.failures[0].position, 1U);
  // Without the checksum put right, the reader finds it by itself.
  test::sql(path, "UPDATE records SET body = x'00' WHERE offset = 33");
  const auto damaged = audited(*events::SqliteLog::open(path, {.read_only = true}).value());
  EXPECT_FALSE(damaged.sound());
  EXPECT_EQ(damaged.failures[0].position, 33U);
  EXPECT_NE(damaged.failures[0].what.find("record 33 is damaged: its checksum does not match"), std::string::npos)
      << damaged.failures[0].what;
  EXPECT_EQ(damaged.checkpoints.not_reached, 1U);
}

TEST_F(AuditOfChain, EndsWhereItIsToldTo) {
  auto o = options();
  o.to = 50;
  const auto r = audit(sound_, o).value();
  EXPECT_TRUE(r.sound());
  EXPECT_EQ(r.last, 50U);
  EXPECT_EQ(r.checkpoints.compared, 2U);
  EXPECT_EQ(r.checkpoints.not_reached, 2U);
}

TEST_F(AuditOfChain, AnEmptyLogAndOneWithoutCheckpointsAreSound) {
  const auto empty = audited(MemoryLog());
  EXPECT_TRUE(empty.sound());
  EXPECT_EQ(empty.last, 0U);
  EXPECT_EQ(empty.head, evidence::genesis());
  MemoryLog bare;
  fill(bare, hundred());
  const auto r = audited(bare);
  EXPECT_TRUE(r.sound());
  EXPECT_NE(all_of(not_proved(r, true)).find("There is no checkpoint to compare with: only from the next one on a change can be found"),
            std::string::npos);
  EXPECT_TRUE(proved(r).empty()) << all_of(proved(r));
}

TEST_F(AuditOfChain, ATrimmedLogIsCoveredFromItsCutOn) {
  const test::TemporaryFolder folder;
  const auto log = events::SqliteLog::open(folder.file("log.db"), {.durability = events::Durability::off}).value();
  ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), 0));
  add_checkpoint(*log, 30, &key_);
  add_checkpoint(*log, 90, &key_);
  ASSERT_TRUE(events::keep_head_at(*log, 50, afternoon, "0.1.0", {}).value());
  ASSERT_TRUE(log->forget({50, {{"a", 50, 1, 50}}}));
  const auto r = audited(*log);
  EXPECT_TRUE(r.sound());
  EXPECT_EQ(r.first, 51U);
  EXPECT_EQ(r.from, events::ChainStart::From::cut);
  EXPECT_EQ(r.checkpoints.before, 1U);
  EXPECT_EQ(r.checkpoints.compared, 1U);
  EXPECT_EQ(r.signed_up_to->position, 90U);
  EXPECT_NE(all_of(proved(r)).find("Records 51 to 90 are what they were"), std::string::npos) << all_of(proved(r));
  EXPECT_NE(all_of(not_proved(r, true)).find("Records before 51 are gone: only what was kept of the chain names them"), std::string::npos);
  // The head at the cut is bound by the signed checkpoint behind it.
  auto altered = log->checkpoints()->at(1);
  ASSERT_EQ(altered.position, 50U);
  altered.head.hash[0] ^= 1;
  ASSERT_TRUE(log->put_checkpoint(altered, {}));
  EXPECT_FALSE(audited(*log).sound());
}

TEST_F(AuditOfChain, ALogWithoutTheHeadAtItsCutIsCoveredFromTheNextCheckpointOn) {
  const test::TemporaryFolder folder;
  const auto log = events::SqliteLog::open(folder.file("log.db"), {.durability = events::Durability::off}).value();
  ASSERT_TRUE(log->append(Records::run("a", 1, 100).list(), 0));
  add_checkpoint(*log, 70, &key_);
  add_checkpoint(*log, 90, &key_);
  ASSERT_TRUE(log->forget({50, {{"a", 50, 1, 50}}}));
  const auto r = audited(*log);
  EXPECT_TRUE(r.sound());
  EXPECT_EQ(r.from, events::ChainStart::From::checkpoint);
  EXPECT_EQ(r.chain_from, 70U);
  EXPECT_NE(all_of(proved(r)).find("Records 71 to 90 are what they were"), std::string::npos) << all_of(proved(r));
  EXPECT_NE(all_of(not_proved(r, true)).find("Records 51 to 70 are not covered: the head of the chain before them was not kept"),
            std::string::npos)
      << all_of(not_proved(r, true));
}

/// The end of the log is as far as it is known when the audit begins: a checkpoint that is stored meanwhile is no lie about its length.
TEST_F(AuditOfChain, ALogThatIsBeingWrittenIsSound) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("log.db");
  const auto log = events::SqliteLog::open(path, {.durability = events::Durability::off}).value();
  ASSERT_TRUE(log->append(Records::run("a", 1, 3'000).list(), 0));
  add_checkpoint(*log, 2'000, &key_);
  const auto reader = events::SqliteLog::open(path, {.read_only = true}).value();
  auto o = options();
  std::uint64_t next = 3'001;
  o.progress = [&](const std::string&, std::uint64_t, std::uint64_t) {
    ASSERT_TRUE(log->append(Records::run("a", next, 10).list(), {}));
    next += 10;
    add_checkpoint(*log, next - 1, nullptr);
  };
  const auto r = audit(*reader, o).value();
  EXPECT_TRUE(r.sound()) << r.failures[0].what;
  EXPECT_EQ(r.last, 3'000U);
  EXPECT_GT(next, 3'001U);
}

TEST_F(AuditOfChain, ManyFailuresAreCountedAndTheFirstAreTold) {
  MemoryLog log;
  fill(log, hundred());
  for (Position p = 1; p <= 100; ++p) {
    auto c = add_checkpoint(log, p, nullptr);
    c.head.hash[0] ^= static_cast<std::uint8_t>(p);
    ASSERT_TRUE(log.put_checkpoint(c, {}));
  }
  const auto r = audited(log);
  EXPECT_EQ(r.failures.size(), audit_failures_max);
  EXPECT_EQ(r.failed, 100U);
}

}  // namespace
}  // namespace hindsight::replay
