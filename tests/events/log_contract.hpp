#pragma once

// What every log must do, as one set of typed tests: LogContract<Maker>, where Maker makes an empty log.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "events/chain.hpp"
#include "events/quarantine.hpp"
#include "events/record.hpp"
#include "tests/events/log_records.hpp"

namespace hindsight::test {

/// A record that says of the one with sequence `bad`, at `position`, that it is passed over.
inline Records set_aside(const std::string& domain, std::uint64_t sequence, std::uint64_t bad, events::Position position) {
  RecordView view;
  view.envelope = {domain, sequence, 1, Time{0}, 0};
  view.body = Observation(RecordQuarantined{bad, position, "somebody", "1.0", "a test"});
  const auto bytes = events::encode(view);
  return Records().add(domain, sequence, 1, 0, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

template <class Maker>
class LogContract : public testing::Test {
 protected:
  Maker maker_;
  std::unique_ptr<events::Log> log_ = maker_.make();

  events::Position append(const Records& records, std::optional<events::Position> expected = {}) {
    const auto result = log_->append(records.list(), expected);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return result.value_or(0);
  }
  std::string error_of_append(const Records& records, std::optional<events::Position> expected, ErrorKind kind) {
    const auto result = log_->append(records.list(), expected);
    if (result) return "no error";
    EXPECT_EQ(result.error().kind, kind) << result.error().message;
    return result.error().message;
  }
};

TYPED_TEST_SUITE_P(LogContract);

TYPED_TEST_P(LogContract, gives_back_what_was_appended_in_one_order) {
  EXPECT_EQ(this->log_->last().value(), 0u);
  EXPECT_EQ(this->append(Records().add("a", 1, 1, 10).add("b", 1, 1, 11), 0), 2u);
  EXPECT_EQ(this->append(Records().add("a", 2, 1, 12), 2), 3u);
  EXPECT_EQ(this->log_->last().value(), 3u);
  EXPECT_EQ(read_all(*this->log_), (std::vector<std::string>{"1 a 1 e1 t10 a#1", "2 b 1 e1 t11 b#1", "3 a 2 e1 t12 a#2"}));
  EXPECT_EQ(read_all(*this->log_, 0).size(), 3u);
  EXPECT_EQ(read_all(*this->log_, 3), (std::vector<std::string>{"3 a 2 e1 t12 a#2"}));
  EXPECT_EQ(read_all(*this->log_, 4), std::vector<std::string>{});
  EXPECT_EQ(this->append(Records()), 3u);
}

TYPED_TEST_P(LogContract, refuses_a_wrong_expected_position_and_names_both) {
  this->append(Records::run("a", 1, 5));
  const auto message = this->error_of_append(Records().add("a", 6), 4, ErrorKind::conflict);
  EXPECT_NE(message.find("its last record is 5, the writer expected 4"), std::string::npos) << message;
  EXPECT_EQ(this->log_->last().value(), 5u);
  EXPECT_EQ(this->append(Records().add("a", 6), 5), 6u);
}

TYPED_TEST_P(LogContract, refuses_sequences_that_do_not_count_on) {
  this->append(Records::run("a", 1, 2));
  for (const std::uint64_t wrong : {1, 2, 4}) {
    const auto message = this->error_of_append(Records().add("a", wrong), {}, ErrorKind::conflict);
    EXPECT_NE(message.find("record of domain \"a\": sequence is " + std::to_string(wrong) + ", expected 3"), std::string::npos) << message;
  }
  const auto message = this->error_of_append(Records().add("a", 3).add("b", 1).add("a", 5), {}, ErrorKind::conflict);
  EXPECT_NE(message.find("sequence is 5, expected 4"), std::string::npos) << message;
  EXPECT_EQ(this->log_->last().value(), 2u);  // all or none
}

TYPED_TEST_P(LogContract, refuses_an_epoch_that_falls) {
  this->append(Records().add("a", 1, 5));
  const auto message = this->error_of_append(Records().add("a", 2, 4), {}, ErrorKind::conflict);
  EXPECT_NE(message.find("epoch is 4, expected 5 or later"), std::string::npos) << message;
  this->append(Records().add("b", 1, 1).add("a", 2, 5).add("a", 3, 6));
}

TYPED_TEST_P(LogContract, refuses_empty_records) {
  const events::EncodedRecord empty{"a", 1, 1, Time{1}, {}};
  const auto result = this->log_->append(std::span(&empty, 1), {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid);
}

TYPED_TEST_P(LogContract, keeps_to_the_limits_of_a_read) {
  Records records;
  for (std::uint64_t i = 1; i <= 10; ++i) records.add("a", i, 1, 0, std::string(100, static_cast<char>('a' + i)));
  this->append(records);
  events::RecordBatch batch;
  // The latest records may be on their way, one by one; a read that gives too many fails at once.
  const auto until = [&](const events::ReadLimits& limits, std::size_t least, std::size_t most) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      ASSERT_TRUE(this->log_->read(1, limits, batch).has_value());
      ASSERT_GE(batch.size(), 1u);
      ASSERT_LE(batch.size(), most);
    } while (batch.size() < least && std::chrono::steady_clock::now() < deadline);
    EXPECT_GE(batch.size(), least);
  };
  until({.records = 3}, 3, 3);
  until({.records = 100, .bytes = 350}, 2, 3);
  ASSERT_TRUE(this->log_->read(5, {.records = 100, .bytes = 1}, batch).has_value());
  ASSERT_EQ(batch.size(), 1u);  // one record is given even if it is longer
  EXPECT_EQ(batch[0].offset, 5u);
  EXPECT_EQ(read_all(*this->log_, 1, {.records = 3}), read_all(*this->log_));
  EXPECT_EQ(read_all(*this->log_, 1, {.records = 100, .bytes = 1}), read_all(*this->log_));
}

TYPED_TEST_P(LogContract, seeks_the_first_record_at_or_after_a_time) {
  // Time may step back: what counts is the first record that is late enough.
  this->append(Records().add("a", 1, 1, 100).add("a", 2, 1, 200).add("a", 3, 1, 150).add("a", 4, 1, 300));
  EXPECT_EQ(this->log_->seek(Time{0}).value(), 1u);
  EXPECT_EQ(this->log_->seek(Time{100}).value(), 1u);
  EXPECT_EQ(this->log_->seek(Time{101}).value(), 2u);
  EXPECT_EQ(this->log_->seek(Time{160}).value(), 2u);
  EXPECT_EQ(this->log_->seek(Time{201}).value(), 4u);
  EXPECT_EQ(this->log_->seek(Time{301}).value(), 5u);
}

TYPED_TEST_P(LogContract, seeks_in_a_long_log) {
  for (std::uint64_t first = 1; first <= 5000; first += 500) this->append(Records::run("a", first, 500));
  for (const std::int64_t time : {1, 2, 999, 1000, 1001, 1024, 1025, 2047, 2048, 2049, 4999, 5000}) {
    EXPECT_EQ(this->log_->seek(Time{time}).value(), static_cast<events::Position>(time)) << time;
  }
  EXPECT_EQ(this->log_->seek(Time{5001}).value(), 5001u);
  EXPECT_EQ(this->log_->seek(Time{-1}).value(), 1u);
}

TYPED_TEST_P(LogContract, knows_the_last_record_of_each_domain) {
  this->append(Records().add("b", 1, 1).add("a", 1, 2).add("b", 2, 3));
  const std::vector<events::DomainTail> expected{{"a", 1, 2, 2}, {"b", 2, 3, 3}};
  EXPECT_EQ(this->log_->domains().value(), expected);
}

TYPED_TEST_P(LogContract, wakes_who_waits_for_records) {
  EXPECT_EQ(this->log_->wait_beyond(0, Duration::millis(1)).value(), 0u);
  this->append(Records().add("a", 1));
  EXPECT_EQ(this->log_->wait_beyond(0, Duration::seconds(60)).value(), 1u);
  events::Position seen = 0;
  {
    std::jthread waiter([&] { seen = this->log_->wait_beyond(1, Duration::seconds(60)).value(); });
    this->append(Records().add("a", 2));
  }
  EXPECT_EQ(seen, 2u);
}

TYPED_TEST_P(LogContract, takes_batches_without_waiting_in_the_order_of_the_calls) {
  constexpr int batches = 50;
  std::latch done(batches);
  std::vector<events::Position> positions(batches);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    this->log_->append_async(Records::run("a", 2 * i + 1, 2).batch(), events::Position{2 * i},
                             [&, i](const Result<events::Position>& result) {
                               positions[i] = result.value_or(0);
                               done.count_down();
                             });
  }
  done.wait();
  for (std::size_t i = 0; i < batches; ++i) EXPECT_EQ(positions[i], 2 * i + 2);
  EXPECT_EQ(read_all(*this->log_).size(), 100u);
}

TYPED_TEST_P(LogContract, keeps_the_order_of_a_caller_who_waits_now_and_then) {
  std::vector<events::Position> waited;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t first = 5 * i + 1;
    this->log_->append_async(Records::run("a", first, 2).batch(), events::Position{first - 1}, [](const auto&) {});
    this->log_->append_async(Records::run("a", first + 2, 1).batch(), {}, [](const auto&) {});
    for (std::uint64_t alone = first + 3; alone < first + 5; ++alone)
      waited.push_back(this->log_->append(Records().add("a", alone).list(), events::Position{alone - 1}).value_or(0));
  }
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(waited[2 * i], 5 * i + 4);
    EXPECT_EQ(waited[2 * i + 1], 5 * i + 5);
  }
  EXPECT_EQ(read_all(*this->log_).size(), 250u);
}

