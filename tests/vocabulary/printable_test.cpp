#include "vocabulary/printable.hpp"

#include <gtest/gtest.h>

#include "vocabulary/utf8.hpp"

namespace hindsight {
namespace {

using namespace std::string_literals;

TEST(Printable, leaves_what_people_write) {
  for (const std::string text :
       {"", "plain", "C:\\path \\x1b", "grün, naïve, Ελλάδα, привет, 漢字, かな, 한국어, שלום, مرحبا, हिन्दी, ไทย", "🚀 ✓ → …"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text)) << text;
  }
}

TEST(Printable, shows_what_a_terminal_obeys) {
  const std::pair<std::string, std::string> cases[] = {
      {"\x1b[31m", "\\x1b[31m"},  // an escape sequence
      {"a\nb\tc\rd",
       "a\\nb\\tc\\x0d"
       "d"},                                // lines and columns
      {"\x07\x08\x7f", "\\x07\\x08\\x7f"},  // bell, backspace, delete
      {"a\0b"s,
       "a\\x00"
       "b"},  // an end
      {"\xc2\x9b"
       "2J\xc2\x85",
       "\\x9b2J\\x85"},  // C1: CSI, next line
      {"\xe2\x80\xae"
       "cba",
       "\\u202ecba"},                                                 // right-to-left override
      {"\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c", "\\u2066\\u2069\\u061c"},  // isolates, Arabic letter mark
      {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},                 // line and paragraph separators
      {"a\xe2\x80\x8b"
       "b\xef\xbb\xbf",
       "a\\u200b"
       "b\\ufeff"},                                  // no width
      {"\xf3\xa0\x80\x81", "\\U000e0001"},           // a tag
      {"\xff\xfe", "\\xff\\xfe"},                    // no UTF-8
      {"\xe2\x82", "\\xe2\\x82"},                    // cut in the middle
      {"\xc0\xaf", "\\xc0\\xaf"},                    // longer than needed
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond the last one
      {"\xef\xbf\xbe", "\\ufffe"}};
  for (const auto& [text, wanted] : cases) {
    EXPECT_EQ(printable(text), wanted);
    EXPECT_FALSE(is_printable(text)) << wanted;
    EXPECT_TRUE(is_printable(printable(text))) << wanted;
  }
  EXPECT_EQ(printable_lines("a\nb\x1b\n"), "a\nb\\x1b\n");
}

// Whatever the bytes, what comes out is printable, and printing it again changes nothing.
TEST(Printable, is_harmless_for_all_pairs_of_bytes) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b)
      for (const std::string tail : {"", "\x80", "\xbf\x80"}) {
        const std::string text = std::string{static_cast<char>(a), static_cast<char>(b)} + tail;
        const std::string shown = printable(text);
        ASSERT_TRUE(is_printable(shown)) << a << " " << b;
        ASSERT_EQ(printable(shown), shown);
      }
}

TEST(Printable, documents_keep_their_values) {
  EXPECT_EQ(escaped_document("{\n  \"a\": \"\xc2\x9b\xe2\x80\xae\x7f\"\n}", false), "{\n  \"a\": \"\\u009b\\u202e\\u007f\"\n}");
  EXPECT_EQ(escaped_document("\"\xf3\xa0\x80\x81\"", false), "\"\\udb40\\udc01\"");
  EXPECT_EQ(escaped_document("\"\xf3\xa0\x80\x81\"", true), "\"\\U000e0001\"");
  EXPECT_EQ(escaped_document("\"漢 🚀\"", false), "\"漢 🚀\"");
}

TEST(Printable, wide_characters_take_two_columns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("grün"), 4U);
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(display_width("한국"), 4U);
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);  // a combining accent
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Utf8, characters_are_read_as_they_are_written) {
  const auto is = [](std::string_view text, char32_t code, std::uint32_t size) {
    const auto c = first_character(text);
    return c.code == code && c.size == size;
  };
  EXPECT_TRUE(is("a", 'a', 1));
  EXPECT_TRUE(is("\xc3\xbc", 0xFC, 2));
  EXPECT_TRUE(is("\xe2\x82\xac", 0x20AC, 3));
  EXPECT_TRUE(is("\xf0\x9f\x9a\x80", 0x1F680, 4));
  EXPECT_TRUE(is("\xf4\x8f\xbf\xbf", 0x10FFFF, 4));
  for (const char* bad :
       {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"})
    EXPECT_EQ(first_character(bad).size, 0U);
}

}  // namespace
}  // namespace hindsight
