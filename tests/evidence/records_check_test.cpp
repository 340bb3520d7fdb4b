// Evidence that was changed anywhere is found out, and evidence that leaves records out is proved all the same.

#include "evidence/verify/records_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/evidence/made_evidence.hpp"

namespace hindsight::evidence {
namespace {

using test::MadeLog;

RecordsReport check(const std::vector<std::string>& lines, const std::vector<Checkpoint>& checkpoints, const std::vector<PublicKey>& keys) {
  RecordsCheck check(checkpoints, keys);
  for (const auto& line : lines) {
    if (auto ok = check.take(std::string_view(line).substr(0, line.size() - 1)); !ok) {
      auto out = check.finish();
      out.failure = ok.error().message;
      return out;
    }
  }
  return check.finish();
}

class EvidenceRecords : public ::testing::Test {
 protected:
  const SigningKey key_ = test::made_key();
  const std::vector<PublicKey> keys_{key_.public_key()};
  const MadeLog log_{&key_};

  [[nodiscard]] std::string failure(const std::vector<std::string>& lines) const {
    return check(lines, log_.checkpoints, keys_).failure.value_or("none");
  }
};

TEST_F(EvidenceRecords, WholeLogIsProved) {
  std::vector<std::uint64_t> all(20);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i + 1;
  const auto r = check(log_.lines(0, 20, all), log_.checkpoints, keys_);
  EXPECT_FALSE(r.failure) << *r.failure;
  EXPECT_EQ(r.included, 20U);
  EXPECT_EQ(r.proved, 20U);
  EXPECT_EQ(r.passed, 4U);
  EXPECT_EQ(r.signers, std::vector<std::string>{keys_[0].id()});
  EXPECT_EQ(r.newest->head.records, 20U);
}

TEST_F(EvidenceRecords, AFewRecordsBetweenTwoCheckpointsAreProvedByHashesOfTheOthers) {
  const auto r = check(log_.lines(5, 15, {7, 13}), log_.checkpoints, keys_);
  EXPECT_FALSE(r.failure) << *r.failure;
  EXPECT_EQ(r.included, 2U);
  EXPECT_EQ(r.withheld, 8U);
  EXPECT_EQ(r.proved, 2U);
  EXPECT_EQ(r.first, 6U);
  EXPECT_EQ(r.last, 15U);
}

TEST_F(EvidenceRecords, SeveralSegmentsNeedNotTouch) {
  auto lines = log_.lines(0, 5, {2});
  for (const auto& line : log_.lines(10, 20, {19})) lines.push_back(line);
  const auto r = check(lines, log_.checkpoints, keys_);
  EXPECT_FALSE(r.failure) << *r.failure;
  EXPECT_EQ(r.segments, 2U);
  EXPECT_EQ(r.proved, 2U);
}

TEST_F(EvidenceRecords, WhatComesBehindTheLastCheckpointIsNotProved) {
  const auto r = check(log_.lines(5, 13, {7, 12}), log_.checkpoints, keys_);
  EXPECT_FALSE(r.failure);
  EXPECT_EQ(r.proved, 1U);
  EXPECT_EQ(r.not_covered(), 1U);
}

TEST_F(EvidenceRecords, AnUnsignedCheckpointOrOneOfAnotherKeyProvesNoFraud) {
  const auto other = test::made_key();
  for (const auto& log : {MadeLog(nullptr), MadeLog(&other)}) {
    const auto r = check(log.lines(0, 13, {7, 12}), log.checkpoints, keys_);
    EXPECT_FALSE(r.failure);
    EXPECT_EQ(r.proved, 0U);
    EXPECT_EQ(r.stored, 1U);
    EXPECT_EQ(r.not_covered(), 1U);
  }
}

TEST_F(EvidenceRecords, AFlippedBitAReplacedARemovedAnAddedAndASwappedRecordAreFound) {
  const auto good = log_.lines(5, 10, {6, 7, 8});
  const std::string leads = "the records lead to ";
  // line 0 is the start, line 2 is record 7
  auto content = log_.made[6].content();
  std::string flipped = log_.made[6].bytes;
  flipped[0] ^= 1;
  content.bytes = std::as_bytes(std::span(flipped));
  auto lines = good;
  lines[2] = record_line(7, 7, content);
  EXPECT_TRUE(failure(lines).starts_with(leads)) << failure(lines);
  for (const auto change : {0, 1, 2, 3}) {
    content = log_.made[6].content();
    if (change == 0) content.domain = "Default";
    if (change == 1) ++content.sequence;
    if (change == 2) ++content.epoch;
    if (change == 3) ++content.time.micros;
    lines[2] = record_line(7, 7, content);
    EXPECT_TRUE(failure(lines).starts_with(leads)) << change;
  }
  lines = good;
  lines[2] = record_line(7, 7, log_.made[7].content());
  lines[3] = record_line(8, 8, log_.made[6].content());
  EXPECT_TRUE(failure(lines).starts_with(leads)) << failure(lines);
  lines = good;
  lines.erase(lines.begin() + 2);
  EXPECT_EQ(failure(lines), "field \"record\" is 8; allowed: 7, the next of its segment");
  lines[2] = record_line(7, 8, log_.made[7].content());  // and the numbers made to fit
  lines[3] = withheld_line(8, Chain().content(log_.made[8].content()));
  lines[4] = withheld_line(9, Chain().content(log_.made[9].content()));
  lines.push_back(withheld_line(10, Digest{}));
  EXPECT_TRUE(failure(lines).starts_with(leads)) << failure(lines);
  lines = good;
  lines.insert(lines.begin() + 2, record_line(7, 7, log_.made[2].content()));
  EXPECT_EQ(failure(lines), "field \"record\" is 7; allowed: 8, the next of its segment");
  lines = good;
  lines[2] = withheld_line(7, Digest{});
  EXPECT_TRUE(failure(lines).starts_with(leads));
  lines = good;
  lines[0] = start_line({0, 5, Digest{}});
  EXPECT_TRUE(failure(lines).starts_with("the records lead to " + hex(Digest{})))
      << failure(lines);  // at the checkpoint of record 5 itself
}

TEST_F(EvidenceRecords, ACheckpointThatWasAlteredIsFound) {
  const auto lines = log_.lines(0, 20, {3});
  auto checkpoints = log_.checkpoints;
  checkpoints[1].head.hash[0] ^= 1;
  EXPECT_NE(check(lines, checkpoints, keys_).failure.value_or("").find("is not by key"), std::string::npos);
  checkpoints = log_.checkpoints;
  checkpoints[0].time.micros += 1;
  EXPECT_NE(check(lines, checkpoints, keys_).failure.value_or("").find("is not by key"), std::string::npos);
  checkpoints = log_.checkpoints;
  checkpoints[0].head.records = 6;  // a head at another place
  EXPECT_NE(check(lines, checkpoints, keys_).failure.value_or("").find("is not by key"), std::string::npos);
}

/// Somebody without the key recomputes the chain over other records: no signature fits then.
TEST_F(EvidenceRecords, AForgedLogIsNotProved) {
  const auto forger = test::made_key();
  MadeLog forged(&forger);
  for (auto& c : forged.checkpoints) c.key = keys_[0].id();  // and says that it was the right key
  const auto r = check(forged.lines(0, 20, {3}), forged.checkpoints, keys_);
  EXPECT_NE(r.failure.value_or("").find("is not by key"), std::string::npos);
  EXPECT_EQ(r.proved, 0U);
}

TEST_F(EvidenceRecords, SegmentsOutOfOrderAndLinesOutOfPlaceAreRefused) {
  auto lines = log_.lines(10, 15, {11});
  for (const auto& line : log_.lines(0, 5, {2})) lines.push_back(line);
  EXPECT_NE(failure(lines).find("a segment begins behind record 0 of the chain from 0, and the one before ended with record 15"),
            std::string::npos)
      << failure(lines);
  lines = log_.lines(0, 5, {2});
  lines.push_back(start_line({0, 5, Digest{}}));
  EXPECT_NE(failure(lines).find("with another hash than the one before ended with"), std::string::npos);
  lines = log_.lines(0, 5, {2});
  lines.erase(lines.begin());
  EXPECT_NE(failure(lines).find("a record before any segment begins"), std::string::npos);
  EXPECT_NE(failure({start_line({0, 0, Digest{}})}).find("with another hash than a chain begins with"), std::string::npos);
  EXPECT_EQ(check({}, log_.checkpoints, keys_).included, 0U);
}

TEST_F(EvidenceRecords, ManyCheckpointsOfOneRecordAreRefused) {
  std::vector<Checkpoint> many(checkpoints_of_a_record_max, log_.checkpoints[0]);
  EXPECT_FALSE(check(log_.lines(0, 5, {2}), many, keys_).failure);
  many.push_back(log_.checkpoints[0]);
  EXPECT_NE(
      check(log_.lines(0, 5, {2}), many, keys_).failure.value_or("").find("more than 16 checkpoints are of record 5; allowed: up to that"),
      std::string::npos);
}

TEST_F(EvidenceRecords, AChainThatBeganLaterIsAnother) {
  Chain chain(genesis(3));
  std::vector<std::string> lines{start_line(genesis(3))};
  for (std::uint64_t n = 4; n <= 6; ++n) {
    chain.add(log_.made[n - 1].content());
    lines.push_back(record_line(n, n, log_.made[n - 1].content()));
  }
  Checkpoint c{.position = 6, .head = chain.head(), .time = Time{1}, .release = "0.1.0", .key = {}, .signature = {}};
  ASSERT_TRUE(key_.sign(c));
  auto checkpoints = log_.checkpoints;  // of the chain from the beginning, passed by
  checkpoints.push_back(c);
  const auto r = check(lines, checkpoints, keys_);
  EXPECT_FALSE(r.failure) << *r.failure;
  EXPECT_EQ(r.proved, 3U);
  EXPECT_EQ(r.passed, 1U);
}

}  // namespace
}  // namespace hindsight::evidence
