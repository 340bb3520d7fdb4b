// How time enters the log: once for each moment that the domain waits for (design rule 3).

#include "actors/timekeeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hindsight::actors {
namespace {

class TimekeeperTest : public ::testing::Test {
 protected:
  void wait_for_shots(int n) const {
    while (shots < n) std::this_thread::yield();
  }

  VirtualClock clock{Time{1'000'000}};
  std::atomic<int> shots = 0;
  Timekeeper timekeeper{clock, [this] { ++shots; }};
  const Time due = clock.now() + Duration::seconds(1);
};

TEST_F(TimekeeperTest, FiresOnceWhenTheMomentComes) {
  timekeeper.wait_for(due, clock.now());
  EXPECT_FALSE(timekeeper.pending());
  clock.advance_to(due);
  EXPECT_TRUE(timekeeper.pending());
  wait_for_shots(1);
  EXPECT_TRUE(timekeeper.pending()) << "nobody has heard it";
  timekeeper.heard();
  EXPECT_FALSE(timekeeper.pending());
}

// The domain may look at its state again before what was fired has been applied.
TEST_F(TimekeeperTest, TheSameMomentIsNotToldTwiceWhileItIsOnItsWay) {
  const Time before = clock.now();
  timekeeper.wait_for(due, before);
  clock.advance_to(due);
  wait_for_shots(1);
  timekeeper.wait_for(due, before);
  timekeeper.stop();  // whatever it would have fired it has fired by now
  EXPECT_EQ(shots, 1);
}

TEST_F(TimekeeperTest, AMomentThatTheDomainHasSeenWakesNobody) {
  timekeeper.wait_for(clock.now(), clock.now());
  EXPECT_FALSE(timekeeper.pending());
  timekeeper.stop();
  EXPECT_EQ(shots, 0);
}

TEST_F(TimekeeperTest, WaitsAgainOnceItWasHeard) {
  timekeeper.wait_for(due, clock.now());
  clock.advance_to(due);
  wait_for_shots(1);
  timekeeper.heard();
  timekeeper.wait_for(due + Duration::seconds(1), due);
  EXPECT_FALSE(timekeeper.pending());
  clock.advance_to(due + Duration::seconds(1));
  wait_for_shots(2);
}

}  // namespace
}  // namespace hindsight::actors
