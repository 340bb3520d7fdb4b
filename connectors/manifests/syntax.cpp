#include "connectors/manifests/syntax.hpp"

#include <algorithm>
#include <cmath>

#include "vocabulary/ascii.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::manifests {
namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_alnum(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

bool is_label_of_subdomain(std::string_view text) {
  if (text.empty()) return false;
  const auto outer = [](char c) { return is_lower(c) || is_digit(c); };
  if (!outer(text.front()) || !outer(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return outer(c) || c == '-'; });
}

bool is_name_part(std::string_view text) {
  if (text.empty() || text.size() > 63 || !is_alnum(text.front()) || !is_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

/// The parts of a quantity: the number as written and the power that its suffix stands for.
struct QuantityParts {
  long double number = 0;
  long double factor = 1;
};

/// Reads digits with an optional point from `text` at `at`; false where there is not one digit.
bool read_decimal(std::string_view text, std::size_t& at, long double& value) {
  bool any = false;
  value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at, any = true) value = value * 10 + (text[at] - '0');
  if (at < text.size() && text[at] == '.') {
    ++at;
    for (long double unit = 0.1L; at < text.size() && is_digit(text[at]); ++at, unit /= 10, any = true) value += unit * (text[at] - '0');
  }
  return any;
}

std::optional<long double> suffix_factor(std::string_view suffix) {
  if (suffix.empty()) return 1.0L;
  constexpr std::string_view binary = "KMGTPE";
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto power = binary.find(suffix[0]);
    if (power == std::string_view::npos) return std::nullopt;
    return std::pow(1024.0L, static_cast<long double>(power + 1));
  }
  if (suffix.size() != 1) return std::nullopt;
  switch (suffix[0]) {
    case 'n':
      return 1e-9L;
    case 'u':
      return 1e-6L;
    case 'm':
      return 1e-3L;
    case 'k':
      return 1e3L;
    case 'M':
      return 1e6L;
    case 'G':
      return 1e9L;
    case 'T':
      return 1e12L;
    case 'P':
      return 1e15L;
    case 'E':
      return 1e18L;
    default:
      return std::nullopt;
  }
}

std::optional<QuantityParts> read_quantity(std::string_view text) {
  std::size_t at = 0;
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    at = 1;
  }
  QuantityParts parts;
  if (!read_decimal(text, at, parts.number)) return std::nullopt;
  if (negative) parts.number = -parts.number;
  if (at + 1 < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool shrink = false;
    if (text[at] == '+' || text[at] == '-') shrink = text[at++] == '-';
    long double exponent = 0;
    if (!read_decimal(text, at, exponent) || at != text.size()) return std::nullopt;
    parts.factor = std::pow(10.0L, shrink ? -exponent : exponent);
    return parts;
  }
  const auto factor = suffix_factor(text.substr(at));
  if (!factor) return std::nullopt;
  parts.factor = *factor;
  return parts;
}

/// Edit distance without regard to case; changes of case alone cost nothing.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (;;) {
    const auto dot = text.find('.');
    if (!is_label_of_subdomain(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_dns_label(std::string_view text) { return text.size() <= 63 && is_label_of_subdomain(text); }

bool is_qualified_name(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return is_name_part(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_name_part(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_name_part(text); }

bool is_condition_reason(std::string_view text) {
  if (text.empty() || text.size() > 1024 || !(is_lower(text.front()) || is_upper(text.front()))) return false;
  if (!is_alnum(text.back()) && text.back() != '_') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_alnum(c) || c == '_' || c == ',' || c == ':'; });
}

bool is_quantity(std::string_view text) { return read_quantity(text).has_value(); }

std::optional<long double> quantity_value(std::string_view text) {
  const auto parts = read_quantity(text);
  if (!parts) return std::nullopt;
  return parts->number * parts->factor;
}

bool is_time(std::string_view text) { return parse_rfc3339(text).has_value(); }

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.size() > 200) return {};
  if (word.size() >= 3) {
    for (const auto candidate : candidates)
      if (candidate.size() > word.size() && distance(word, candidate.substr(0, word.size())) == 0) return candidate;
  }
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto candidate : candidates) {
    const std::size_t d = distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace hindsight::connectors::manifests
