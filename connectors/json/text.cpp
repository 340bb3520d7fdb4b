#include "connectors/json/text.hpp"

#include <algorithm>
#include <charconv>

namespace hindsight::connectors {
namespace {

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }
constexpr std::size_t label_max = 63;

}  // namespace

bool is_true(std::string_view text) {
  return text == "true" || text == "1" || text == "t" || text == "T" || text == "TRUE" || text == "True";
}

std::optional<std::int32_t> parse_int32(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_label_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= label_max && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.size() <= label_max && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

std::vector<std::string_view> comma_separated(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> out;
  while (!text.empty()) {
    auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    part.remove_prefix(std::min(part.find_first_not_of(blanks), part.size()));
    part = part.substr(0, part.find_last_not_of(blanks) + 1);
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

}  // namespace hindsight::connectors
