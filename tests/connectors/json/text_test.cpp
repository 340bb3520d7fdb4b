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

// BA-21
TEST(Text, CutsMessagesAtACharacter) {
  EXPECT_EQ(cut_message("short", 5), "short");
  EXPECT_EQ(cut_message("longer than that", 10), "longer ...");
  EXPECT_EQ(cut_message("a\u00e4\u00e4\u00e4\u00e4", 8), "a\u00e4 ...");  // 9 bytes; the fourth begins the second umlaut
  const auto cut = cut_message(std::string(40000, 'x'), condition_message_max);
  EXPECT_EQ(cut.size(), condition_message_max);
  EXPECT_EQ(cut.substr(cut.size() - 5), "x ...");
}

}  // namespace
}  // namespace hindsight::connectors
