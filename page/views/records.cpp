#include "page/views/records.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/json.hpp"
#include "events/record.hpp"
#include "page/timeline/object_index.hpp"
#include "page/views/record_lines.hpp"
#include "projections/record_filter.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

constexpr std::uint64_t lines_default = 100, lines_max = 1'000;
/// Read at a time where few of them may be wanted; between two one asks whether anybody still waits.
constexpr Position records_of_a_batch = 1'024;
constexpr std::size_t filter_bytes_max = 4'096;
constexpr std::size_t events_told_max = 1'000;
constexpr std::size_t followers_max = 20;
constexpr Position followers_within = 5'000;

/// What one answer has found so far.
struct Found {
  Json items = Json::array();
  std::uint64_t scanned = 0;
  std::optional<Position> next;
};

/// What stands in each record that a filter by objects lets by; empty: it may be any record.
std::vector<timeline::Token> tokens_of_filter(const projections::RecordFilter& filter) {
  std::vector<timeline::Token> out;
  for (const auto& object : filter.objects) {
    const auto slash = object.find('/');
    if (slash == std::string::npos) return {};  // a name, in whatever namespace
    out.push_back(timeline::name_token(object.substr(0, slash), object.substr(slash + 1)));
  }
  return out;
}

/// Records of a domain, a batch at a time, with what is to be told of each.
class Lines {
 public:
  Lines(const Look& look, const projections::RecordFilter& filter, std::vector<events::QuarantinedRecord> set_aside)
      : look_(look), filter_(filter), tokens_(tokens_of_filter(filter)), set_aside_(std::move(set_aside)) {}

  /// Lines of the records from `begin` to `end` that are wanted, in their order, at most `limit`; sets `begin` behind the last that was
  /// looked at. With an error those before it are there.
  Result<void> read(Position& begin, Position end, std::size_t limit, std::vector<Json>& out) {
    while (begin <= end && out.size() < limit) {
      const Position wanted = std::min(records_of_a_batch, end - begin + 1);
      if (auto ok = look_.log.read(begin, {.records = static_cast<std::size_t>(wanted)}, batch_); !ok) return ok;
      if (batch_.empty()) {
        begin = end + 1;
        return {};
      }
      for (const auto& stored : batch_) {
        if (stored.offset > end) {
          begin = end + 1;
          return {};
        }
        if (out.size() == limit) return {};
        if (stored.domain == look_.past.domain_name())
          if (auto ok = add(stored, out); !ok) return ok;
        begin = stored.offset + 1;
      }
    }
    return {};
  }

  /// From here on, and back from here: where one may be that is wanted, as far as the index of the log tells.
  [[nodiscard]] Position next_wanted(Position from, Position last) const {
    return tokens_.empty() || look_.objects == nullptr ? from : look_.objects->next_with(tokens_, from, last);
  }
  [[nodiscard]] Position last_wanted(Position at, Position first) const {
    return tokens_.empty() || look_.objects == nullptr ? at : look_.objects->none_down_to(tokens_, at + 1, first) - 1;
  }

  /// How many records are best looked at together, if so many lines are wanted.
  [[nodiscard]] Position batch_for(std::size_t limit) const {
    return filter_.is_set() ? records_of_a_batch : std::min<Position>(records_of_a_batch, limit);
  }

 private:
  Result<void> add(const events::StoredRecord& stored, std::vector<Json>& out) {
    const bool passed_over = !set_aside_.empty() && replay::find_quarantined(set_aside_, stored) != nullptr;
    const auto record = reader_.read(stored.bytes);
    if (record) {
      if (filter_.matches(**record)) out.push_back(record_line(look_.log, stored, **record, passed_over));
    } else if (!passed_over) {
      return replay::at_record(look_.log, stored.offset, record.error());
    } else if (!filter_.is_set()) {
      out.push_back(unreadable_line(stored, record.error()));
    }
    return {};
  }

