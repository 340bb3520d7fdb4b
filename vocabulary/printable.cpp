#include "vocabulary/printable.hpp"

#include <algorithm>
#include <array>

#include "vocabulary/utf8.hpp"

namespace hindsight {
namespace {

struct Range {
  char32_t first, last;
};

/// Unicode categories Cc, Cf, Zl and Zp as far as they change what is shown around them, and noncharacters: C0, DEL, C1; soft hyphen;
/// Arabic marks; zero widths, bidirectional marks, embeddings, overrides and isolates; invisible operators; fillers; byte order mark and
/// annotations; musical and shorthand controls; tags and variation selectors beyond the first plane.
constexpr std::array<Range, 23> unprintable{{{0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},  {0x034F, 0x034F}, {0x0600, 0x0605},
                                             {0x061C, 0x061C},   {0x06DD, 0x06DD},   {0x070F, 0x070F},  {0x115F, 0x1160}, {0x17B4, 0x17B5},
                                             {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},  {0x2060, 0x206F}, {0x3164, 0x3164},
                                             {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF},
                                             {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}}};

/// East Asian Wide and Fullwidth, and emoji that terminals show as such (UAX #11, by blocks).
constexpr std::array<Range, 25> wide{{{0x1100, 0x115E}, {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC},   {0x25FD, 0x25FE},
                                      {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26AA, 0x26AB}, {0x2705, 0x2705},   {0x274C, 0x274C},
                                      {0x2753, 0x2755}, {0x2795, 0x2797}, {0x2B1B, 0x2B1C}, {0x2E80, 0x303E},   {0x3041, 0x33FF},
                                      {0x3400, 0x4DBF}, {0x4E00, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}}};

/// Combining marks of the scripts that names and messages are mostly written in.
constexpr std::array<Range, 12> combining{{{0x0300, 0x036F},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05BD},
                                           {0x0610, 0x061A},
                                           {0x064B, 0x065F},
                                           {0x0E34, 0x0E3A},
                                           {0x0E47, 0x0E4E},
                                           {0x1AB0, 0x1AFF},
                                           {0x1DC0, 0x1DFF},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F}}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t code) {
  const auto it = std::upper_bound(ranges.begin(), ranges.end(), code, [](char32_t c, const Range& r) { return c < r.first; });
  return it != ranges.begin() && code <= std::prev(it)->last;
}

bool is_shown(char32_t code) {
  if (code >= 0x20 && code < 0x7F) return true;
  return !is_in(unprintable, code) && (code & 0xFFFEU) != 0xFFFEU;
}

void append_hex(std::string& out, std::string_view prefix, char32_t value, int digits) {
  static constexpr std::string_view symbols = "0123456789abcdef";
  out += prefix;
  for (int i = digits - 1; i >= 0; --i) out += symbols[(value >> (4 * i)) & 0xFU];
}

void append_escape(std::string& out, char32_t code) {
  if (code == '\n')
    out += "\\n";
  else if (code == '\t')
    out += "\\t";
  else if (code <= 0xFF)
    append_hex(out, "\\x", code, 2);
  else if (code <= 0xFFFF)
    append_hex(out, "\\u", code, 4);
  else
    append_hex(out, "\\U", code, 8);
}

std::string shown(std::string_view text, bool keep_line_feeds) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.size == 0) {
      append_escape(out, static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (is_shown(c.code) || (keep_line_feeds && c.code == '\n'))
      out.append(text.substr(0, c.size));
    else
      append_escape(out, c.code);
    text.remove_prefix(c.size);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return shown(text, false); }
std::string printable_lines(std::string_view text) { return shown(text, true); }

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.size == 0 || !is_shown(c.code)) return false;
    text.remove_prefix(c.size);
  }
  return true;
}

std::string escaped_document(std::string_view text, bool long_escapes) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    const std::size_t size = c.size == 0 ? 1 : c.size;
    if (c.size == 0)
      out += "\xEF\xBF\xBD";  // what a writer of JSON puts in its place
    else if (is_shown(c.code) || c.code < 0x20)
      out.append(text.substr(0, size));
    else if (c.code <= 0xFFFF)
      append_hex(out, "\\u", c.code, 4);
    else if (long_escapes)
      append_hex(out, "\\U", c.code, 8);
    else {
      append_hex(out, "\\u", 0xD800 + ((c.code - 0x10000) >> 10U), 4);
      append_hex(out, "\\u", 0xDC00 + ((c.code - 0x10000) & 0x3FFU), 4);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t out = 0;
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.size <= 1)
      ++out;
    else if (!is_in(combining, c.code))
      out += is_in(wide, c.code) ? 2 : 1;
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
  return out;
}

}  // namespace hindsight
