// Histories are played on from a moment with something otherwise, and what comes of it is what must.

#include "whatif/player.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "events/sqlite_log.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/whatif/played_on.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

TEST(WhatIf, WithoutAChangeMakesTheVeryDecisionsOnRecordOnEveryKeptLog) {
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/replay/logs")) {
    if (entry.path().extension() != ".db") continue;
    ++logs;
    const test::TemporaryFolder temporary;
    const std::string path = temporary.file("log.db");
    std::filesystem::copy_file(entry.path(), path);
    const auto log = events::SqliteLog::open(path, {.read_only = true});
    ASSERT_TRUE(log) << log.error().message;
    const auto last = (*log)->last().value();
    for (const events::Position from : {events::Position{1}, last / 3, last / 2, last - 5}) {
      const PlayedOn c(**log, from, {});
      EXPECT_EQ(c.report.same, c.report.recorded) << entry.path() << " from " << from;
      EXPECT_EQ(c.report.modelled, 0U) << entry.path() << " from " << from;
      EXPECT_EQ(c.report.state_hash, c.state_then) << entry.path() << " from " << from;
      EXPECT_TRUE(c.comparison.differences.empty()) << entry.path() << " from " << from;
      EXPECT_EQ(c.result.last().value(), last) << entry.path() << " from " << from;
    }
  }
  EXPECT_GT(logs, 3);
}

const std::string two_jobs = basics + queue_text({.name = "cq", .cpu = "1"}) + job_text({.name = "first", .runs = 100}) +
                             job_text({.name = "second", .arrives = 10, .runs = 100});

TEST(WhatIf, WithMoreQuotaAJobStartsWhenItComesAndEndsAfterItsRunTime) {
  const Played p(two_jobs);
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=2"));
  const PlayedOn c(p.log, p.at(5), changes);
  // it waited for the end of the first, and now does not
  EXPECT_GE((c.was("second").started - c.was("second").came).micros, Duration::seconds(85).micros);
  EXPECT_LT((c.would_be("second").started - c.would_be("second").came).micros, Duration::seconds(2).micros);
  const Duration ran = c.would_be("second").ended - c.would_be("second").started;
  EXPECT_NEAR(static_cast<double>(ran.micros) / 1e6, 100, 2);
  // the first fares as it was
  EXPECT_EQ(c.was("first").ended, c.would_be("first").ended);
  EXPECT_EQ(c.comparison.differences.size(), 1U);
  EXPECT_TRUE(c.verifies());
}

TEST(WhatIf, WithLessQuotaAJobWaitsForTheEndOfTheOther) {
  const Played p(basics + queue_text({.name = "cq", .cpu = "2"}) + job_text({.name = "first", .runs = 100}) +
                 job_text({.name = "second", .arrives = 10, .runs = 100}));
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=-1"));
  const PlayedOn c(p.log, p.at(5), changes, false, Duration::seconds(600));
  EXPECT_LT((c.was("second").started - c.was("second").came).micros, Duration::seconds(2).micros);
  const Duration waited = c.would_be("second").started - c.would_be("second").came;
  EXPECT_NEAR(static_cast<double>(waited.micros) / 1e6, 90, 3);
  EXPECT_TRUE(c.would_be("second").ended.is_set());
  EXPECT_TRUE(c.verifies());
}

