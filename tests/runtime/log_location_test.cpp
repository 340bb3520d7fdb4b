// A log that is out of reach when a process starts.

#include "runtime/log_location.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hindsight::runtime {
namespace {

struct Attempts {
  std::vector<std::string> told;
  int made = 0;

  /// So many attempts fail as `kind`.
  Result<int> open(int failures, ErrorKind kind, const std::stop_token& stop = {}) {
    return when_reachable(
        [&]() -> Result<int> {
          if (made++ < failures) return fail(kind, "the brokers say nothing");
          return made;
        },
        stop, [&](const std::string& text) { told.push_back(text); });
  }
};

TEST(WhenReachable, ALogThatComesBackIsOpenedAndItsAbsenceToldOnce) {
  Attempts a;
  const auto opened = a.open(2, ErrorKind::unavailable);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, 3);
  EXPECT_EQ(a.told, std::vector<std::string>{"the brokers say nothing; it is tried again"});
}

TEST(WhenReachable, WhatIsWrongOtherwiseIsToldAtOnce) {
  for (const ErrorKind kind : {ErrorKind::invalid, ErrorKind::denied, ErrorKind::corrupt}) {
    Attempts a;
    const auto opened = a.open(1, kind);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, kind);
    EXPECT_EQ(a.made, 1);
    EXPECT_TRUE(a.told.empty());
  }
}

TEST(WhenReachable, WhoIsToldToStopWaitsNoLonger) {
  Attempts a;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(a.open(1'000'000, ErrorKind::unavailable, stop.get_token()));
  EXPECT_EQ(a.made, 1);
}

// A file without an end is not read to its end.
TEST(KafkaSettingsFile, HasABound) {
  const auto settings = kafka_settings({.kafka_config = "/dev/zero"});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message, "--log-config: /dev/zero: it has more than 1048576 bytes; allowed: lines of KEY=VALUE");
  const auto none = kafka_settings({.kafka_config = "/nowhere/at/all"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "--log-config: /nowhere/at/all cannot be read");
}

}  // namespace
}  // namespace hindsight::runtime
