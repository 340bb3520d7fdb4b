// Nodes that own partitions in which several domains lie.

#include "runtime/partition_owner.hpp"

#include <algorithm>
#include <chrono>
#include <latch>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "events/memory_log.hpp"
#include "events/settings.hpp"
#include "events/sqlite_log.hpp"
#include "tests/actors/facts.hpp"
#include "tests/cli/within_seconds.hpp"
#include "tests/events/log_handle.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::runtime {
namespace {

using hindsight::test::TemporaryFolder;
using hindsight::test::within_seconds;
using hindsight::testing::LogWorld;

class PartitionOwnerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<events::Log> open(bool read_only = false) const {
    auto log = events::SqliteLog::open(path_, {.read_only = read_only});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }

  /// As an owner opens it: a log that does not open is the owner's to tell of.
  [[nodiscard]] Result<std::unique_ptr<events::Log>> open_for_owner() const {
    auto log = events::SqliteLog::open(path_, {});
    if (!log) return tl::unexpected(log.error());
    return std::move(*log);
  }

  /// Runs an owner until it leads in these domains and each has a snapshot; their positions then. Empty: it took too long.
  std::map<std::string, events::Position> lead_all(const std::vector<std::string>& domains) {
    PartitionOwner::Options options;
    options.open = [this](std::int32_t) { return open_for_owner(); };
    options.writer = "owner-" + std::to_string(++owners_);
    options.look = std::chrono::milliseconds(20);
    options.on_notice = [](const std::string& text) { ::testing::Test::RecordProperty("notice", text); };
    options.snapshots = {.records = 20, .interval = {}};
    PartitionOwner owner(std::move(options));
    owner.own({0});
    for (int tries = 0; tries < 1000; ++tries) {
      std::map<std::string, events::Position> out;
      for (const auto& d : owner.domains())
        if (d.status.caught_up && d.status.error.empty()) out.emplace(d.name, d.status.position);
      if (out.size() == domains.size() && have_snapshots(domains)) return out;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
  }

  [[nodiscard]] bool have_snapshots(const std::vector<std::string>& domains) const {
    const auto log = open(true);
    return log != nullptr && std::ranges::none_of(domains, [&](const auto& d) { return replay::snapshots_of(*log, d).value().empty(); });
  }

  void sql(const std::string& text) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
  int owners_ = 0;
};

// Two domains in a partition: each gets snapshots of its own, and the next owner needs no record from before them.
TEST_F(PartitionOwnerTest, DomainsThatShareAPartitionBeginAtTheirOwnSnapshots) {
  {
    const auto log = open();
    ASSERT_NE(log, nullptr);
    LogWorld a(*log, "prod/a");
    LogWorld b(*log, "prod/b");
    for (LogWorld* world : {&a, &b}) world->set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
    for (int i = 0; i < 10; ++i) {
      for (LogWorld* world : {&a, &b}) {
        world->submit({.name = "w" + std::to_string(i)});
        world->settle();
        world->confirm();
        world->tick(Duration::millis(700));
        world->flush();
      }
    }
  }
  const std::vector<std::string> domains{"prod/a", "prod/b"};
  ASSERT_EQ(lead_all(domains).size(), 2U);
  events::Position oldest = 0;
  {
    const auto log = open(true);
    const auto last = log->last().value();
    oldest = last;
    for (const auto& domain : domains) {
      const auto snapshots = replay::snapshots_of(*log, domain).value();
      ASSERT_FALSE(snapshots.empty()) << domain;
      EXPECT_EQ(snapshots.front().domain, domain);
      oldest = std::min(oldest, snapshots.front().position);
    }
    ASSERT_GT(oldest, 1U);
  }
  // The log's last record stays even where both snapshots cover it: without it the file would say less than its own table of domains.
  sql("DELETE FROM records WHERE offset <= " + std::to_string(oldest) + " AND offset < (SELECT max(offset) FROM records)");
  const auto again = lead_all(domains);
  ASSERT_EQ(again.size(), 2U) << "somebody wanted a record from before the snapshots";
  for (const auto& [domain, position] : again) EXPECT_GT(position, oldest) << domain;
}

// What is older than it is to be kept goes while the domain is being decided, and the next owner goes on from what is left.
TEST_F(PartitionOwnerTest, ForgetsWhatNeedNotBeKept) {
  {
    const auto log = open();
    ASSERT_NE(log, nullptr);
    LogWorld w(*log, "prod/a");
    w.set_up({{.name = "team", .quotas = {{.nominal = 4000}}}});
    w.submit({.name = "old"});
    w.settle();
    w.confirm();
    w.flush();
  }
  {
    PartitionOwner::Options options;
    options.open = [this](std::int32_t) { return open_for_owner(); };
    options.writer = "forgetful";
    options.look = std::chrono::milliseconds(20);
    options.on_notice = [](const std::string&) {};
    options.keep_history = Duration::seconds(1);
    PartitionOwner owner(std::move(options));
    owner.own({0});
    const auto forgotten = [&] {
      const auto log = open(true);
      return log != nullptr && log->first().value() > 1;
    };
    EXPECT_TRUE(within_seconds(60, forgotten));
    ASSERT_EQ(owner.domains().size(), 1U);
    EXPECT_EQ(owner.domains()[0].status.error, "");
  }
  EXPECT_EQ(lead_all({"prod/a"}).size(), 1U);
}

/// Owners of a partition that all of them can write to, and a connector that observes.
class PartitionHandedOver : public ::testing::Test {
 protected:
  void SetUp() override {
    actors::NodeOptions options;
    options.domain = "prod";
    options.role = actors::Role::connector;
    options.settings_reader = [](Text json) { return events::read_settings(json); };
    auto started = actors::Node::start(*log_, std::move(options));
    ASSERT_TRUE(started) << started.error().message;
    connector_ = std::move(*started);
    for (const auto& o : {facts_.flavor(), facts_.namespace_(), facts_.queue("cq", 100'000), facts_.local_queue("lq", "cq")})
      ASSERT_TRUE(connector_->observe_and_wait(o));
    ASSERT_TRUE(connector_->observe_and_wait(MirrorSynced{}));
  }
  PartitionOwner::Options options(const std::string& writer) {
    PartitionOwner::Options out;
    out.open = [this](std::int32_t) -> Result<std::unique_ptr<events::Log>> { return std::make_unique<test::LogHandle>(log_); };
    out.writer = writer;
    out.look = std::chrono::milliseconds(5);
    out.on_notice = [](const std::string&) {};
    return out;
  }
  /// The epoch in which the owner decides; 0: it does not.
  static std::uint64_t epoch_of(const PartitionOwner& owner) {
    const auto domains = owner.domains();
    return domains.size() == 1 && domains[0].status.caught_up && domains[0].status.error.empty() ? domains[0].status.epoch : 0;
  }
  /// A Workload arrives; true when it was admitted in this epoch.
  bool admits(std::uint64_t epoch) {
    const auto before = log_->last().value();
    if (!connector_->observe_and_wait(facts_.workload("w" + std::to_string(++workloads_), "lq", 1'000))) return false;
    return within_seconds(20, [&] {
      events::RecordBatch batch;
      if (!log_->read(before + 1, {}, batch)) return false;
      bool decided = false;
      for (const auto& record : batch) decided = decided || record.epoch == epoch;
      return decided;
    });
  }

  std::shared_ptr<events::MemoryLog> log_ = std::make_shared<events::MemoryLog>();
  actors::testing::Facts facts_;
  std::unique_ptr<actors::Node> connector_;
  int workloads_ = 0;
};

// While the next owner folds the log the one before decides on, and it ends when it has read the other's epoch.
TEST_F(PartitionHandedOver, ItIsDecidedUntilTheNextOwnerBegins) {
  PartitionOwner first(options("first"));
  first.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(first) == 1; }));
  std::latch folds(1);
  auto late = options("second");
  late.open = [this, &folds](std::int32_t) -> Result<std::unique_ptr<events::Log>> {
    folds.wait();
    return std::make_unique<test::LogHandle>(log_);
  };
  PartitionOwner second(std::move(late));
  second.own({0});
  EXPECT_FALSE(first.hand_over(std::chrono::milliseconds(50)));
  EXPECT_TRUE(admits(1)) << "it is another's, who has not begun";
  EXPECT_TRUE(first.standing().open.empty());
  folds.count_down();
  EXPECT_TRUE(first.hand_over(std::chrono::seconds(20)));
  EXPECT_TRUE(first.domains().empty());
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(second) == 2; }));
  EXPECT_TRUE(admits(2));
}

TEST_F(PartitionHandedOver, ItIsNotKeptForEver) {
  auto o = options("first");
  o.linger = std::chrono::milliseconds(100);
  PartitionOwner first(std::move(o));
  first.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(first) == 1; }));
  EXPECT_TRUE(first.hand_over(std::chrono::seconds(20)));
  EXPECT_TRUE(first.domains().empty());
}

