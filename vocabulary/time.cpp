#include "vocabulary/time.hpp"

#include <array>
#include <chrono>
#include <cstdio>

#include "vocabulary/ascii.hpp"

namespace hindsight {
namespace {

__extension__ using Wide = __int128;  // -Wpedantic does not know the type by its plain name

/// Takes characters off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Exactly `n` digits; -1 when they are not there.
  int number(std::size_t n) {
    if (rest_.size() < n) return -1;
    int value = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_digit(rest_[i])) return -1;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(n);
    return value;
  }

  /// The longest run of characters that `accept` likes.
  template <class Accept>
  std::string_view run(Accept accept) {
    std::size_t n = 0;
    while (n < rest_.size() && accept(rest_[n])) ++n;
    const auto out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }

 private:
  std::string_view rest_;
};

std::string format(Time t, bool with_micros) {
  if (!t.is_set()) return {};
  using namespace std::chrono;
  const sys_time<microseconds> moment{microseconds{t.micros}};
  const auto day = floor<days>(moment);
  const year_month_day date{day};
  const hh_mm_ss clock{moment - day};
  std::array<char, 64> text{};
  int n = std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                        static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  if (with_micros) {
    n += std::snprintf(text.data() + n, text.size() - static_cast<std::size_t>(n), ".%06d", static_cast<int>(clock.subseconds().count()));
  }
  return std::string(text.data(), static_cast<std::size_t>(n)) + "Z";
}

/// The digits of a fraction as millionths; further digits are cut off.
std::int64_t millionths(std::string_view digits) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 6; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return value;
}

/// Nanoseconds of a unit of Go's time.ParseDuration; 0: no such unit. Both spellings of "micro" are allowed there.
std::int64_t unit_nanos(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us" || unit == "\u00b5s" || unit == "\u03bcs") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "s") return 1'000'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  return 0;
}

constexpr Wide nanos_max = std::int64_t{9'223'372'036'854'775'807};

}  // namespace

std::string format_rfc3339(Time t) { return format(t, false); }
std::string format_rfc3339_micro(Time t) { return format(t, true); }

Result<Time> parse_rfc3339(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::invalid,
                "time \"" + std::string(text) + "\": " + std::string(why) + "; expected RFC 3339 like 2026-01-01T00:00:00Z");
  };
  Scanner in(text);
  const int year = in.number(4);
  const bool date_ok = year >= 0 && in.take('-');
  const int month = date_ok ? in.number(2) : -1;
  const bool month_ok = month >= 0 && in.take('-');
  const int day = month_ok ? in.number(2) : -1;
  if (day < 0 || !in.take('T')) return refuse("no date");
  const int hour = in.number(2);
  const bool hour_ok = hour >= 0 && in.take(':');
  const int minute = hour_ok ? in.number(2) : -1;
  const bool minute_ok = minute >= 0 && in.take(':');
  const int second = minute_ok ? in.number(2) : -1;
  if (second < 0) return refuse("no time of day");
  std::int64_t micros = 0;
  if (in.take('.') || in.take(',')) {
    if (!in.at_digit()) return refuse("no digit behind the decimal point");
    micros = millionths(in.run(is_digit));
  }
  int zone_minutes = 0;
  if (!in.take('Z')) {
    const int sign = in.take('+') ? 1 : in.take('-') ? -1 : 0;
    const int zone_hour = sign == 0 ? -1 : in.number(2);
    const bool zone_ok = zone_hour >= 0 && zone_hour < 24 && in.take(':');
    const int zone_minute = zone_ok ? in.number(2) : -1;
    if (zone_minute < 0 || zone_minute > 59) return refuse("no time zone");
    zone_minutes = sign * (zone_hour * 60 + zone_minute);
  }
  if (!in.done()) return refuse("text behind the time");

  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return refuse("no such day");
  if (hour > 23 || minute > 59 || second > 59) return refuse("no such time of day");
  const auto moment = sys_days{date} + hours{hour} + minutes{minute - zone_minutes} + seconds{second};
  const Time t{duration_cast<microseconds>(moment.time_since_epoch()).count() + micros};
  if (!t.is_set()) return refuse("before 1970");
  return t;
}

Result<Duration> parse_duration(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::invalid,
                "duration \"" + std::string(text) + "\": " + std::string(why) + "; expected one like 300ms, 1.5h or 1m30s");
  };
  Scanner in(text);
  if (in.take('-')) return refuse("negative");
  in.take('+');
  if (in.done()) return refuse("empty");
  if (text == "0" || text == "+0") return Duration{};

  Wide nanos = 0;
  while (!in.done()) {
    const auto whole = in.run(is_digit);
    const bool point = in.take('.');
    const auto fraction = point ? in.run(is_digit) : std::string_view{};
    if (whole.empty() && fraction.empty()) return refuse("no number before the unit");
    const auto unit = in.run([](char c) { return !is_digit(c) && c != '.'; });
    if (unit.empty()) return refuse("no unit");
    const Wide scale = unit_nanos(unit);
    if (scale == 0) return refuse("unknown unit \"" + std::string(unit) + "\"");

    Wide value = 0;
    for (const char c : whole) {
      value = value * 10 + (c - '0');
      if (value > nanos_max) return refuse("too long");
    }
    nanos += value * scale;
    // A tenth of the unit for the first digit, and so on, in units of 10^-18 ns: 1.5h and 0.3us come out exact.
    constexpr Wide exact = 1'000'000'000'000'000'000;
    Wide digit_worth = scale * exact;
    Wide part = 0;
    for (const char c : fraction) {
      digit_worth /= 10;
      part += digit_worth * (c - '0');
    }
    nanos += part / exact;
    if (nanos > nanos_max) return refuse("too long");
  }
  return Duration{static_cast<std::int64_t>(nanos / 1'000)};
}

}  // namespace hindsight
