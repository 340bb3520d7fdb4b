#include "vocabulary/gate_names.hpp"

#include <algorithm>

namespace hindsight {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

std::vector<std::string_view> gate_names(std::string_view value) {
  std::vector<std::string_view> names;
  if (value.empty()) return names;
  for (;;) {
    const auto comma = value.find(',');
    names.push_back(trimmed(value.substr(0, comma)));
    if (comma == std::string_view::npos) return names;
    value.remove_prefix(comma + 1);
  }
}

bool shrinks_gates(std::string_view before, std::string_view after) {
  if (before.empty() || before == after) return false;
  const auto old_names = gate_names(before);
  const auto names = gate_names(after);
  return std::all_of(names.begin(), names.end(),
                     [&](std::string_view name) { return std::find(old_names.begin(), old_names.end(), name) != old_names.end(); });
}

}  // namespace hindsight
