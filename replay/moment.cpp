#include "replay/moment.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "events/record_batch.hpp"

namespace hindsight::replay {
namespace {

using events::DomainTail;
using events::RecordBatch;

std::string where(const Log& log) { return "log " + std::string(log.name()); }

Result<Time> time_of(const Log& log, Position offset) {
  RecordBatch batch;
  if (auto ok = log.read(offset, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  if (batch.empty()) return fail(ErrorKind::not_found, where(log) + " has no record " + std::to_string(offset));
  return batch[0].time;
}

/// The last position at or before `time`.
Result<Position> up_to(const Log& log, Time time, Position last) {
  if (last == 0) return Position{0};
  const auto behind = log.seek(time + Duration{1});
  if (!behind) return tl::unexpected(behind.error());
  const auto first = log.first();
  if (!first) return first;
  if (*behind > *first) return *behind - 1;
  const auto begin = time_of(log, *first);
  if (!begin) return tl::unexpected(begin.error());
  return fail(ErrorKind::not_found, where(log) + " begins at " + format_rfc3339_micro(*begin) + ", after " + format_rfc3339_micro(time));
}

// ---- what people type -----------------------------------------------------------------------------------------------------------

std::optional<int> digits(std::string_view text, std::size_t count) {
  if (text.size() != count || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// "14:03", "14:03:10"
std::optional<Duration> parse_clock(std::string_view text) {
  if ((text.size() != 5 && text.size() != 8) || text[2] != ':' || (text.size() == 8 && text[5] != ':')) return std::nullopt;
  const auto hours = digits(text.substr(0, 2), 2), minutes = digits(text.substr(3, 2), 2);
  const auto seconds = text.size() == 8 ? digits(text.substr(6), 2) : std::optional(0);
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 59) return std::nullopt;
  return Duration::seconds(*hours * 3600 + *minutes * 60 + *seconds);
}

/// "2026-01-06"
std::optional<std::chrono::year_month_day> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text.substr(0, 4), 4), month = digits(text.substr(5, 2), 2), day = digits(text.substr(8), 2);
  if (!year || !month || !day || *year < 1970) return std::nullopt;
  const std::chrono::year_month_day out{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                        std::chrono::day(static_cast<unsigned>(*day))};
  return out.ok() ? std::optional(out) : std::nullopt;
}

/// "2026-01-06", "2026-01-06 14:03", "2026-01-06T14:03:10"
std::optional<Moment> parse_local(std::string_view text) {
  const auto day = parse_day(std::string_view(text.data(), std::min<std::size_t>(text.size(), 10)));
  if (!day) return std::nullopt;
  Moment out{.kind = Moment::Kind::local, .day = *day};
  if (text.size() == 10) return out;
  if (text[10] != ' ' && text[10] != 'T') return std::nullopt;
  const auto clock = parse_clock(text.substr(11));
  if (!clock) return std::nullopt;
  out.of_day = *clock;
  return out;
}

/// "5m", "1d", "2w3d12h": days and weeks come first, and have 24 hours and 7 days.
std::optional<Duration> parse_ago(std::string_view text) {
  constexpr std::int64_t most = 100'000;  // of either: further back than any log
  std::int64_t days = 0;
  bool any = false;
  for (const auto& [unit, length] : {std::pair{'w', std::int64_t{7}}, std::pair{'d', std::int64_t{1}}}) {
    const auto end = text.find_first_not_of("0123456789");
    if (end == 0 || end == std::string_view::npos || text[end] != unit) continue;
    std::int64_t count = 0;
    if (std::from_chars(text.data(), text.data() + end, count).ec != std::errc{} || count > most) return std::nullopt;
    days += count * length;
    text.remove_prefix(end + 1);
    any = true;
  }
  const Duration whole = Duration::seconds(days * 24 * 60 * 60);
  if (any && text.empty()) return whole;
  const auto rest = parse_duration(text);
  return rest ? std::optional(Duration{whole.micros + rest->micros}) : std::nullopt;
}

/// In the time zone of the process (TZ, else that of the machine).
Time local_time(std::chrono::year_month_day day, Duration of_day) {
  std::tm parts{};
  parts.tm_year = static_cast<int>(day.year()) - 1900;
  parts.tm_mon = static_cast<int>(static_cast<unsigned>(day.month())) - 1;
  parts.tm_mday = static_cast<int>(static_cast<unsigned>(day.day()));
  const auto seconds = static_cast<int>(of_day.micros / 1'000'000);
  parts.tm_hour = seconds / 3600;
  parts.tm_min = seconds / 60 % 60;
  parts.tm_sec = seconds % 60;
  parts.tm_isdst = -1;  // what holds on that day
  return Time::from_seconds(std::mktime(&parts));
}

std::chrono::year_month_day local_day(Time time) {
  const std::time_t seconds = time.micros / 1'000'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return {std::chrono::year(parts.tm_year + 1900), std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
          std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
}

/// The newest moment up to `end` at which a clock showed this.
Time last_shown(Duration of_day, Time end) {
  const auto today = local_day(end);
  const Time time = local_time(today, of_day);
  return time <= end ? time : local_time(std::chrono::sys_days(today) - std::chrono::days(1), of_day);
}

/// The time that a moment asks for which is neither a position nor the end; never: an empty log has none so long before its end.
Result<Time> asked_time(const Log& log, const Moment& moment, Position last) {
  const Time zero = Time::from_seconds(0);  // what is before it in the time zone of the process is before every log
  if (moment.kind == Moment::Kind::time) return moment.time;
  if (moment.kind == Moment::Kind::local) return std::max(local_time(moment.day, moment.of_day), zero);
  if (last == 0) return Time::never();
  const auto end = time_of(log, last);
  if (!end) return tl::unexpected(end.error());
  return std::max(moment.kind == Moment::Kind::clock ? last_shown(moment.of_day, *end) : *end - moment.ago, zero);
}

tl::unexpected<Error> past_the_end(const Log& log, Position position, Position last) {
  return fail(ErrorKind::not_found,
              "position " + std::to_string(position) + " is past the end of " + where(log) + ", which is " + std::to_string(last));
}

std::string listed(const std::vector<DomainTail>& domains) {
  std::string out;
  for (const auto& d : domains) out += (out.empty() ? "" : ", ") + d.domain;
  return out;
}

}  // namespace

Result<Moment> parse_moment(std::string_view text) {
  if (text == "latest" || text == "now") return Moment{};
  if (!text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    Moment m{.kind = Moment::Kind::position};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), m.position);
    if (error == std::errc{} && end == text.data() + text.size()) return m;
  } else if (text.starts_with('-')) {
    if (const auto ago = parse_ago(text.substr(1))) return Moment{.kind = Moment::Kind::ago, .ago = *ago};
  } else if (const auto time = parse_rfc3339(text)) {
    return Moment{.kind = Moment::Kind::time, .time = *time};
  } else if (const auto local = parse_local(text)) {
    return *local;
  } else if (const auto clock = parse_clock(text)) {
    return Moment{.kind = Moment::Kind::clock, .of_day = *clock};
  }
  return fail(ErrorKind::invalid,
              "found \"" + std::string(text) +
                  "\" for a moment; allowed: a position (120), a time (2026-01-01T00:00:10Z), one without a zone (\"2026-01-01 14:03\", "
                  "2026-01-01, 14:03), a duration back (-5m, -1d), now, latest");
}

Result<Located> locate(const Log& log, const Moment& moment) {
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  if (moment.kind == Moment::Kind::latest) return Located{.position = *last};
  if (moment.kind == Moment::Kind::position) {
    if (moment.position <= *last) return Located{.position = moment.position};
    return past_the_end(log, moment.position, *last);
  }
  const auto time = asked_time(log, moment, *last);
  if (!time) return tl::unexpected(time.error());
  if (!time->is_set()) return Located{};
  return up_to(log, *time, *last).map([&](Position position) { return Located{position, *time}; });
}

Result<Position> resolve(const Log& log, const Moment& moment) {
  return locate(log, moment).map([](const Located& located) { return located.position; });
}

Result<Position> resolve(const Log& log, std::string_view text) {
  const auto moment = parse_moment(text);
  if (!moment) return tl::unexpected(moment.error());
  return resolve(log, *moment);
}

Result<Position> first_record(const Log& log, std::string_view text) {
  const auto moment = parse_moment(text);
  if (!moment) return tl::unexpected(moment.error());
  const auto last = log.last();
  if (!last) return last;
  const auto first = log.first();
  if (!first) return first;
  if (moment->kind == Moment::Kind::latest) return std::max(*last, *first);
  if (moment->kind == Moment::Kind::position) {
    if (moment->position > *last + 1) return past_the_end(log, moment->position, *last);
    return std::max(moment->position, *first);
  }
  const auto time = asked_time(log, *moment, *last);
  if (!time) return tl::unexpected(time.error());
  return time->is_set() ? log.seek(*time) : Result<Position>(*first);
}

Result<std::string> choose_domain(const Log& log, std::string_view wanted) {
  const auto domains = log.domains();
  if (!domains) return tl::unexpected(domains.error());
  if (wanted.empty()) {
    if (domains->empty()) return std::string("default");
    if (domains->size() == 1) return domains->front().domain;
    return fail(ErrorKind::invalid, where(log) + " has several domains: name one of " + listed(*domains));
  }
  const bool known = std::any_of(domains->begin(), domains->end(), [&](const DomainTail& d) { return d.domain == wanted; });
  if (known) return std::string(wanted);
  return fail(ErrorKind::not_found, where(log) + " has no domain \"" + std::string(wanted) +
                                        "\"; it has: " + (domains->empty() ? std::string("none, it is empty") : listed(*domains)));
}

}  // namespace hindsight::replay
