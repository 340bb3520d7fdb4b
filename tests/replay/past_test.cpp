// Time travel: every position that was ever folded can be folded again, from wherever one stands.

#include "replay/past.hpp"

#include <gtest/gtest.h>

#include <random>

#include "events/memory_log.hpp"
#include "events/snapshot.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;

class TimeTravel : public ::testing::TestWithParam<bool> {
 protected:
  TimeTravel() : w(log) { two_teams(w, true); }
  events::MemoryLog log;
  LogWorld w;
};

// BA-154: the state at any moment follows from the records alone
TEST_P(TimeTravel, EveryPositionForwardGivesTheStateThatWas) {
  Past past(log, "default", {.use_snapshots = GetParam()});
  for (Position p = 0; p <= w.position(); ++p) {
    ASSERT_TRUE(past.go_to(p));
    ASSERT_EQ(past.driver().state_hash(), w.hashes()[p]) << p;
  }
}

TEST_P(TimeTravel, EveryPositionBackwardToo) {
  Past past(log, "default", {.use_snapshots = GetParam()});
  for (Position p = w.position() + 1; p-- > 0;) {
    ASSERT_TRUE(past.go_to(p));
    ASSERT_EQ(past.position(), p);
    ASSERT_EQ(past.driver().state_hash(), w.hashes()[p]) << p;
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSnapshots, TimeTravel, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "snapshots" : "records"; });

TEST(Past, StartsFromTheNewestSnapshotAtOrBeforeTheTarget) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  ASSERT_EQ(snapshots.size(), 3U);
  Past past(log, "default");
  ASSERT_TRUE(past.go_to(w.position()));
  EXPECT_EQ(past.started_from(), snapshots[0].position);
  EXPECT_EQ(past.folded(), w.position() - snapshots[0].position);
  ASSERT_TRUE(past.go_to(snapshots[1].position));
  EXPECT_EQ(past.started_from(), snapshots[1].position);
  ASSERT_TRUE(past.go_to(snapshots[1].position + 2));  // forward a little: no reason to load anything
  EXPECT_EQ(past.folded(), w.position() - snapshots[0].position + 2);
}

/// A state of many Workloads takes longer to load than the records up to it take to fold.
TEST(Past, ASnapshotALittleAheadIsNotLoaded) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  Past past(log, "default");
  const Position before = snapshots[1].position, ahead = snapshots[0].position;
  ASSERT_TRUE(past.go_to(before));
  ASSERT_GT(past.driver().domain().parent_count(), 0U);
  const Position near = std::min<Position>(ahead, before + 2 * past.driver().domain().parent_count());
  ASSERT_TRUE(past.go_to(near));
  EXPECT_EQ(past.started_from(), before);
  EXPECT_EQ(past.folded(), near - before);
  EXPECT_EQ(past.driver().state_hash(), w.hashes()[near]);
}

TEST(Past, DamageOnTheWayForwardIsPassedWhereASnapshotIsBehindIt) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  const Position before = snapshots[1].position, behind = snapshots[0].position;
  ASSERT_GT(behind, before + 1);
  log.damage(before + 1);
  for (const bool in_steps : {false, true}) {
    Past past(log, "default");
    ASSERT_TRUE(past.go_to(before));
    const bool there = in_steps ? past.go_to(w.position(), [] { return true; }).value_or(false) : past.go_to(w.position()).has_value();
    ASSERT_TRUE(there) << in_steps;
    EXPECT_EQ(past.started_from(), behind);
    EXPECT_EQ(past.driver().state_hash(), w.hashes().back());
  }
  Past past(log, "default");
  ASSERT_TRUE(past.go_to(before));
  const auto here = past.go_to(behind - 1);
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().kind, ErrorKind::corrupt);
}

