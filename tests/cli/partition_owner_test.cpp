// Nodes that own partitions in which several domains lie.

#include "cli/live/partition_owner.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "events/sqlite_log.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::cli {
namespace {

using hindsight::test::TemporaryFolder;
using hindsight::testing::LogWorld;

class PartitionOwnerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<events::Log> open(bool read_only = false) const {
    auto log = events::SqliteLog::open(path_, {.read_only = read_only});
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }

  /// Runs an owner until it leads in all domains of the log; their positions then. Empty: it took too long.
  std::map<std::string, events::Position> lead_all(std::size_t domains) {
    PartitionOwner::Options options;
    options.open = [this](std::int32_t) -> Result<std::unique_ptr<events::Log>> { return open(); };
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
      if (out.size() == domains) return out;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
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
  ASSERT_EQ(lead_all(2).size(), 2U);
  events::Position oldest = 0;
  {
    const auto log = open(true);
    const auto last = log->last().value();
    oldest = last;
    for (const char* domain : {"prod/a", "prod/b"}) {
      const auto snapshots = replay::snapshots_of(*log, domain).value();
      ASSERT_FALSE(snapshots.empty()) << domain;
      EXPECT_EQ(snapshots.front().domain, domain);
      oldest = std::min(oldest, snapshots.front().position);
    }
    ASSERT_GT(oldest, 1U);
  }
  sql("DELETE FROM records WHERE offset <= " + std::to_string(oldest));
  const auto again = lead_all(2);
  ASSERT_EQ(again.size(), 2U) << "somebody wanted a record from before the snapshots";
  for (const auto& [domain, position] : again) EXPECT_GT(position, oldest) << domain;
}

}  // namespace
}  // namespace hindsight::cli