TYPED_TEST_P(LogContract, fails_one_of_many_callers_without_harm_to_the_others) {
  std::vector<std::jthread> threads;
  std::atomic<int> conflicts = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string domain = "d" + std::to_string(t);
      for (std::uint64_t i = 1; i <= 50; ++i) {
        EXPECT_TRUE(this->log_->append(Records().add(domain, i).list(), {}).has_value());
        const auto wrong = this->log_->append(Records().add(domain, i).list(), {});  // again: its sequence is taken
        if (!wrong && wrong.error().kind == ErrorKind::conflict) ++conflicts;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(conflicts, 200);
  EXPECT_EQ(this->log_->last().value(), 200u);
  const auto tails = this->log_->domains().value();
  for (const auto& tail : tails) EXPECT_EQ(tail.sequence, 50u);
}

TYPED_TEST_P(LogContract, keeps_snapshots_newest_first) {
  this->append(Records::run("a", 1, 10));
  const auto bytes = [](const std::string& s) {
    const auto span = std::as_bytes(std::span(s));
    return std::vector<std::byte>(span.begin(), span.end());
  };
  const events::SnapshotMeta early{4, 1, Time{40}, 1, 0xFFFFFFFFFFFFFFFFULL, "0.1.0"};
  const events::SnapshotMeta late{9, 2, Time{90}, 1, 7, "0.1.1"};
  EXPECT_EQ(this->log_->snapshots().value().size(), 0u);
  ASSERT_TRUE(this->log_->put_snapshot(late, bytes("old")).has_value());
  ASSERT_TRUE(this->log_->put_snapshot(early, bytes("early")).has_value());
  ASSERT_TRUE(this->log_->put_snapshot(late, bytes("late")).has_value());  // in place of the other
  EXPECT_EQ(this->log_->snapshots().value(), (std::vector{late, early}));
  const auto stored = this->log_->snapshot(9, "");
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_EQ(stored->meta, late);
  EXPECT_EQ(stored->bytes, bytes("late"));
  EXPECT_EQ(this->log_->snapshot(5, "").error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->log_->put_snapshot({.position = 11}, bytes("x")).error().kind, ErrorKind::invalid);
  ASSERT_TRUE(this->log_->drop_snapshot(9, "").has_value());
  ASSERT_TRUE(this->log_->drop_snapshot(9, "").has_value());
  EXPECT_EQ(this->log_->snapshots().value(), std::vector{early});
}

// Domains that share a log have snapshots of their own, also at one position.
TYPED_TEST_P(LogContract, keeps_snapshots_of_several_domains) {
  this->append(Records::run("a", 1, 10));
  const auto bytes = [](std::string_view s) { return std::as_bytes(std::span(s)); };
  const auto meta = [](events::Position position, const char* domain) {
    return events::SnapshotMeta{position, 1, Time{40}, 1, 7, "0.1.0", domain};
  };
  for (const auto& [position, domain] : {std::pair{events::Position{9}, "prod/b"}, {9, "prod/a"}, {4, "prod/a"}, {9, ""}})
    ASSERT_TRUE(this->log_->put_snapshot(meta(position, domain), bytes(domain)).has_value());
  const auto stored = this->log_->snapshot(9, "prod/b");
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_EQ(stored->meta, meta(9, "prod/b"));
  EXPECT_EQ(stored->bytes.size(), 6u);
  EXPECT_EQ(this->log_->snapshot(4, "prod/b").error().kind, ErrorKind::not_found);
  ASSERT_TRUE(this->log_->drop_snapshot(9, "prod/a").has_value());
  auto left = this->log_->snapshots().value();
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left.back(), meta(4, "prod/a"));
  EXPECT_TRUE(this->log_->snapshot(9, "").has_value());
  EXPECT_TRUE(this->log_->snapshot(9, "prod/b").has_value());
}

