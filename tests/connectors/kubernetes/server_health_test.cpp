// Shows what is made of answers and of their absence: what people are told, and when a refusal is not yet believed.
#include "connectors/kubernetes/http/server_health.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hindsight::connectors::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = Notice::Kind;

class ServerHealthTest : public ::testing::Test {
 protected:
  ServerHealth::Clock::time_point at(double second) const { return start + milliseconds(static_cast<int>(second * 1000)); }

  const ServerHealth::Clock::time_point start = ServerHealth::Clock::now();
  std::vector<Kind> told;
  ServerHealth health{"https://s", "user \"u\"", {}, [this](const Notice& notice) { told.push_back(notice.kind); }};
};

TEST_F(ServerHealthTest, TellsEachChangeOnce) {
  health.answered(200, at(0));
  health.not_answered("gone");
  health.not_answered("gone");
  health.answered(200, at(3));
  health.answered(200, at(30));
  health.answered(401, at(31));
  health.answered(401, at(32));
  health.answered(403, at(33));
  EXPECT_EQ(told, (std::vector{Kind::unreachable, Kind::reachable, Kind::credentials_refused, Kind::credentials_accepted}));
}

TEST_F(ServerHealthTest, AServerThatComesBackSettlesForAWhile) {
  EXPECT_FALSE(health.is_settling(at(0)));
  health.not_answered("gone");
  EXPECT_FALSE(health.is_settling(at(1)));
  health.answered(403, at(5));
  EXPECT_TRUE(health.is_settling(at(5)));
  EXPECT_TRUE(health.is_settling(at(19.9)));
  EXPECT_FALSE(health.is_settling(at(20)));
  // A 401 of one that settles is no news.
  health.answered(401, at(6));
  EXPECT_EQ(told, (std::vector{Kind::unreachable, Kind::reachable}));
  health.answered(401, at(21));
  EXPECT_EQ(told.back(), Kind::credentials_refused);
}

TEST_F(ServerHealthTest, ARestartOfWhichOnlyTheEndWasSeenIsARestart) {
  health.not_answered("refused");
  health.answered(401, at(0.1));
  EXPECT_TRUE(health.is_settling(at(0.1)));
  EXPECT_EQ(told, (std::vector{Kind::unreachable, Kind::reachable}));
  health.answered(401, at(15.2));
  EXPECT_EQ(told.back(), Kind::credentials_refused);
}

TEST_F(ServerHealthTest, AServerThatComesAndGoesSettlesForAQuarterOfTheTime) {
  // A day of this: away for two seconds, there for one.
  int settling = 0;
  constexpr int day = 24 * 3600;
  for (int second = 0; second < day; second += 3) {
    health.not_answered("gone");
    health.answered(401, at(second + 2));
    if (health.is_settling(at(second + 2))) settling += 3;
  }
  EXPECT_GT(settling, 60);
  EXPECT_LT(settling, day / 4 + 4 * 15 + 60);
  // And people do hear that it refuses us.
  EXPECT_NE(std::find(told.begin(), told.end(), Kind::credentials_refused), told.end());
}

TEST_F(ServerHealthTest, AQuietWeekBuysNoMoreThanFourSettlings) {
  constexpr double week = 7 * 24 * 3600;
  health.not_answered("gone");
  health.answered(200, at(2));
  double begin = week;
  int settled = 0;
  for (int i = 0; i < 20; ++i, begin += 2) {
    health.not_answered("gone");
    health.answered(200, at(begin + 1));
    settled += health.is_settling(at(begin + 1)) ? 1 : 0;
  }
  // The last one goes on for its fifteen seconds.
  EXPECT_LE(settled, 4 + 8);
  EXPECT_FALSE(health.is_settling(at(begin)));
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
