#include "connectors/json/text.hpp"

#include <gtest/gtest.h>

namespace hindsight::connectors {
namespace {

TEST(Text, ReadsIntegersThatFillTheText) {
  EXPECT_EQ(parse_int32("12"), 12);
  EXPECT_EQ(parse_int32("-12"), -12);
  EXPECT_EQ(parse_int32("+12"), 12);
  for (const auto* text : {"", "+", "+-1", "1x", " 1", "1.0", "2147483648"}) EXPECT_EQ(parse_int32(text), std::nullopt) << text;
}

TEST(Text, KnowsLabelValuesAndDnsLabels) {
  const std::string longest(63, 'a');
  for (const auto* text : {"", "a", "A.b_c-1", "78d1e61a-c399-4c09-800f-a0bbfb5fe71e"}) EXPECT_TRUE(is_label_value(text)) << text;
  for (const auto* text : {"-a", "a-", "a b", "a/b", "."}) EXPECT_FALSE(is_label_value(text)) << text;
  EXPECT_TRUE(is_label_value(longest));
  EXPECT_FALSE(is_label_value(longest + "a"));
  EXPECT_TRUE(is_dns_label("team-a"));
  for (const auto* text : {"", "Team", "a.b", "-a", "a-"}) EXPECT_FALSE(is_dns_label(text)) << text;
}

// CA-13
TEST(Text, SplitsAtCommas) {
  using Parts = std::vector<std::string_view>;
  for (const auto* text : {"", ",", " ", " , ,\t"}) EXPECT_EQ(comma_separated(text), Parts{}) << text;
  EXPECT_EQ(comma_separated("a"), Parts{"a"});
  EXPECT_EQ(comma_separated("a,b"), (Parts{"a", "b"}));
  EXPECT_EQ(comma_separated(" a ,\tb c\t,,a, "), (Parts{"a", "b c", "a"}));
}

}  // namespace
}  // namespace hindsight::connectors