TEST_F(PartitionHandedOver, OneThatComesBackIsDecidedOn) {
  PartitionOwner first(options("first"));
  first.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(first) == 1; }));
  EXPECT_FALSE(first.hand_over(std::chrono::milliseconds(50)));
  first.own({0});
  EXPECT_TRUE(within_seconds(20, [&] { return first.standing().open == std::vector<std::int32_t>{0}; }));
  EXPECT_TRUE(admits(1)) << "without another epoch";
}

// The one that stands by has read all when it is asked: it begins at once, and the one before follows it from then on.
TEST_F(PartitionHandedOver, OneThatStandsByTakesItAndBack) {
  auto followed = [&](const std::string& writer) {
    auto o = options(writer);
    o.standby = {0};
    return o;
  };
  PartitionOwner first(followed("first"));
  PartitionOwner second(followed("second"));
  first.own({0});
  const auto stands_by = [](const PartitionOwner& owner) { return owner.standby().domains == 1 && owner.standby().ready == 1; };
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(first) == 1 && stands_by(second); }));
  EXPECT_EQ(first.standby().domains, 0U);
  EXPECT_TRUE(second.domains().empty());
  EXPECT_TRUE(second.standing().open.empty());
  EXPECT_TRUE(admits(1));

  first.own({});
  second.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(second) == 2 && stands_by(first); }));
  EXPECT_TRUE(admits(2));
  EXPECT_EQ(second.standby().domains, 0U);

  second.own({});
  first.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(first) == 3; }));
  EXPECT_TRUE(admits(3));
}

