#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "page/timeline/steps.hpp"
#include "page/views/record_lines.hpp"
#include "replay/moment.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

constexpr std::size_t moment_text_max = 100;
constexpr Duration a_day = Duration::seconds(24 * 60 * 60);

/// How far a zone is ahead of UTC: "UTC", "Z", "+02:00", "-03:30". A blank stands where a query's "+" was not encoded.
std::optional<Duration> ahead_of_utc(std::string_view zone) {
  if (zone.empty() || zone == "UTC" || zone == "Z") return Duration{};
  const auto digit = [&](std::size_t at) { return zone[at] >= '0' && zone[at] <= '9' ? zone[at] - '0' : -100; };
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-' && zone[0] != ' ') || zone[3] != ':') return std::nullopt;
  const int hours = digit(1) * 10 + digit(2), minutes = digit(4) * 10 + digit(5);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return std::nullopt;
  const Duration out = Duration::seconds(hours * 3600 + minutes * 60);
  return zone[0] == '-' ? Duration{-out.micros} : out;
}

Result<Time> time_of_last(const events::Log& log) {
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  events::RecordBatch batch;
  if (*last == 0) return Time{0};
  if (auto ok = log.read(*last, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  return batch.empty() ? Time{0} : batch[0].time;
}

/// What is said in the time of a zone as a time of all: the zone of this process is not that of who asks.
Result<replay::Moment> in_zone(const events::Log& log, replay::Moment moment, Duration ahead) {
  using Kind = replay::Moment::Kind;
  if (moment.kind != Kind::local && moment.kind != Kind::clock) return moment;
  Time time;
  if (moment.kind == Kind::local) {
    const auto days = std::chrono::sys_days(moment.day).time_since_epoch().count();
    time = Time::from_seconds(std::int64_t{days} * 24 * 60 * 60) + moment.of_day - ahead;
  } else {
    // The newest such time of day up to the end of the log.
    const auto end = time_of_last(log);
    if (!end) return tl::unexpected(end.error());
    const Time there = *end + ahead;
    const std::int64_t day = there.micros >= 0 ? there.micros / a_day.micros : 0;
    time = Time{day * a_day.micros} + moment.of_day - ahead;
    if (time > *end) time = time - a_day;
  }
  return replay::Moment{.kind = Kind::time, .time = std::max(time, Time{0})};
}

}  // namespace

Result<Json> moment(const Look& look, const Parameters& parameters) {
  const auto text = parameters.text("text");
  if (text.empty() || text.size() > moment_text_max)
    return fail(ErrorKind::invalid, "text: found " + std::to_string(text.size()) + " bytes; allowed: 1 to " +
                                        std::to_string(moment_text_max) + ", as now, -1d, 14:03, \"2026-01-06 14:03\", 120");
  const auto zone = parameters.text("tz");
  const auto ahead = ahead_of_utc(zone);
  if (!ahead)
    return fail(ErrorKind::invalid, "tz: found \"" + printable(cut_text(zone, 80)) + "\"; allowed: UTC, or its distance as +02:00");
  const auto parsed = replay::parse_moment(text);
  if (!parsed) return fail(parsed.error().kind, "text: " + printable(parsed.error().message));
  const auto asked = in_zone(look.log, *parsed, *ahead);
  if (!asked) return tl::unexpected(asked.error());
  const auto position = replay::resolve(look.log, *asked);
  if (!position) return tl::unexpected(position.error());
  const auto first = look.log.first();
  if (!first) return tl::unexpected(first.error());
  if (*position != 0 && *position < *first) return place_json(*position, Time::never());  // behind a record that is not kept any more
  return place_at(look.log, *position);
}

}  // namespace hindsight::page
