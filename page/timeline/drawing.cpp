#include "page/timeline/drawing.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hindsight::page::timeline {
namespace {

/// Equal stretches of time from `from` to `to`, both in.
class Columns {
 public:
  Columns(Time from, Time to, std::size_t count)
      : from_(from), span_(WideAmount{std::max(from, to).micros} - from.micros + 1), count_(count) {}

  [[nodiscard]] std::size_t of(Time time) const {
    if (time <= from_) return 0;
    const WideAmount at = (WideAmount{time.micros} - from_.micros) * static_cast<WideAmount>(count_) / span_;
    return static_cast<std::size_t>(std::min(at, static_cast<WideAmount>(count_ - 1)));
  }
  [[nodiscard]] std::int64_t begin(std::size_t column) const {
    // The first whole microsecond that is in it, so that `of` gives the column back.
    const WideAmount count = static_cast<WideAmount>(count_);
    return static_cast<std::int64_t>(from_.micros + (static_cast<WideAmount>(column) * span_ + count - 1) / count);
  }

 private:
  Time from_;
  WideAmount span_;
  std::size_t count_;
};

struct Column {
  Position position = 0;
  DrawnRow state;  ///< Null row: nothing is known.
  std::uint64_t admitted = 0, evicted = 0, decisions = 0;
};

std::vector<Column> fill(const Stretch& stretch, Position from, Position to, Time covered, const Columns& columns, std::size_t count) {
  std::vector<Column> out(count);
  for (const auto& drawn : stretch.rows) {
    if (drawn.row->last < from) continue;
    Column& column = out[columns.of(drawn.row->time)];
    column.position = drawn.row->last;
    if (drawn.row->has_state()) column.state = drawn;
    column.admitted += drawn.row->admitted;
    column.evicted += drawn.row->evicted;
    column.decisions += drawn.row->decisions;
  }
  // Where nothing ended, all is as it was before: behind the last row before the stretch, if it is known.
  Position position = from;
  DrawnRow state;
  if (!stretch.rows.empty() && stretch.rows.front().row->last < from && stretch.rows.front().row->has_state()) {
    state = stretch.rows.front();
    position = state.row->last;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Column& column = out[i];
    if (column.position == 0) column.position = position;
    if (column.state.row == nullptr) column.state = state;
    position = column.position;
    state = column.state;
    if (stretch.covered < to && columns.begin(i) > covered.micros) column.state = {};
  }
  return out;
}

Json value_or_null(const Row* row, std::int64_t Row::*member) {
  return row == nullptr || row->*member == not_known ? Json() : Json(row->*member);
}

/// In milliseconds at a time, of whoever waits longest.
Json wait_or_null(const Row* row, std::int64_t at) {
  if (row == nullptr || row->waits_since == not_known) return {};
  return row->waits_since == no_waiter ? 0 : std::max<std::int64_t>(0, (at - row->waits_since) / 1'000);
}

/// In thousandths of the unit that people see: those are what amounts of cpu count.
std::int64_t milli_units(Amount amount, const std::string& resource) { return resource == "cpu" ? amount : multiply(amount, 1000); }

const PairUse* use_of(const DrawnRow& drawn, const PairName& name) {
  if (drawn.row == nullptr) return nullptr;
  const auto& pairs = drawn.series->pairs;
  const auto at = static_cast<std::size_t>(std::ranges::find(pairs, name) - pairs.begin());
  return at < drawn.row->pairs.size() ? &drawn.row->pairs[at] : nullptr;
}

/// Those of which most of the quota was in use at some column; of equal ones by name.
std::vector<PairName> pairs_to_draw(const std::vector<Column>& columns) {
  struct Peak {
    PairName name;
    std::int64_t used = -1;
  };
  std::vector<Peak> peaks;
  const Series* looked_at = nullptr;
  std::vector<std::size_t> number;  // of the pairs of that series in `peaks`
  for (const Column& column : columns) {
    if (column.state.row == nullptr) continue;
    if (column.state.series != looked_at) {
      looked_at = column.state.series;
      number.clear();
      for (const auto& name : looked_at->pairs) {
        const auto at = std::ranges::find(peaks, name, &Peak::name);
        number.push_back(static_cast<std::size_t>(at - peaks.begin()));
        if (at == peaks.end()) peaks.push_back({name});
      }
    }
    const auto& pairs = column.state.row->pairs;
    for (std::size_t i = 0; i < pairs.size() && i < number.size(); ++i) {
      if (pairs[i].nominal <= 0 && pairs[i].used <= 0) continue;
      const WideAmount used = pairs[i].nominal <= 0 ? 1'000'000 : WideAmount{pairs[i].used} * 1000 / pairs[i].nominal;
      auto& peak = peaks[number[i]];
      peak.used = std::max(peak.used, static_cast<std::int64_t>(std::clamp<WideAmount>(used, 0, 1'000'000)));
    }
  }
  std::erase_if(peaks, [](const Peak& p) { return p.used < 0; });
  std::ranges::sort(peaks, [](const Peak& a, const Peak& b) {
    if (a.used != b.used) return a.used > b.used;
    return std::tie(a.name.flavor, a.name.resource) < std::tie(b.name.flavor, b.name.resource);
  });
  std::vector<PairName> out;
  for (std::size_t i = 0; i < peaks.size() && i < resources_max; ++i) out.push_back(std::move(peaks[i].name));
  return out;
}

Json resources_json(const std::vector<Column>& columns) {
  Json out = Json::array();
  for (const PairName& name : pairs_to_draw(columns)) {
    Json used = Json::array(), nominal = Json::array();
    for (const Column& column : columns) {
      const PairUse* use = use_of(column.state, name);
      used.push_back(use == nullptr ? Json() : Json(milli_units(use->used, name.resource)));
      nominal.push_back(use == nullptr || use->nominal == unlimited ? Json() : Json(milli_units(use->nominal, name.resource)));
    }
    out.push_back({{"flavor", name.flavor}, {"resource", name.resource}, {"used", std::move(used)}, {"nominal", std::move(nominal)}});
  }
  return out;
}

std::string_view name_of(MarkKind kind) {
  constexpr std::array<std::string_view, mark_kinds> names{"eviction", "configuration", "epoch", "refusal", "quarantine"};
  return names[static_cast<std::size_t>(kind)];
}

std::string many(MarkKind kind, std::uint64_t count) {
  constexpr std::array<std::string_view, mark_kinds> words{" Workloads were evicted", " changes of the configuration", " epochs began",
                                                           " writes were refused", " were set aside"};
  return std::to_string(count) + std::string(words[static_cast<std::size_t>(kind)]);
}

/// Those of a kind that are nearer than a slot are one.
Json marks_json(const Stretch& stretch, Position from, Time begin, Time end) {
  struct Slot {
    const Mark* first = nullptr;
    std::uint64_t count = 0;
  };
  constexpr std::size_t slots = marks_max / mark_kinds;
  const Columns columns(begin, end, slots);
  std::array<std::array<Slot, mark_kinds>, slots> all{};
  for (const auto& drawn : stretch.rows) {
    if (drawn.row->last < from) continue;
    for (const Mark& mark : drawn.row->marks) {
      Slot& slot = all[columns.of(mark.time)][static_cast<std::size_t>(mark.kind)];
      if (slot.first == nullptr || mark.position < slot.first->position) slot.first = &mark;
      slot.count += mark.count;
    }
  }
  Json out = Json::array();
  for (const auto& kinds : all)
    for (const Slot& slot : kinds) {
      if (slot.first == nullptr) continue;
      const Mark& mark = *slot.first;
      out.push_back({{"kind", name_of(mark.kind)},
                     {"time", mark.time.micros},
                     {"position", mark.position},
                     {"count", slot.count},
                     {"text", slot.count == 1 ? mark.text : many(mark.kind, slot.count)}});
    }
  return out;
}

Json silences_json(const Series& series, Time from, Time to) {
  Json out = Json::array();
  for (const Silence& silence : series.silences)
    if (silence.to >= from && silence.from <= to) out.push_back({{"from", silence.from.micros}, {"to", silence.to.micros}});
  return out;
}

}  // namespace

Json to_json(const PlaceInLog& place) { return {{"position", place.position}, {"time", format_rfc3339_micro(place.time)}}; }

Json draw(const Indexed& indexed, const PlaceInLog& from, const PlaceInLog& to, std::size_t count) {
  const Stretch stretch = stretch_of(indexed, from.position, to.position);
  Time end = to.time;
  Time covered = from.time;
  for (const auto& drawn : stretch.rows) {
    if (drawn.row->last < from.position) continue;
    covered = std::max(covered, drawn.row->time);
  }
  end = std::max({end, covered, from.time});
  const Columns columns(from.time, end, count);
  const auto filled = fill(stretch, from.position, to.position, covered, columns, count);

  Json time = Json::array(), position = Json::array(), used = Json::array(), waiting = Json::array(), running = Json::array(),
       admitted = Json::array(), evicted = Json::array(), decisions = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const Column& column = filled[i];
    time.push_back(columns.begin(i));
    position.push_back(column.position);
    used.push_back(value_or_null(column.state.row, &Row::used));
    waiting.push_back(value_or_null(column.state.row, &Row::waiting));
    running.push_back(value_or_null(column.state.row, &Row::running));
    admitted.push_back(column.admitted);
    evicted.push_back(column.evicted);
    decisions.push_back(column.decisions);
  }
  Json out{{"from", to_json(from)},
           {"to", to_json(to)},
           {"complete", indexed.complete()},
           {"scannedTo", indexed.main->end},
           {"exact", stretch.exact},
           {"time", std::move(time)},
           {"position", std::move(position)},
           {"used", std::move(used)},
           {"waiting", std::move(waiting)},
           {"running", std::move(running)},
           {"admitted", std::move(admitted)},
           {"evicted", std::move(evicted)},
           {"decisions", std::move(decisions)},
           {"resources", resources_json(filled)},
           {"marks", marks_json(stretch, from.position, from.time, end)},
           {"silences", silences_json(*indexed.main, from.time, end)}};
  if (indexed.why_not_more) out["whyNotMore"] = indexed.why_not_more->message;
  return out;
}

