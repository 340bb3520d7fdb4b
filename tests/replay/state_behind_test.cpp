// Who goes back and forth finds every moment as a fold from the beginning gives it.

#include "replay/state_behind.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "events/memory_log.hpp"
#include "replay/snapshots.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;

TEST(StateBehind, GivesThePastWhereverOneGoes) {
  for (const bool with_snapshots : {false, true}) {
    events::MemoryLog log;
    LogWorld w(log);
    two_teams(w, with_snapshots);
    const Position last = w.position();
    ASSERT_GT(last, 20U);
    StateBehind behind(log, "default");
    auto here = std::make_unique<Past>(log, "default");
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
      // forth and back by a few, and now and then anywhere
      const Position at = here->position();
      Position target = i % 10 == 0 ? 1 + random() % last : at + random() % 3;
      if (i % 3 == 1) target = at > 2 ? at - 1 - random() % 2 : at;
      target = std::clamp<Position>(target, 1, last);
      ASSERT_TRUE(behind.go_to(here, target)) << target;
      EXPECT_EQ(here->position(), target);
      EXPECT_EQ(here->driver().state_hash(), w.hashes()[target]) << target;
    }
    EXPECT_GT(behind.short_ways(), 50U);
  }
}

TEST(StateBehind, TheFirstStepBackIsShort) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const Position last = w.position();
  {
    StateBehind behind(log, "default");
    auto here = std::make_unique<Past>(log, "default");
    ASSERT_TRUE(behind.go_to(here, last - 2));  // forth
    ASSERT_TRUE(behind.go_to(here, last - 3));
    EXPECT_EQ(behind.short_ways(), 1U);
    EXPECT_EQ(here->driver().state_hash(), w.hashes()[last - 3]);
  }
  {  // somebody who has come there by himself
    StateBehind behind(log, "default");
    auto here = std::make_unique<Past>(log, "default");
    ASSERT_TRUE(here->go_to(last));
    behind.prepare(last);
    ASSERT_TRUE(behind.go_to(here, last - 1));
    EXPECT_EQ(behind.short_ways(), 1U);
    EXPECT_EQ(here->driver().state_hash(), w.hashes()[last - 1]);
  }
}

TEST(StateBehind, WhatNobodyGoesBackToIsGivenUp) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, false);
  StateBehind behind(log, "default");
  for (Position p = 1; p <= w.position(); ++p) behind.prepare(p);
  auto here = std::make_unique<Past>(log, "default");
  ASSERT_TRUE(here->go_to(w.position()));
  behind.prepare(w.position() + 100 * StateBehind::distance);  // nobody can come there
  ASSERT_TRUE(behind.go_to(here, 5));
  EXPECT_EQ(here->driver().state_hash(), w.hashes()[5]);
}

TEST(StateBehind, SaysWhatIsWrongAndGoesOn) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, false);
  const Position last = w.position();
  StateBehind behind(log, "default");
  auto here = std::make_unique<Past>(log, "default");
  ASSERT_TRUE(behind.go_to(here, last));
  const auto beyond = behind.go_to(here, last + 1);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, ErrorKind::not_found);
  ASSERT_TRUE(behind.go_to(here, last - 1));
  EXPECT_EQ(here->driver().state_hash(), w.hashes()[last - 1]);
  log.damage(10);
  const auto damaged = behind.go_to(here, 12);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, ErrorKind::corrupt);
  ASSERT_TRUE(behind.go_to(here, 9));
  EXPECT_EQ(here->driver().state_hash(), w.hashes()[9]);
}

}  // namespace
}  // namespace hindsight::replay