TEST(Past, ASnapshotThatCannotBeUsedIsPassedOver) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  auto damaged = log.snapshot(snapshots[0].position, snapshots[0].domain).value();
  damaged.bytes.resize(damaged.bytes.size() / 2);
  ASSERT_TRUE(log.put_snapshot(damaged.meta, damaged.bytes));
  Past past(log, "default");
  ASSERT_TRUE(past.go_to(w.position()));
  EXPECT_EQ(past.started_from(), snapshots[1].position);
  EXPECT_EQ(past.driver().state_hash(), w.hashes().back());
  ASSERT_EQ(past.notices().size(), 1U);
  EXPECT_NE(past.notices()[0].find("snapshot at " + std::to_string(snapshots[0].position)), std::string::npos) << past.notices()[0];
}

/// Where there is memory for one state only; a snapshot that cannot be used is in the way.
TEST(Past, AStateThatGoesBeforeTheNextIsLoadedIsNotMissed) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  auto damaged = log.snapshot(snapshots[1].position, snapshots[1].domain).value();
  damaged.bytes.resize(damaged.bytes.size() / 2);
  ASSERT_TRUE(log.put_snapshot(damaged.meta, damaged.bytes));
  Past past(log, "default", {.one_at_a_time = true});
  std::mt19937 random(11);
  std::uniform_int_distribution<Position> any(0, w.position());
  for (int i = 0; i < 300; ++i) {
    const Position p = any(random);
    ASSERT_TRUE(past.go_to(p)) << p;
    ASSERT_EQ(past.position(), p);
    ASSERT_EQ(past.driver().state_hash(), w.hashes()[p]) << p;
  }
  EXPECT_FALSE(past.notices().empty());

  // An error leaves a state that is the one of its position.
  log.damage(snapshots[0].position + 1);
  for (int i = 0; i < 100; ++i) {
    (void)past.go_to(any(random));
    ASSERT_EQ(past.driver().state_hash(), w.hashes()[past.position()]) << past.position();
  }
}

TEST(Past, DamageIsNamedAndWhatIsBeforeStaysUsable) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w);
  log.damage(20);
  Past past(log, "default");
  const auto ok = past.go_to(w.position());
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().kind, ErrorKind::corrupt);
  EXPECT_NE(ok.error().message.find("20"), std::string::npos) << ok.error().message;
  EXPECT_EQ(past.position(), 19U);
  EXPECT_EQ(past.driver().state_hash(), w.hashes()[19]);
}

TEST(Past, ASnapshotBehindTheDamageMakesWhatFollowsUsable) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  log.damage(5);
  Past past(log, "default");
  ASSERT_TRUE(past.go_to(w.position()));
  EXPECT_EQ(past.driver().state_hash(), w.hashes().back());
}

TEST(Past, DomainsOfOneLogDoNotMix) {
  events::MemoryLog log;
  LogWorld east(log, "east"), west(log, "west");
  for (auto* w : {&east, &west}) {
    w->set_up({{.name = "cq", .quotas = {{.nominal = w == &east ? 1000 : 2000}}}});
    w->submit({.name = "one", .cpu = 2000});
    w->settle();
    w->flush();
  }
  const auto last = log.last().value();
  for (auto* w : {&east, &west}) {
    Past past(log, w == &east ? "east" : "west");
    ASSERT_TRUE(past.go_to(last));
    EXPECT_EQ(past.driver().state_hash(), w->hashes().back());
  }
}

TEST(Past, WhoLooksOnSeesEachRecordBeforeAndAfter) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w);
  Past past(log, "default");
  std::vector<Position> before, after;
  past.look_on(
      [&](Position p, const RecordView&) {
        before.push_back(p);
        EXPECT_EQ(past.driver().domain().sequence(), p - 1);
      },
      [&](Position p, const RecordView& r) {
        after.push_back(p);
        EXPECT_EQ(past.driver().domain().sequence(), r.envelope.sequence);
      });
  ASSERT_TRUE(past.go_to(7));
  EXPECT_EQ(before, (std::vector<Position>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace hindsight::replay