Json draw_curve(const Indexed& indexed, CurveKind kind, Time from, Time to, std::size_t points) {
  to = std::max(from, to);
  const Stretch stretch = stretch_of(indexed, 1, indexed.last);
  const Columns columns(from + Duration{1}, to, points);
  struct Point {
    const Row* state = nullptr;
    std::uint64_t count = 0;
  };
  std::vector<Point> filled(points);
  const Row* before = nullptr;
  Time covered = Time::never();
  for (const auto& drawn : stretch.rows) {
    const Row& row = *drawn.row;
    if (row.time > to) {
      covered = to;
      break;
    }
    covered = row.time;
    if (row.time <= from) {
      if (row.has_state()) before = &row;
      continue;
    }
    Point& point = filled[columns.of(row.time)];
    if (row.has_state()) point.state = &row;
    point.count += kind == CurveKind::admitted ? row.admitted : kind == CurveKind::evicted ? row.evicted : row.decisions;
  }
  if (stretch.covered >= indexed.last) covered = to;  // since then nothing has happened
  Json time = Json::array(), value = Json::array();
  for (std::size_t i = 0; i < points; ++i) {
    const std::int64_t end = i + 1 == points ? to.micros : columns.begin(i + 1) - 1;
    time.push_back(end);
    if (filled[i].state != nullptr) before = filled[i].state;
    const bool known = columns.begin(i) <= covered.micros;
    switch (kind) {
      case CurveKind::waiting:
        value.push_back(known ? value_or_null(before, &Row::waiting) : Json());
        break;
      case CurveKind::running:
        value.push_back(known ? value_or_null(before, &Row::running) : Json());
        break;
      case CurveKind::used:
        value.push_back(known ? value_or_null(before, &Row::used) : Json());
        break;
      case CurveKind::oldest_wait:
        value.push_back(known ? wait_or_null(before, end) : Json());
        break;
      case CurveKind::admitted:
      case CurveKind::evicted:
      case CurveKind::decisions:
        value.push_back(known ? Json(filled[i].count) : Json());
        break;
    }
  }
  return {{"time", std::move(time)}, {"value", std::move(value)}};
}

}  // namespace hindsight::page::timeline
