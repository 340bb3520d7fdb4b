#include "vocabulary/amount.hpp"

#include <array>
#include <optional>

#include "vocabulary/ascii.hpp"

namespace hindsight {
namespace {

/// value = digits · 10^decimal · 2^binary, with its sign apart.
struct Number {
  bool negative = false;
  std::string digits;  ///< Without leading zeros; empty: zero.
  std::int64_t decimal = 0;
  int binary = 0;
};

struct Suffix {
  std::string_view text;
  int decimal;
  int binary;
};

// Both tables are ordered as the canonical printing climbs them.
constexpr std::array<Suffix, 10> decimal_suffixes{{{"n", -9, 0},
                                                   {"u", -6, 0},
                                                   {"m", -3, 0},
                                                   {"", 0, 0},
                                                   {"k", 3, 0},
                                                   {"M", 6, 0},
                                                   {"G", 9, 0},
                                                   {"T", 12, 0},
                                                   {"P", 15, 0},
                                                   {"E", 18, 0}}};
constexpr std::array<Suffix, 6> binary_suffixes{{{"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}}};

/// Any exponent beyond this decides between zero and "out of range" by its sign alone.
constexpr std::int64_t exponent_limit = 1'000'000;

/// "e3", "E-9": the exponent; nothing when it is not one.
std::optional<std::int64_t> exponent_of(std::string_view suffix) {
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  bool negative = false;
  if (suffix[0] == '+' || suffix[0] == '-') {
    negative = suffix[0] == '-';
    suffix.remove_prefix(1);
  }
  if (suffix.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : suffix) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
    if (value > exponent_limit) value = exponent_limit;
  }
  return negative ? -value : value;
}

Result<Number> read(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::invalid,
                "quantity \"" + std::string(text) + "\": " + std::string(why) +
                    "; expected a number with one of the suffixes n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or e<exponent>");
  };
  std::string_view rest = text;
  Number out;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    out.negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  bool any_digit = false;
  bool behind_point = false;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == '.' && !behind_point) {
      behind_point = true;
    } else if (is_digit(c)) {
      any_digit = true;
      if (!out.digits.empty() || c != '0') out.digits += c;
      if (behind_point) --out.decimal;
    } else {
      break;
    }
    rest.remove_prefix(1);
  }
  if (!any_digit) return refuse("not a number");

  for (const auto& s : decimal_suffixes) {
    if (s.text == rest) {
      out.decimal += s.decimal;
      return out;
    }
  }
  for (const auto& s : binary_suffixes) {
    if (s.text == rest) {
      out.binary = s.binary;
      return out;
    }
  }
  const auto exponent = exponent_of(rest);
  if (!exponent) return refuse("unknown suffix \"" + std::string(rest) + "\"");
  out.decimal += *exponent;
  return out;
}

/// digits · 1024, in place.
void times_1024(std::string& digits) {
  int carry = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    const int v = (digits[i] - '0') * 1024 + carry;
    digits[i] = static_cast<char>('0' + v % 10);
    carry = v / 10;
  }
  while (carry > 0) {
    digits.insert(digits.begin(), static_cast<char>('0' + carry % 10));
    carry /= 10;
  }
}

/// The number in units of 10^-scale; what is left over rounds away from zero, as the Go library does ("if you want some
/// resources, you should get some").
std::int64_t in_units(Number n, int scale) {
  if (n.digits.empty()) return 0;
  for (int i = 0; i < n.binary; i += 10) times_1024(n.digits);
  const std::int64_t point = n.decimal + scale;  // how many zeros to append (or digits to cut off)
  const auto size = static_cast<std::int64_t>(n.digits.size());
  const std::int64_t limit = n.negative ? amount_min : unlimited;
  if (size + point > 19) return limit;

  std::uint64_t value = 0;  // 19 digits fit
  for (std::int64_t i = 0; i < size + point; ++i)
    value = value * 10 + static_cast<std::uint64_t>(i < size ? n.digits[static_cast<std::size_t>(i)] - '0' : 0);
  const auto cut = static_cast<std::size_t>(size + point > 0 ? size + point : 0);
  if (point < 0 && n.digits.find_first_not_of('0', cut) != std::string::npos) ++value;
  if (value > static_cast<std::uint64_t>(unlimited)) return limit;
  return n.negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

bool prints_binary(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
}

std::string signed_text(bool negative, std::uint64_t magnitude, std::string_view suffix) {
  return (negative ? "-" : "") + std::to_string(magnitude) + std::string(suffix);
}

}  // namespace

Result<Amount> parse_quantity(std::string_view text, std::string_view resource) {
  auto number = read(text);
  if (!number) return tl::unexpected(std::move(number.error()));
  return in_units(std::move(*number), resource == "cpu" ? 3 : 0);
}

Result<std::int64_t> parse_nano(std::string_view text) {
  auto number = read(text);
  if (!number) return tl::unexpected(std::move(number.error()));
  return in_units(std::move(*number), 9);
}

Result<NanoAmount> parse_nano_amount(std::string_view text) {
  auto number = read(text);
  if (!number) return tl::unexpected(std::move(number.error()));
  constexpr NanoAmount limit = static_cast<NanoAmount>(unlimited) * 1'000'000'000;
  if (number->negative || number->digits.empty()) return NanoAmount{0};
  for (int i = 0; i < number->binary; i += 10) times_1024(number->digits);
  const std::int64_t point = number->decimal + 9;  // how many zeros to append (or digits to cut off)
  const auto size = static_cast<std::int64_t>(number->digits.size());
  if (size + point > 29) return limit;
  NanoAmount value = 0;  // 29 digits fit
  for (std::int64_t i = 0; i < size + point; ++i) value = value * 10 + (i < size ? number->digits[static_cast<std::size_t>(i)] - '0' : 0);
  return value < limit ? value : limit;
}

std::string format_nano_amount(NanoAmount amount) {
  if (amount <= 0) return "0";
  int exponent = -9;
  for (; amount % 1000 == 0 && exponent < 18; exponent += 3) amount /= 1000;
  std::string digits;
  for (; amount > 0; amount /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(amount % 10)));
  for (const auto& s : decimal_suffixes)
    if (s.decimal == exponent) return digits + std::string(s.text);
  return digits;  // not reached: the table has every exponent
}

std::string format_amount(Amount amount, std::string_view resource) {
  if (amount == 0) return "0";
  const bool negative = amount < 0;
  std::uint64_t magnitude = negative ? ~static_cast<std::uint64_t>(amount) + 1 : static_cast<std::uint64_t>(amount);

  if (prints_binary(resource) && magnitude >= 1024) {
    std::size_t power = 0;
    for (; magnitude % 1024 == 0; ++power) magnitude /= 1024;
    return signed_text(negative, magnitude, power == 0 ? "" : binary_suffixes[power - 1].text);
  }

  // As few digits as a suffix allows: the exponent must be a multiple of three.
  int exponent = resource == "cpu" ? -3 : 0;
  for (; magnitude % 1000 == 0; exponent += 3) magnitude /= 1000;
  for (const auto& s : decimal_suffixes) {
    if (s.decimal == exponent) return signed_text(negative, magnitude, s.text);
  }
  return signed_text(negative, magnitude, "");  // not reached: 64 bits end below 10^19
}

}  // namespace hindsight
