#pragma once

#include <algorithm>
#include <string>
#include <string_view>

/// Letters and digits as the API's names know them: ASCII, whatever the locale says.
namespace hindsight {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

/// Whether `text` in small letters is `small`.
[[nodiscard]] constexpr bool is_lower_of(std::string_view text, std::string_view small) {
  return std::equal(text.begin(), text.end(), small.begin(), small.end(), [](char a, char b) { return lower(a) == b; });
}

}  // namespace hindsight
