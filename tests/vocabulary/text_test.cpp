// Texts that are cut and texts that are no UTF-8: what is decided, compared, written and stored never has half a character.
#include "vocabulary/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

namespace hindsight {
namespace {

// BA-21: ends in " ...", at the border of a character.
TEST(CutMessage, EndsInDotsAtTheBorderOfACharacter) {
  EXPECT_EQ(cut_message("short", 5), "short");
  EXPECT_EQ(cut_message("exactly10!", 10), "exactly10!");
  EXPECT_EQ(cut_message("longer than that", 10), "longer ...");
  EXPECT_EQ(cut_message("a\u00e4\u00e4\u00e4\u00e4", 8), "a\u00e4 ...");  // 9 bytes; the fourth begins the second umlaut
  EXPECT_EQ(cut_message("abcde\u00e4\u00f6\u00fc", 10), "abcde ...");
  EXPECT_EQ(cut_message("ab\U0001F600cdef", 9), "ab ...");
}

// For texts that go on elsewhere, or are told in a frame of their own: no dots.
TEST(CutText, EndsAtTheBorderOfACharacter) {
  EXPECT_EQ(cut_text("short", 5), "short");
  EXPECT_EQ(cut_text("", 0), "");
  EXPECT_EQ(cut_text("abc", 0), "");
  EXPECT_EQ(cut_text("exactly10!", 9), "exactly10");
  EXPECT_EQ(cut_text("a\u00e4\u00e4", 4), "a\u00e4");
  EXPECT_EQ(cut_text("a\u00e4\u00e4", 5), "a\u00e4\u00e4");
  for (const std::size_t max : {2U, 3U, 4U, 5U}) EXPECT_EQ(cut_text("ab\U0001F600cd", max), "ab");
  EXPECT_EQ(cut_text("ab\U0001F600cd", 6), "ab\U0001F600");
  EXPECT_GE(cut_text(std::string(100, '\x80'), 50).size(), 47U) << "what is no text does not vanish";
}

TEST(CutMessage, KeepsNoMoreThanTheLimit) {
  const auto cut = condition_message(std::string(40000, 'x'));
  EXPECT_EQ(cut.size(), limits::condition_message.size());
  EXPECT_EQ(cut.substr(cut.size() - 5), "x ...");
}

TEST(CutMessage, OfWhatWasCutChangesNothing) {
  std::mt19937 random(1);
  const std::array<std::string, 4> characters{"a", "\u00e4", "\u4e2d", "\U0001F600"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t n = random() % 60; n > 0; --n) text += characters[random() % characters.size()];
    const std::size_t max = 4 + random() % 40;
    const auto cut = cut_message(text, max);
    ASSERT_LE(cut.size(), max) << text;
    ASSERT_TRUE(is_utf8(cut)) << text << " at " << max;
    ASSERT_EQ(cut_message(cut, max), cut);
  }
}

/// A run of bytes that only go on is no text, and must not make everything before it vanish.
TEST(CutMessage, OfBytesThatAreNoTextStillFits) {
  const auto cut = cut_message(std::string(100, '\x80'), 50);
  EXPECT_LE(cut.size(), 50U);
  EXPECT_GT(cut.size(), 40U);
}

TEST(CutMiddle, KeepsTheBeginningAndTheEnd) {
  EXPECT_EQ(cut_middle("exactly sixteen!", 16), "exactly sixteen!");
  EXPECT_EQ(cut_middle("spec: 0123456789: no", 16), "spec: ... 89: no");
  const std::string refused = "spec.template: Invalid value: {" + std::string(10'000, 'x') + "}: field is immutable";
  const auto cut = cut_middle(refused, limits::finding.size());
  EXPECT_EQ(cut.size(), limits::finding.size());
  EXPECT_EQ(cut.substr(0, 31), "spec.template: Invalid value: {");
  EXPECT_EQ(cut.substr(cut.size() - 20), ": field is immutable");
  std::mt19937 random(1);
  const std::array<std::string, 4> characters{"a", "\u00e4", "\u4e2d", "\U0001F600"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t n = random() % 60; n > 0; --n) text += characters[random() % characters.size()];
    const std::size_t max = 16 + random() % 40;
    const auto shorter = cut_middle(text, max);
    ASSERT_LE(shorter.size(), max) << text;
    ASSERT_TRUE(is_utf8(shorter)) << text << " at " << max;
    ASSERT_EQ(cut_middle(shorter, max), shorter);
  }
  EXPECT_LE(cut_middle(std::string(100, '\x80'), 50).size(), 50U);
}

TEST(Utf8, IsJudgedAsTheStandardDoes) {
  for (const std::string text : {"", "plain", "\u00e4\u4e2d\U0001F600", "\xF4\x8F\xBF\xBF"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const std::string text : {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80",
                                 "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xE4\xBD",
                                 "\xE4\xBD"
                                 "a"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Utf8, IsMadeOfAnyBytes) {
  EXPECT_EQ(valid_utf8("a\xE4\xBD"), "a\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\u00e4"), "\u00e4");
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::size_t n = random() % 40; n > 0; --n) bytes += static_cast<char>(random());
    const auto text = valid_utf8(bytes);
    ASSERT_TRUE(is_utf8(text));
    ASSERT_EQ(valid_utf8(text), text);
    if (is_utf8(bytes)) {
      ASSERT_EQ(text, bytes);
    }
  }
}

}  // namespace
}  // namespace hindsight
