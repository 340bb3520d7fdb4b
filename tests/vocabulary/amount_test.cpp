#include "vocabulary/amount.hpp"

#include <gtest/gtest.h>

#include "tests/vocabulary/golden_table.hpp"

namespace hindsight {
namespace {

constexpr Amount max = unlimited;
constexpr Amount min = amount_min;

// BA-29, BA-35: CPU counts in milli-units, everything else in whole units.
TEST(Quantity, is_read_as_the_go_library_reads_it) {
  int rows = 0;
  for (const auto& row : test::golden_table("tests/vocabulary/quantities.txt")) {
    if (row[0] != "parse") continue;
    ++rows;
    const auto cpu = parse_quantity(row[1], "cpu");
    const auto other = parse_quantity(row[1], "memory");
    if (row[2] == "refused") {
      EXPECT_FALSE(cpu.has_value()) << row[1];
      EXPECT_FALSE(other.has_value()) << row[1];
      continue;
    }
    ASSERT_TRUE(cpu.has_value()) << row[1] << ": " << cpu.error().message;
    EXPECT_EQ(std::to_string(*cpu), row[2]) << row[1];
    EXPECT_EQ(std::to_string(other.value()), row[3]) << row[1];
  }
  EXPECT_GT(rows, 200);
}

TEST(Quantity, is_printed_as_the_go_library_prints_it) {
  int rows = 0;
  for (const auto& row : test::golden_table("tests/vocabulary/quantities.txt")) {
    if (row[0] != "format") continue;
    ++rows;
    const Amount amount = std::stoll(row[1]);
    EXPECT_EQ(format_amount(amount, "cpu"), row[2]) << row[1];
    EXPECT_EQ(format_amount(amount, "memory"), row[3]) << row[1];
    EXPECT_EQ(format_amount(amount, "ephemeral-storage"), row[3]) << row[1];
    EXPECT_EQ(format_amount(amount, "hugepages-2Mi"), row[3]) << row[1];
    EXPECT_EQ(format_amount(amount, "nvidia.com/gpu"), row[4]) << row[1];
  }
  EXPECT_GT(rows, 100);
}

TEST(Quantity, survives_printing_and_reading) {
  for (const Amount amount : {Amount{1}, Amount{999}, Amount{1'000}, Amount{1'048'576}, Amount{123'456'789}, max - 1, max, min + 1}) {
    for (const std::string_view resource : {"cpu", "memory", "pods"}) {
      EXPECT_EQ(parse_quantity(format_amount(amount, resource), resource).value(), amount) << resource;
    }
  }
}

TEST(Quantity, beyond_the_range_is_clamped) {
  EXPECT_EQ(parse_quantity("10E", "memory").value(), max);
  EXPECT_EQ(parse_quantity("8Ei", "memory").value(), max);
  EXPECT_EQ(parse_quantity("1E", "cpu").value(), max);
  EXPECT_EQ(parse_quantity("9223372036854775808", "memory").value(), max);
  EXPECT_EQ(parse_quantity("9223372036854775807", "memory").value(), max);
  EXPECT_EQ(parse_quantity("9223372036854775806", "memory").value(), max - 1);
  EXPECT_EQ(parse_quantity("-10E", "memory").value(), min);
  EXPECT_EQ(parse_quantity("1e999999999999", "memory").value(), max);
  EXPECT_EQ(parse_quantity("0e999999999999", "memory").value(), 0);
  EXPECT_EQ(parse_quantity("1e-999999999999", "memory").value(), 1);
}

TEST(Quantity, rounds_away_from_zero_however_small) {
  EXPECT_EQ(parse_quantity("0.00000000000000000000000000001", "memory").value(), 1);
  EXPECT_EQ(parse_quantity("-0.1", "memory").value(), -1);
  EXPECT_EQ(parse_quantity("1.0000000000000000000000000000001", "cpu").value(), 1001);
  EXPECT_EQ(parse_quantity("1.0000000000000000000000000000000", "cpu").value(), 1000);
}

TEST(Quantity, without_a_digit_is_refused_with_the_text_in_the_message) {
  for (const std::string_view text : {"", "+", "-", ".", "m", "Gi", "e3", "1e3k", "1e--3", "١"}) {
    const auto result = parse_quantity(text, "cpu");
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::invalid);
    EXPECT_NE(result.error().message.find("\"" + std::string(text) + "\""), std::string::npos) << result.error().message;
  }
}

TEST(Nano, reads_fair_sharing_weights) {
  EXPECT_EQ(parse_nano("1").value(), 1'000'000'000);
  EXPECT_EQ(parse_nano("0.5").value(), 500'000'000);
  EXPECT_EQ(parse_nano("1n").value(), 1);
  EXPECT_EQ(parse_nano("0.1n").value(), 1);
  EXPECT_EQ(parse_nano("1500m").value(), 1'500'000'000);
  EXPECT_EQ(parse_nano("10G").value(), max);
  EXPECT_FALSE(parse_nano("one").has_value());
}

// BA-35
TEST(AmountArithmetic, keeps_unlimited_and_saturates) {
  EXPECT_EQ(add(max, min), max);
  EXPECT_EQ(add(max - 1, 5), max);
  EXPECT_EQ(add(min, -1), min);
  EXPECT_EQ(subtract(max, 5), max);
  EXPECT_EQ(subtract(max, max), 0);
  EXPECT_EQ(subtract(5, max), min);
  EXPECT_EQ(subtract(min, 1), min);
  EXPECT_EQ(multiply(max / 2, 3), max);
  EXPECT_EQ(multiply(min / 2, 3), min);
  EXPECT_EQ(multiply(1500, 4), 6000);
}

}  // namespace
}  // namespace hindsight
