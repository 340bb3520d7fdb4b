#include "connectors/manifests/quantity_text.hpp"

#include <algorithm>
#include <array>

#include "connectors/manifests/syntax.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::connectors::manifests {
namespace {

using Millis = MilliQuantity::Millis;
using SuffixForm = MilliQuantity::Form;

constexpr Millis most_millis = Millis{9'223'372'036'854'775'807} * 1000;
constexpr std::string_view decimal_suffixes = "kMGTPE";
constexpr std::string_view binary_suffixes = "KMGTPE";

/// Stays at `bound` once it is there.
Millis times(Millis a, Millis b, Millis bound) { return a > bound / b ? bound : a * b; }

Millis power_of_ten(int exponent, Millis bound) {
  Millis out = 1;
  for (int i = 0; i < exponent && out < bound; ++i) out = times(out, 10, bound);
  return out;
}

/// What follows the digits: a power of ten, and of 1024.
struct Scale {
  int ten = 0;
  int kibi = 0;
  SuffixForm form = SuffixForm::decimal;
};

Scale scale_of(std::string_view suffix) {
  Scale out;
  if (suffix.empty()) return out;
  if (suffix.size() == 2 && suffix[1] == 'i') {
    out.kibi = static_cast<int>(binary_suffixes.find(suffix[0])) + 1;
    out.form = SuffixForm::binary;
  } else if (suffix.size() == 1) {
    const auto large = decimal_suffixes.find(suffix[0]);
    out.ten = large != std::string_view::npos ? 3 * static_cast<int>(large + 1) : suffix[0] == 'm' ? -3 : suffix[0] == 'u' ? -6 : -9;
  } else {  // "e3", "E-3"
    constexpr int far = 1000;
    out.form = SuffixForm::exponent;
    const bool negative = suffix[1] == '-';
    for (const char c : suffix.substr(1))
      if (is_digit(c)) out.ten = std::min(far, out.ten * 10 + (c - '0'));
    if (negative) out.ten = -out.ten;
  }
  return out;
}

std::string digits(Millis value) {
  std::string out;
  for (; value > 0; value /= 10) out += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(out.begin(), out.end());
  return out.empty() ? "0" : out;
}

std::string decimal_text(Millis millis, bool exponents) {
  int power = -3;
  while (power < 18 && millis % 1000 == 0 && millis != 0) {
    millis /= 1000;
    power += 3;
  }
  if (millis == 0) power = 0;
  std::string out = digits(millis);
  if (power == 0) return out;
  if (exponents) return out + "e" + std::to_string(power);
  return out + (power < 0 ? 'm' : decimal_suffixes[static_cast<std::size_t>(power / 3 - 1)]);
}

std::string binary_text(Millis units) {
  std::size_t power = 0;
  while (power < binary_suffixes.size() && units % 1024 == 0) {
    units /= 1024;
    ++power;
  }
  std::string out = digits(units);
  if (power > 0) out.append(1, binary_suffixes[power - 1]).append("i");
  return out;
}

}  // namespace

std::optional<MilliQuantity> read_milli_quantity(std::string_view text) {
  if (!is_quantity(text)) return std::nullopt;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  constexpr Millis bound = Millis{1} << 120;  // far beyond all that is kept
  Millis mantissa = 0;
  int fraction = 0;
  bool point = false, lost = false;
  std::size_t at = 0;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] == '.') {
      point = true;
    } else if (point && (fraction >= 30 || mantissa >= bound / 10)) {
      lost = lost || text[at] != '0';
    } else {
      mantissa = std::min(bound, times(mantissa, 10, bound) + (text[at] - '0'));
      if (point) ++fraction;
    }
  }
  const Scale scale = scale_of(text.substr(at));
  Millis value = mantissa;
  for (int i = 0; i < scale.kibi; ++i) value = times(value, 1024, bound);
  const int ten = scale.ten + 3 - fraction;
  if (ten >= 0) {
    value = value == 0 ? 0 : times(value, power_of_ten(ten, bound), bound);
  } else {
    const Millis divisor = power_of_ten(-ten, bound);
    value = value / divisor + (value % divisor != 0 ? 1 : 0);
  }
  if (lost && value == 0) value = 1;
  MilliQuantity out;
  out.millis = std::min(value, most_millis);
  if (negative) out.millis = -out.millis;
  out.form = scale.form;
  return out;
}

std::string canonical_text(const MilliQuantity& quantity) {
  const std::string sign = quantity.millis < 0 ? "-" : "";
  const Millis millis = quantity.millis < 0 ? -quantity.millis : quantity.millis;
  if (quantity.form == SuffixForm::binary && millis >= 1024 * 1000) return sign + binary_text(millis / 1000 + (millis % 1000 != 0 ? 1 : 0));
  return sign + decimal_text(millis, quantity.form == SuffixForm::exponent);
}

}  // namespace hindsight::connectors::manifests