  const Look& look_;
  const projections::RecordFilter& filter_;
  const std::vector<timeline::Token> tokens_;
  const std::vector<events::QuarantinedRecord> set_aside_;
  events::RecordBatch batch_;
  events::RecordReader reader_;
};

Result<Found> read_forward(const Look& look, Lines& lines, Position from, Position last, std::size_t limit) {
  Found out;
  std::vector<Json> found;
  Position at = from;
  while (at <= last && found.size() < limit && out.scanned < records_scan_max && !look.is_over()) {
    at = lines.next_wanted(at, last);
    if (at > last) break;
    const Position begin = at;
    const Position end = std::min({last, at + lines.batch_for(limit) - 1, at + (records_scan_max - out.scanned) - 1});
    if (auto ok = lines.read(at, end, limit, found); !ok) {
      if (found.empty()) return tl::unexpected(ok.error());
      out.scanned += at - begin;
      break;
    }
    out.scanned += at - begin;
  }
  for (Json& line : found) out.items.push_back(std::move(line));
  if (at <= last) out.next = at;
  return out;
}

/// In batches that are read forward. One with a damaged record in it is tried again without that and what is before it, so that all good
/// records behind the damage come first, and then the error.
Result<Found> read_back(const Look& look, Lines& lines, Position from, Position first, std::size_t limit) {
  Found out;
  Position at = from;  // the next one to look at
  Position size_max = lines.batch_for(limit);
  while (at >= first && at != 0 && out.items.size() < limit && out.scanned < records_scan_max && !look.is_over()) {
    at = lines.last_wanted(at, first);
    if (at < first || at == 0) break;
    const Position size = std::min({size_max, at - first + 1, records_scan_max - out.scanned});
    std::vector<Json> found;
    Position reached = at - size + 1;
    if (auto ok = lines.read(reached, at, size, found); !ok) {
      if (reached < at) {
        size_max = at - reached;
        continue;
      }
      if (out.items.empty()) return tl::unexpected(ok.error());
      break;
    }
    size_max = lines.batch_for(limit);
    Position taken_to = at - size + 1;
    for (std::size_t i = found.size(); i-- > 0 && out.items.size() < limit;) {
      if (i > 0 && out.items.size() + 1 == limit) taken_to = found[i]["position"].get<Position>();  // others of this batch are left
      out.items.push_back(std::move(found[i]));
    }
    out.scanned += at - taken_to + 1;
    at = taken_to - 1;
  }
  if (at >= first && at != 0) out.next = at;
  return out;
}

Result<Position> position_in_path(const Parameters& parameters) {
  const std::string& text = parameters.of_path("position");
  Position out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorKind::invalid, "position: found \"" + printable(text) + "\"; allowed: the position of a record, a whole number");
  return out;
}

/// Decisions that were made on this record, or because of it, and observations that it caused.
Json followers_of(const Look& look, const events::StoredRecord& of, Position last) {
  Json out = Json::array();
  if (of.sequence == 0) return out;
  events::RecordBatch batch;
  events::RecordReader reader;
  const Position end = std::min(last, of.offset + followers_within);
  for (Position at = of.offset + 1; at <= end && out.size() < followers_max && !look.is_over();) {
    if (!look.log.read(at, {.records = records_of_a_batch}, batch) || batch.empty()) break;
    for (const auto& stored : batch) {
      at = stored.offset + 1;
      if (stored.offset > end || out.size() == followers_max) break;
      if (stored.domain != look.past.domain_name()) continue;
      const auto record = reader.read(stored.bytes);
      if (!record) continue;
      const auto* decisions = std::get_if<Decisions>(&(*record)->body);
      const bool follows = decisions != nullptr ? decisions->base == of.sequence : (*record)->envelope.cause == of.sequence;
      if (follows) out.push_back(record_line(look.log, stored, **record, false));
    }
  }
  return out;
}