TEST(WhatIf, WithoutThePreemptorNobodyIsPreempted) {
  const Played p(basics + queue_text({.name = "cq", .cpu = "1", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
                 job_text({.name = "victim", .runs = 100}) +
                 job_text({.name = "urgent", .arrives = 30, .runs = 50, .priority_class = "high"}));
  {
    Changes changes;
    changes.dropped.emplace_back("job/default/urgent");
    const PlayedOn c(p.log, p.at(5), changes);
    EXPECT_EQ(c.was("victim").preempted, 1);
    EXPECT_NEAR(static_cast<double>(c.was("victim").lost.micros) / 1e6, 30, 2);
    EXPECT_EQ(c.would_be("victim").preempted, 0);
    const Duration ran = c.would_be("victim").ended - c.would_be("victim").started;
    EXPECT_NEAR(static_cast<double>(ran.micros) / 1e6, 100, 2);
    EXPECT_TRUE(c.verifies());
  }
  {  // dropped after it came, it goes, and its victim starts again at once
    Changes changes;
    changes.dropped.emplace_back("job/default/urgent");
    const PlayedOn c(p.log, p.at(40), changes);
    EXPECT_LT((c.would_be("victim").ended - c.comparison.would_be.begun()).micros, Duration::seconds(104).micros);
    EXPECT_TRUE(c.verifies());
  }
}

TEST(WhatIf, OfAJobThatNeverPreemptsBecauseThereIsRoomTheVictimRunsToItsEnd) {
  const Played p(basics + queue_text({.name = "cq", .cpu = "1", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
                 job_text({.name = "victim", .runs = 100}) +
                 job_text({.name = "urgent", .arrives = 30, .runs = 50, .priority_class = "high"}));
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=+1"));
  const PlayedOn c(p.log, p.at(5), changes);
  EXPECT_EQ(c.would_be("victim").preempted, 0);
  EXPECT_NEAR(static_cast<double>((c.would_be("victim").ended - c.would_be("victim").started).micros) / 1e6, 100, 2);
  EXPECT_LT((c.would_be("urgent").started - c.would_be("urgent").came).micros, Duration::seconds(2).micros);
  EXPECT_TRUE(c.verifies());
}

TEST(WhatIf, WithEveryAnswerModelledTheQuickStartComesOutAlmostAsItWas) {
  const Played p(std::vector<std::string>{"examples/quickstart"});
  const PlayedOn c(p.log, p.at(0), {}, true);
  const auto was = c.comparison.was.waits(), would_be = c.comparison.would_be.waits();
  EXPECT_EQ(was.at("").workloads, would_be.at("").workloads);
  EXPECT_EQ(was.at("").started, would_be.at("").started);
  EXPECT_EQ(was.at("").preemptions, would_be.at("").preemptions);
  std::int64_t error = 0;
  for (const auto& [key, fate] : c.comparison.was.fates()) {
    const auto it = c.comparison.would_be.fates().find(key);
    ASSERT_NE(it, c.comparison.would_be.fates().end()) << key;
    if (fate.started.is_set() && it->second.started.is_set()) error += std::abs((fate.started - it->second.started).micros);
  }
  EXPECT_LT(error / static_cast<std::int64_t>(c.comparison.was.fates().size()), Duration::seconds(1).micros)
      << to_text(c.comparison, {.rows = 0});
  EXPECT_TRUE(c.verifies());
}

TEST(WhatIf, TheComparisonSaysWhoStartsWhen) {
  const Played p(two_jobs);
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=2"));
  const PlayedOn c(p.log, p.at(5), changes);
  const std::string text = to_text(c.comparison, {});
  EXPECT_NE(text.find("Whose start, end or evictions differ, 1 workload:"), std::string::npos) << text;
  EXPECT_NE(text.find("Waiting, from "), std::string::npos) << text;
  const auto json = to_json(c.comparison);
  ASSERT_EQ(json["differences"].size(), 1U);
  EXPECT_LT(json["differences"][0]["shiftSeconds"].get<double>(), -80);
  EXPECT_EQ(json["was"]["clusterQueues"]["cq"]["workloads"], 2);
}

TEST(WhatIf, AChangeThatFindsNothingIsRefused) {
  const Played p(two_jobs);
  Responses responses;
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/none:cpu=2"));
  Player player(p.log, "default", responses, changes, {.from = p.at(5), .until = p.end()});
  const auto played = player.play();
  ASSERT_FALSE(played);
  EXPECT_EQ(played.error().message, "there is no ClusterQueue \"none\" at that moment; there are: cq");
}

}  // namespace
}  // namespace hindsight::whatif
