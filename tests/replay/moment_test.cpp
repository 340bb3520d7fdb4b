// Moments as people name them, on logs as they are.

#include "replay/moment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include "events/memory_log.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;

TEST(Moment, IsReadInAllItsForms) {
  EXPECT_EQ(parse_moment("latest")->kind, Moment::Kind::latest);
  EXPECT_EQ(parse_moment("0")->position, 0U);
  EXPECT_EQ(parse_moment("120")->position, 120U);
  EXPECT_EQ(parse_moment("2026-01-01T00:00:10Z")->time, Time::from_seconds(1'767'225'610));
  EXPECT_EQ(parse_moment("2026-01-01T01:00:10.5+01:00")->time.micros, 1'767'225'610'500'000);
  EXPECT_EQ(parse_moment("-1m30s")->ago, Duration::seconds(90));
}

TEST(Moment, WhatIsNoMomentIsRefusedWithWhatIsAllowed) {
  for (const char* text : {"",
                           "yesterday",
                           "-",
                           "-5",
                           "5m",
                           "12x",
                           "99999999999999999999",
                           "2026-13-01T00:00:00Z",
                           "2026-1-1",
                           "2026-02-30",
                           "2026-01-01 24:00",
                           "2026-01-01 1:00",
                           "2026-01-01_10:00",
                           "1969-12-31",
                           "14:60",
                           "25:00",
                           "14:03:60",
                           "14:03Z",
                           "-1x",
                           "-d",
                           "-5d5w",
                           "-999999999999999999999d",
                           "-100001w",
                           "-1d-1h"}) {
    const auto m = parse_moment(text);
    ASSERT_FALSE(m) << text;
    EXPECT_EQ(m.error().kind, ErrorKind::invalid);
    EXPECT_NE(m.error().message.find("found \"" + std::string(text) + "\""), std::string::npos) << m.error().message;
    EXPECT_NE(m.error().message.find("a position (120)"), std::string::npos);
  }
}

TEST(Moment, IsReadAsPeopleTypeIt) {
  EXPECT_EQ(parse_moment("now")->kind, Moment::Kind::latest);
  EXPECT_EQ(parse_moment("-1d")->ago, Duration::seconds(86'400));
  EXPECT_EQ(parse_moment("-2w1d1h30m")->ago, Duration::seconds(15 * 86'400 + 5'400));
  EXPECT_EQ(parse_moment("14:03")->of_day, Duration::seconds(14 * 3600 + 180));
  EXPECT_EQ(parse_moment("14:03:10")->kind, Moment::Kind::clock);
  for (const char* text : {"2026-01-06 14:03", "2026-01-06T14:03:00"}) {
    const auto m = parse_moment(text);
    ASSERT_TRUE(m) << text;
    EXPECT_EQ(m->kind, Moment::Kind::local);
    EXPECT_EQ(m->of_day, Duration::seconds(14 * 3600 + 180));
  }
  EXPECT_EQ(parse_moment("2026-01-06")->of_day, Duration{});
}

/// The time zone of the process while it lives.
class Zone {
 public:
  explicit Zone(const char* name) {
    if (const char* old = std::getenv("TZ")) before_ = old;
    set(name);
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  ~Zone() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static void set(const char* name) {
    if (name == nullptr)
      unsetenv("TZ");
    else
      setenv("TZ", name, 1);
    tzset();
  }
  std::optional<std::string> before_;
};

class Resolving : public ::testing::Test {
 protected:
  Resolving() {
    LogWorld w(log);  // record 1 at second 0
    w.tick(Duration::seconds(10));
    w.tick(Duration::seconds(10));
    w.tick(Duration{0});  // records 3 and 4 at second 20
    w.flush();
  }
  Position at(std::string_view text) { return resolve(log, *parse_moment(text)).value(); }
  std::string why_not(std::string_view text) { return resolve(log, *parse_moment(text)).error().message; }
  events::MemoryLog log;
};

TEST_F(Resolving, ATimeMeansAllRecordsUpToIt) {
  EXPECT_EQ(at("latest"), 4U);
  EXPECT_EQ(at("2"), 2U);
  EXPECT_EQ(at("0"), 0U);
  EXPECT_EQ(at("2026-01-01T00:00:00Z"), 1U);
  EXPECT_EQ(at("2026-01-01T00:00:09.999999Z"), 1U);
  EXPECT_EQ(at("2026-01-01T00:00:10Z"), 2U);
  EXPECT_EQ(at("2026-01-01T00:00:20Z"), 4U);
  EXPECT_EQ(at("2030-01-01T00:00:00Z"), 4U);
  EXPECT_EQ(at("-0s"), 4U);
  EXPECT_EQ(at("-5s"), 2U);
  EXPECT_EQ(at("-20s"), 1U);
}

TEST_F(Resolving, AgesCountToTheTimeThatWasAskedFor) {
  const auto found = [&](std::string_view text) { return locate(log, *parse_moment(text)).value(); };
  const auto between = *parse_rfc3339("2026-01-01T00:00:15Z");  // records 2 and 3 are at seconds 10 and 20
  EXPECT_EQ(found("2026-01-01T00:00:15Z").position, 2U);
  EXPECT_EQ(found("2026-01-01T00:00:15Z").time, between);
  EXPECT_EQ(found("-5s").position, 2U);
  EXPECT_EQ(found("-5s").time, between);
  EXPECT_EQ(found("2026-01-01T00:00:30Z").time, between + Duration::seconds(15)) << "after the last record";
  EXPECT_EQ(found("2").position, 2U);
  EXPECT_FALSE(found("2").time.is_set());
  EXPECT_FALSE(found("latest").time.is_set());
}

TEST_F(Resolving, ATimeWithoutAZoneIsThatOfThePlace) {
  {
    const Zone zone("UTC");
    EXPECT_EQ(at("2026-01-01 00:00:10"), 2U);
    EXPECT_EQ(at("2026-01-01"), 1U);
    EXPECT_EQ(at("00:00:19"), 2U);
    EXPECT_EQ(at("00:00"), 1U);
  }
  // Three hours east without a zone file: midnight there is 21:00 of the day before.
  const Zone zone("EAST-3");
  EXPECT_EQ(at("2026-01-01 03:00:10"), 2U);
  EXPECT_EQ(at("03:00:20"), 4U);
  EXPECT_NE(why_not("2026-01-01 00:00:10").find("begins at 2026-01-01T00:00:00"), std::string::npos);
  // The clock has not shown it yet today.
  EXPECT_NE(why_not("03:00:21").find("after 2025-12-31T00:00:21"), std::string::npos) << why_not("03:00:21");
}

TEST_F(Resolving, WhatLiesOutsideTheLogIsNamed) {
  EXPECT_EQ(why_not("5"), "position 5 is past the end of log memory, which is 4");
  EXPECT_EQ(why_not("2025-12-31T23:59:59Z"), "log memory begins at 2026-01-01T00:00:00.000000Z, after 2025-12-31T23:59:59.000000Z");
  EXPECT_EQ(why_not("-21s"), "log memory begins at 2026-01-01T00:00:00.000000Z, after 2025-12-31T23:59:59.000000Z");
}

TEST(ChooseDomain, TheOnlyOneNeedsNoName) {
  events::MemoryLog log;
  EXPECT_EQ(choose_domain(log, ""), "default");
  LogWorld a(log, "east");
  a.flush();
  EXPECT_EQ(choose_domain(log, ""), "east");
  EXPECT_EQ(choose_domain(log, "east"), "east");
  EXPECT_EQ(choose_domain(log, "west").error().message, "log memory has no domain \"west\"; it has: east");
  LogWorld b(log, "west");
  b.flush();
  EXPECT_EQ(choose_domain(log, "").error().message, "log memory has several domains: name one of east, west");
  EXPECT_EQ(choose_domain(log, "west"), "west");
}

}  // namespace
}  // namespace hindsight::replay