TEST_F(PartitionHandedOver, OneThatStandsByEndsAtOnce) {
  auto o = options("first");
  o.standby = {0};
  PartitionOwner first(std::move(o));
  ASSERT_TRUE(within_seconds(20, [&] { return first.standby().ready == 1; }));
  EXPECT_TRUE(first.hand_over(std::chrono::seconds(20)));
  EXPECT_EQ(first.standby().domains, 0U);
}

// A domain that appears while the partition is followed is followed as well.
TEST_F(PartitionHandedOver, ADomainThatAppearsIsFollowed) {
  auto o = options("first");
  o.standby = {0};
  PartitionOwner first(std::move(o));
  ASSERT_TRUE(within_seconds(20, [&] { return first.standby().ready == 1; }));
  actors::NodeOptions other;
  other.domain = "stage";
  other.role = actors::Role::connector;
  other.settings_reader = [](Text json) { return events::read_settings(json); };
  const auto started = actors::Node::start(*log_, std::move(other));
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_TRUE((*started)->observe_and_wait(facts_.flavor()));
  EXPECT_TRUE(within_seconds(20, [&] { return first.standby().ready == 2; }));
}

// It must not take the domain from whoever has it now.
TEST_F(PartitionHandedOver, WhatHasNotBegunDoesNotBegin) {
  PartitionOwner first(options("first"));
  first.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return epoch_of(first) == 1; }));
  log_->on_append([](auto records) {  // nobody else gets an epoch
    return records.front().epoch > 1 ? events::AppendFault::refused : events::AppendFault::none;
  });
  PartitionOwner second(options("second"));
  second.own({0});
  ASSERT_TRUE(within_seconds(20, [&] { return second.domains().size() == 1; }));
  EXPECT_TRUE(second.hand_over(std::chrono::seconds(20))) << "long before its time to linger is over";
  log_->on_append(nullptr);
  EXPECT_TRUE(admits(1));
}

}  // namespace
}  // namespace hindsight::runtime
