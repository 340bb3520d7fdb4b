#include "casefile/escape.hpp"

#include <algorithm>
#include <cctype>

#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::casefile {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string html(std::string_view text) { return escaped(printable(text)); }

std::string html_lines(std::string_view text) { return escaped(printable_lines(text)); }

std::string html_cut(std::string_view text, std::size_t most) {
  const std::string_view begin = cut_text(text, most);
  if (begin.size() == text.size()) return html(text);
  return html(begin) + " … (" + std::to_string(text.size() - begin.size()) + " bytes more)";
}

std::string markdown_code(std::string_view text) {
  std::string out = printable(text);
  std::replace(out.begin(), out.end(), '`', '\'');
  return "`" + out + "`";
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '/' || c == '-' || c == ':' || c == ',';
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), [&](char c) { return is_plain(static_cast<unsigned char>(c)); }))
    return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace hindsight::casefile
