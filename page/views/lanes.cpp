#include "page/views/lanes.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hindsight::page {
namespace {

using projections::Life;
using projections::LifeSpan;
using SpanKind = LifeSpan::Kind;

bool holds_quota(const LifeSpan& span) {
  return span.kind == SpanKind::checks || span.kind == SpanKind::running || span.kind == SpanKind::stopping;
}

/// It goes on at the moment that is looked at.
bool is_open(const Life& life, const LifeSpan& span) { return life.end.empty() && &span == &life.spans.back(); }

Json span_of(const LifeSpan& span, bool open) {
  Json out{{"kind", projections::name_of(span.kind)},
           {"from", span.from.micros},
           {"to", span.to.micros},
           {"position", span.offset},
           {"text", projections::span_text(span)}};
  if (open) out["open"] = true;
  return out;
}

/// Puts a lane into `out`, if it has any spans.
void put_lane(Json& out, std::string_view name, std::vector<Json> spans) {
  if (spans.empty()) return;
  Json lane{{"name", name}};
  if (spans.size() > lane_spans_max) {
    const std::size_t left_out = spans.size() - lane_spans_max;
    spans.erase(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(left_out));
    lane["leftOut"] = left_out;
  }
  lane["spans"] = std::move(spans);
  out.push_back(std::move(lane));
}

template <class Wanted>
std::vector<Json> spans_where(const Life& life, Wanted wanted) {
  std::vector<Json> out;
  for (const auto& span : life.spans)
    if (wanted(span)) out.push_back(span_of(span, is_open(life, span)));
  return out;
}

/// What follows without a gap is one.
std::vector<Json> quota_spans(const Life& life) {
  std::vector<Json> out;
  const LifeSpan* before = nullptr;
  for (const auto& span : life.spans) {
    if (!holds_quota(span)) continue;
    const bool goes_on = before != nullptr && before->to == span.from;
    before = &span;
    if (!goes_on) {
      out.push_back(span_of(span, false));
      out.back()["kind"] = "quota";
      out.back()["text"] = "held quota";
    }
    out.back()["to"] = span.to.micros;
    if (is_open(life, span)) out.back()["open"] = true;
  }
  return out;
}

}  // namespace

Json life_lanes(const Life& life) {
  Json out = Json::array();
  put_lane(out, "wait", spans_where(life, [](const LifeSpan& s) { return !holds_quota(s); }));
  put_lane(out, "quota", quota_spans(life));
  put_lane(out, "checks", spans_where(life, [](const LifeSpan& s) { return s.kind == SpanKind::checks; }));
  put_lane(out, "running", spans_where(life, [](const LifeSpan& s) { return s.kind == SpanKind::running; }));
  put_lane(out, "evicted", spans_where(life, [](const LifeSpan& s) { return s.kind == SpanKind::stopping; }));
  return out;
}

Json whole_lane(const Life& life, std::string_view name, Json of) {
  Json lanes = Json::array();
  put_lane(lanes, name, spans_where(life, [](const LifeSpan&) { return true; }));
  if (lanes.empty()) return {};
  lanes[0]["of"] = std::move(of);
  return std::move(lanes[0]);
}

}  // namespace hindsight::page
