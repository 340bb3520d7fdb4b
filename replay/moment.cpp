#include "replay/moment.hpp"

#include <algorithm>
#include <charconv>
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

std::string listed(const std::vector<DomainTail>& domains) {
  std::string out;
  for (const auto& d : domains) out += (out.empty() ? "" : ", ") + d.domain;
  return out;
}

}  // namespace

Result<Moment> parse_moment(std::string_view text) {
  if (text == "latest") return Moment{};
  if (!text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    Moment m{.kind = Moment::Kind::position};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), m.position);
    if (error == std::errc{} && end == text.data() + text.size()) return m;
  } else if (text.starts_with('-')) {
    if (const auto ago = parse_duration(text.substr(1))) return Moment{.kind = Moment::Kind::ago, .ago = *ago};
  } else if (const auto time = parse_rfc3339(text)) {
    return Moment{.kind = Moment::Kind::time, .time = *time};
  }
  return fail(ErrorKind::invalid,
              "found \"" + std::string(text) +
                  "\" for a moment; allowed: a position (120), a time (2026-01-01T00:00:10Z), a duration back (-5m), latest");
}

Result<Position> resolve(const Log& log, const Moment& moment) {
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  switch (moment.kind) {
    case Moment::Kind::latest:
      return *last;
    case Moment::Kind::position:
      if (moment.position <= *last) return moment.position;
      return fail(ErrorKind::not_found, "position " + std::to_string(moment.position) + " lies behind the end of " + where(log) +
                                            ", which is " + std::to_string(*last));
    case Moment::Kind::time:
      return up_to(log, moment.time, *last);
    case Moment::Kind::ago: {
      if (*last == 0) return Position{0};
      const auto end = time_of(log, *last);
      if (!end) return tl::unexpected(end.error());
      return up_to(log, *end - moment.ago, *last);
    }
  }
  return *last;
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