/// A record that says of another that it is passed over: whoever opens the log knows before it reads on.
TYPED_TEST_P(LogContract, knows_which_records_were_set_aside) {
  EXPECT_TRUE(this->log_->quarantined().value().empty());
  this->append(Records::run("a", 1, 3));
  this->append(Records::run("b", 1, 3));
  EXPECT_TRUE(this->log_->quarantined().value().empty());
  this->append(set_aside("b", 4, 2, 5).add("a", 4));
  EXPECT_EQ(this->log_->quarantined().value(), (std::vector<events::QuarantinedRecord>{{"b", 2, 5}}));
  this->append(set_aside("a", 5, 1, 1));
  EXPECT_EQ(this->log_->quarantined().value(), (std::vector<events::QuarantinedRecord>{{"a", 1, 1}, {"b", 2, 5}}));
  EXPECT_EQ(events::passed_over(*this->log_, "a").value(), std::set<std::uint64_t>{1});
  EXPECT_TRUE(events::passed_over(*this->log_, "c").value().empty());
}

TYPED_TEST_P(LogContract, says_of_a_record_twice_that_it_is_set_aside) {
  this->append(Records::run("a", 1, 3));
  this->append(set_aside("a", 4, 2, 2));
  this->append(set_aside("a", 5, 2, 2));
  EXPECT_EQ(this->log_->quarantined().value(), (std::vector<events::QuarantinedRecord>{{"a", 2, 2}}));
}

