#include "page/timeline/timeline_index.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "page/timeline/index_reader.hpp"

namespace hindsight::page {
namespace {

using timeline::PlaceInLog;

Result<Time> time_of_record(const events::Log& log, events::Position position) {
  events::RecordBatch batch;
  if (auto ok = log.read(position, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  return batch.empty() ? Time{0} : batch[0].time;
}

tl::unexpected<Error> no_place(std::string_view name, events::Position found, events::Position first, events::Position last) {
  return fail(ErrorKind::invalid, std::string(name) + ": found " + std::to_string(found) + "; allowed: a position from " +
                                      std::to_string(first) + ", the first that is kept, to " + std::to_string(last) +
                                      ", the end of the log");
}

}  // namespace

TimelineIndex::TimelineIndex(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
TimelineIndex::~TimelineIndex() = default;

std::unique_ptr<TimelineIndex> TimelineIndex::start(const events::Log& log, std::string domain, TimelineOptions options) {
  options.rows_max = std::max<std::size_t>(2, options.rows_max);
  options.detail_rows = std::max<std::size_t>(2, options.detail_rows);
  return std::unique_ptr<TimelineIndex>(new TimelineIndex(std::make_unique<Reader>(log, std::move(domain), std::move(options))));
}

Result<projections::Json> TimelineIndex::at(const TimelineRange& range) const {
  if (range.columns < 1 || range.columns > timeline::columns_max)
    return fail(ErrorKind::invalid, "buckets: found " + std::to_string(range.columns) + "; allowed: a whole number from 1 to " +
                                        std::to_string(timeline::columns_max));
  const auto& log = reader_->log();
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  const auto known = reader_->now();
  // By default up to where the index has looked, so that it says the same of all columns.
  const auto from = range.from.value_or(*first);
  const auto to = range.to.value_or(known->last == 0 ? *last : std::clamp(known->last, std::min(*first, *last), *last));
  const bool empty = *last < *first;
  if (!empty) {
    if (from < *first || from > *last) return no_place("from", from, *first, *last);
    if (to < *first || to > *last) return no_place("to", to, *first, *last);
    if (from > to)
      return fail(ErrorKind::invalid, "from: found " + std::to_string(from) + ", which is behind \"to\", " + std::to_string(to) +
                                          "; allowed: a position before it, or the same");
  } else if (range.from.value_or(0) > *last || range.to.value_or(0) > *last) {
    return fail(ErrorKind::invalid, "from, to: found a position; allowed: none as long as the log holds no record");
  }
  if (empty) return timeline::draw(*known, {*last, Time{0}}, {*last, Time{0}}, range.columns);
  const auto begin = time_of_record(log, from);
  if (!begin) return tl::unexpected(begin.error());
  const auto end = time_of_record(log, to);
  if (!end) return tl::unexpected(end.error());
  auto out = timeline::draw(*known, {from, *begin}, {to, *end}, range.columns);
  if (timeline::main_rows_in(*known, from, to) < range.columns && reader_->wish(from, to)) out["exact"] = false;
  return out;
}

projections::Json TimelineIndex::curve(timeline::CurveKind kind, Time from, Time to, std::size_t points) const {
  return timeline::draw_curve(*reader_->now(), kind, from, to, std::clamp<std::size_t>(points, 1, timeline::columns_max));
}

Result<events::Position> TimelineIndex::position_at(Time time) const {
  return reader_->log().seek(time + Duration{1}).map([](events::Position behind) { return behind == 0 ? behind : behind - 1; });
}

std::shared_ptr<const timeline::ObjectIndex> TimelineIndex::objects() const { return reader_->now()->objects; }

events::Position TimelineIndex::scanned_to() const { return reader_->now()->main->end; }

bool TimelineIndex::has_state() const { return reader_->has_state(); }

bool TimelineIndex::complete() const { return reader_->now()->complete(); }

std::size_t TimelineIndex::memory() const {
  const auto known = reader_->now();
  std::size_t out = 0;
  const auto add = [&](const timeline::Series* series) {
    if (series == nullptr) return;
    for (const auto& block : series->blocks)
      for (const auto& row : *block) {
        out += sizeof row + row.pairs.capacity() * sizeof(timeline::PairUse) + row.marks.capacity() * sizeof(timeline::Mark);
        for (const auto& mark : row.marks) out += mark.text.capacity();
      }
  };
  add(known->main.get());
  add(known->coarse.get());
  for (const auto& detail : known->details) add(detail.get());
  if (known->objects != nullptr) out += known->objects->bytes();
  return out;
}

}  // namespace hindsight::page
