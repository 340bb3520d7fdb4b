#include "vocabulary/time.hpp"

#include <gtest/gtest.h>

#include "tests/vocabulary/golden_table.hpp"

namespace hindsight {
namespace {

TEST(Rfc3339, is_read_and_printed_as_go_does_it) {
  int rows = 0;
  for (const auto& row : test::golden_table("tests/vocabulary/times.txt")) {
    ++rows;
    const auto t = parse_rfc3339(row[0]);
    if (row[1] == "refused") {
      EXPECT_FALSE(t.has_value()) << row[0];
      continue;
    }
    ASSERT_TRUE(t.has_value()) << t.error().message;
    EXPECT_EQ(std::to_string(t->micros), row[1]) << row[0];
    EXPECT_EQ(format_rfc3339_micro(*t), row[2]) << row[0];
    EXPECT_EQ(format_rfc3339(*t), row[2].substr(0, 19) + "Z") << row[0];
  }
  EXPECT_GT(rows, 25);
}

TEST(Rfc3339, refuses_zones_that_do_not_exist_and_moments_before_1970) {
  EXPECT_FALSE(parse_rfc3339("2026-01-01T00:00:00+24:00").has_value());
  EXPECT_FALSE(parse_rfc3339("2026-01-01T00:00:00+00:60").has_value());
  EXPECT_FALSE(parse_rfc3339("1969-12-31T23:59:59Z").has_value());
  EXPECT_FALSE(parse_rfc3339("0001-01-01T00:00:00Z").has_value());
  EXPECT_EQ(parse_rfc3339("1970-01-01T01:00:00+01:00").value().micros, 0);
}

TEST(Rfc3339, of_never_is_empty) {
  EXPECT_EQ(format_rfc3339(Time::never()), "");
  EXPECT_EQ(format_rfc3339_micro(Time::never()), "");
}

TEST(Rfc3339, names_the_text_and_what_is_expected_in_its_error) {
  const auto t = parse_rfc3339("yesterday");
  ASSERT_FALSE(t.has_value());
  EXPECT_EQ(t.error().kind, ErrorKind::invalid);
  EXPECT_EQ(t.error().message, "time \"yesterday\": no date; expected RFC 3339 like 2026-01-01T00:00:00Z");
}

TEST(GoDuration, is_read_as_go_reads_it) {
  int rows = 0;
  for (const auto& row : test::golden_table("tests/vocabulary/durations.txt")) {
    ++rows;
    const auto d = parse_duration(row[0]);
    if (row[1] == "refused") {
      EXPECT_FALSE(d.has_value()) << row[0];
      continue;
    }
    ASSERT_TRUE(d.has_value()) << d.error().message;
    EXPECT_EQ(std::to_string(d->micros), row[1]) << row[0];
  }
  EXPECT_GT(rows, 40);
}

TEST(GoDuration, is_never_negative) {
  const auto d = parse_duration("-5s");
  ASSERT_FALSE(d.has_value());
  EXPECT_EQ(d.error().kind, ErrorKind::invalid);
  EXPECT_EQ(d.error().message, "duration \"-5s\": negative; expected one like 300ms, 1.5h or 1m30s");
}

}  // namespace
}  // namespace hindsight