/// Checkpoints of the chain over the records (events/chain.hpp).
TYPED_TEST_P(LogContract, keeps_checkpoints_oldest_first) {
  events::Log& log = *this->log_;
  EXPECT_TRUE(log.checkpoints().value().empty());
  this->append(Records::run("a", 1, 4));
  this->append(Records().add("b", 1, 3).add("a", 5));
  const auto key = evidence::SigningKey::make().value();
  std::map<events::Position, evidence::Checkpoint> stored;
  const auto store = [&](events::Position position, const evidence::SigningKey* with) {
    events::ChainWalk walk(log, events::chain_start(log).value());
    ASSERT_TRUE(walk.to(position));
    const auto done = events::store_checkpoint(log, walk, Time{1'795'788'000'000'000}, "0.1.0", with);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    stored[position] = *done;
  };
  store(6, &key);
  store(2, nullptr);
  store(4, nullptr);
  store(4, &key);  // in place of the one before
  const auto list = log.checkpoints().value();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], stored[2]);
  EXPECT_EQ(list[1], stored[4]);
  EXPECT_EQ(list[2], stored[6]);
  EXPECT_TRUE(key.public_key().verifies(list[1]));
  EXPECT_TRUE(key.public_key().verifies(list[2]));
  EXPECT_TRUE(log.drop_checkpoint(4));
  EXPECT_TRUE(log.drop_checkpoint(3));
  EXPECT_EQ(log.checkpoints().value().size(), 2u);
  // Whoever goes on from the newest one comes to the same chain.
  this->append(Records().add("b", 2, 3).add("a", 6));
  const auto start = events::chain_resume(log, &key.public_key()).value();
  EXPECT_EQ(start.at.position, 6u);
  events::ChainWalk resumed(log, start), whole(log, events::chain_start(log).value());
  ASSERT_TRUE(resumed.to(8));
  ASSERT_TRUE(whole.to(8));
  EXPECT_EQ(resumed.head(), whole.head());
  EXPECT_EQ(whole.head().records, 8u);
}

TYPED_TEST_P(LogContract, refuses_checkpoints_that_there_cannot_be) {
  this->append(Records::run("a", 1, 3));
  evidence::Checkpoint c{.position = 4, .head = {0, 4, {}}, .time = Time{1}, .release = "0.1.0", .key = {}, .signature = {}};
  const auto beyond = this->log_->put_checkpoint(c, {});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, ErrorKind::invalid);
  EXPECT_NE(beyond.error().message.find("checkpoint at position 4, but the last record is 3"), std::string::npos) << beyond.error().message;
  c.position = 3;
  c.release = "two words";
  const auto odd = this->log_->put_checkpoint(c, {});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, ErrorKind::invalid);
  EXPECT_TRUE(this->log_->checkpoints().value().empty());
}

REGISTER_TYPED_TEST_SUITE_P(LogContract, gives_back_what_was_appended_in_one_order, refuses_a_wrong_expected_position_and_names_both,
                            refuses_sequences_that_do_not_count_on, refuses_an_epoch_that_falls, refuses_empty_records,
                            keeps_to_the_limits_of_a_read, seeks_the_first_record_at_or_after_a_time, seeks_in_a_long_log,
                            knows_the_last_record_of_each_domain, wakes_who_waits_for_records,
                            takes_batches_without_waiting_in_the_order_of_the_calls, keeps_the_order_of_a_caller_who_waits_now_and_then,
                            fails_one_of_many_callers_without_harm_to_the_others, keeps_snapshots_newest_first,
                            keeps_snapshots_of_several_domains, knows_which_records_were_set_aside,
                            says_of_a_record_twice_that_it_is_set_aside, keeps_checkpoints_oldest_first,
                            refuses_checkpoints_that_there_cannot_be);

}  // namespace hindsight::test