/// The record as `log cat -o json` has it, with at most so many events.
Json decoded(const RecordView& record) {
  RecordView told = record;
  std::size_t left_out = 0;
  if (auto* decisions = std::get_if<Decisions>(&told.body); decisions != nullptr && decisions->events.size() > events_told_max) {
    left_out = decisions->events.size() - events_told_max;
    decisions->events = decisions->events.first(events_told_max);
  }
  Json out = Json::parse(events::to_json(told), nullptr, false);
  if (left_out != 0) out["eventsLeftOut"] = left_out;
  return out;
}

}  // namespace

Result<Json> records_view(const Look& look, const Parameters& parameters) {
  const auto first = look.log.first();
  if (!first) return tl::unexpected(first.error());
  const auto last = look.log.last();
  if (!last) return tl::unexpected(last.error());
  const std::string_view direction = parameters.text("direction");
  if (!direction.empty() && direction != "forward" && direction != "back")
    return fail(ErrorKind::invalid, "direction: found \"" + printable(cut_text(direction, 64)) + "\"; allowed: forward, back");
  const bool back = direction == "back";
  const auto from = parameters.number("from", std::clamp(look.position(), *first, std::max(*first, *last)), 0, std::max(*first, *last + 1));
  if (!from) return tl::unexpected(from.error());
  const auto limit = parameters.number("limit", lines_default, 1, lines_max);
  if (!limit) return tl::unexpected(limit.error());
  const std::string_view words = parameters.text("filter");
  if (words.size() > filter_bytes_max)
    return fail(ErrorKind::invalid,
                "filter: found " + std::to_string(words.size()) + " bytes; allowed: at most " + std::to_string(filter_bytes_max));
  const auto filter = projections::parse_record_filter(words);
  if (!filter) return tl::unexpected(filter.error());
  auto set_aside = look.log.quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  Lines lines(look, *filter, std::move(*set_aside));
  const auto found = back ? read_back(look, lines, std::min(*from, *last), *first, *limit)
                          : read_forward(look, lines, std::max(*from, *first), *last, *limit);
  if (!found) return tl::unexpected(found.error());
  Json out{{"items", found->items}, {"scanned", found->scanned}};
  if (found->next) out["next"] = *found->next;
  return out;
}

Result<Json> record_view(const Look& look, const Parameters& parameters) {
  const auto position = position_in_path(parameters);
  if (!position) return tl::unexpected(position.error());
  const auto last = look.log.last();
  if (!last) return tl::unexpected(last.error());
  const auto first = look.log.first();
  if (!first) return tl::unexpected(first.error());
  if (*position < *first || *position > *last)
    return fail(ErrorKind::not_found, "found record " + std::to_string(*position) + ", which is not in the log " +
                                          std::string(look.log.name()) +
                                          (*last < *first ? std::string("; it has no records")
                                                          : "; allowed: " + std::to_string(*first) + " to " + std::to_string(*last)));
  events::RecordBatch batch;
  if (auto ok = look.log.read(*position, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  if (batch.empty() || batch[0].offset != *position)
    return fail(ErrorKind::not_found, "record " + std::to_string(*position) + " is not there");
  const auto stored = batch[0];
  if (stored.domain != look.past.domain_name())
    return fail(ErrorKind::not_found, "record " + std::to_string(*position) + " is of the domain " + printable(stored.domain) +
                                          ", not of " + look.past.domain_name());
  const auto set_aside = look.log.quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  const bool passed_over = replay::find_quarantined(*set_aside, stored) != nullptr;
  events::RecordReader reader;
  const auto record = reader.read(stored.bytes);
  if (!record && !passed_over) return replay::at_record(look.log, stored.offset, record.error());
  Json out = record ? record_line(look.log, stored, **record, passed_over) : unreadable_line(stored, record.error());
  if (record) out["fields"] = decoded(**record);
  out["followedBy"] = followers_of(look, stored, *last);
  return out;
}

}  // namespace hindsight::page
