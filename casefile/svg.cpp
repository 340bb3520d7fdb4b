#include "casefile/svg.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "casefile/escape.hpp"
#include "projections/format.hpp"

namespace hindsight::casefile {
namespace {

using projections::LifeSpan;

// In tenths of a unit.
constexpr std::int64_t width = 8600, left = 900, right = 150, top = 100, plot_height = 1500, strip_height = 260, foot = 240;
/// More stretches than a picture has columns show nothing.
constexpr std::size_t stretches_max = 1'000;

std::string units(std::int64_t tenths) {
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? std::string() : "." + std::to_string(tenths % 10));
}

/// Where moments and values lie.
class Axes {
 public:
  Axes(const Frame& frame, std::int64_t height, Amount largest) : frame_(frame), height_(height), largest_(std::max<Amount>(1, largest)) {}

  [[nodiscard]] std::int64_t x(Time t) const {
    const WideAmount span = std::max<std::int64_t>(1, (frame_.to - frame_.from).micros);
    const WideAmount at = std::clamp<std::int64_t>((t - frame_.from).micros, 0, static_cast<std::int64_t>(span));
    return left + static_cast<std::int64_t>(at * (width - left - right) / span);
  }
  [[nodiscard]] std::int64_t y(Amount value) const {
    const WideAmount at = std::clamp<Amount>(value, 0, largest_);
    return top + height_ - static_cast<std::int64_t>(at * height_ / largest_);
  }
  [[nodiscard]] std::int64_t bottom() const { return top + height_; }

 private:
  const Frame& frame_;
  std::int64_t height_;
  Amount largest_;
};

std::string text_at(std::int64_t x, std::int64_t y, std::string_view anchor, std::string_view text) {
  return "<text x=\"" + units(x) + "\" y=\"" + units(y) + "\" text-anchor=\"" + std::string(anchor) + "\">" + html(text) + "</text>";
}

std::string line(std::int64_t x1, std::int64_t y1, std::int64_t x2, std::int64_t y2, std::string_view kind) {
  return "<path class=\"" + std::string(kind) + "\" d=\"M" + units(x1) + " " + units(y1) + "L" + units(x2) + " " + units(y2) + "\"/>";
}

/// Marks of the axis of time: its ends whole, between them as much as changes.
std::string marks(const Frame& frame, const Axes& axes) {
  constexpr int parts = 4;
  std::string out;
  const std::int64_t span = (frame.to - frame.from).micros;
  const bool days = span >= Duration::seconds(86'400).micros;
  for (int i = 0; i <= parts; ++i) {
    const Time t = frame.from + Duration{static_cast<std::int64_t>(WideAmount{span} * i / parts)};
    if (i > 0 && span < parts) break;
    const std::string whole = format_rfc3339(t);
    const std::string text = whole.size() < 20 ? whole : days ? whole.substr(5, 5) + " " + whole.substr(11, 5) : whole.substr(11, 8);
    const std::int64_t x = axes.x(t);
    out += line(x, axes.bottom(), x, axes.bottom() + 40, "axis");
    out += text_at(x, axes.bottom() + 180, i == 0 ? "start" : i == parts ? "end" : "middle", text);
  }
  return out;
}

std::string span_title(const LifeSpan& span) {
  const bool waits = span.is_wait();
  const std::string what = waits                                   ? "waited " + span.words
                           : span.kind == LifeSpan::Kind::running  ? "ran"
                           : span.kind == LifeSpan::Kind::stopping ? "was stopping"
                                                                   : "was out of sight of the log";
  return what + ", " + projections::exact_duration(span.to - span.from) + " from " + format_rfc3339_micro(span.from);
}

struct Stretch {
  Time from, to;
  std::string_view kind;
  std::string title;
};

/// `each`: with what it did; else neighbours that look alike are one.
std::vector<Stretch> stretches_of(const Frame& frame, bool each) {
  std::vector<Stretch> out;
  if (frame.life == nullptr) return out;
  for (const auto& span : frame.life->spans) {
    const Time from = std::max(span.from, frame.from), to = std::min(span.to, frame.to);
    if (from >= to) continue;
    const auto kind = class_of(span.kind);
    if (!each && !out.empty() && out.back().kind == kind && out.back().to == from)
      out.back().to = to;
    else
      out.push_back({from, to, kind, each ? span_title(span) : std::string()});
  }
  // Where there are too many, the longest are seen, and only they.
  if (out.size() <= stretches_max) return out;
  std::vector<std::int64_t> lengths;
  for (const auto& s : out) lengths.push_back((s.to - s.from).micros);
  std::nth_element(lengths.begin(), lengths.begin() + stretches_max, lengths.end(), std::greater<>());
  std::erase_if(out, [&](const Stretch& s) { return (s.to - s.from).micros <= lengths[stretches_max]; });
  return out;
}

std::string bands(const Frame& frame, const Axes& axes, std::int64_t height, bool each) {
  std::string out;
  for (const auto& s : stretches_of(frame, each)) {
    const std::int64_t x = axes.x(s.from);
    out += "<rect class=\"" + std::string(s.kind) + (each ? "" : " behind") + "\" x=\"" + units(x) + "\" y=\"" + units(top) +
           "\" width=\"" + units(std::max<std::int64_t>(5, axes.x(s.to) - x)) + "\" height=\"" + units(height) + "\"";
    out += s.title.empty() ? "/>" : "><title>" + html_cut(s.title, 300) + "</title></rect>";
  }
  return out;
}

std::string opened(std::int64_t height, std::string_view label) {
  return "<svg viewBox=\"0 0 " + units(width) + " " + units(height) + "\" role=\"img\" aria-label=\"" + html_cut(label, 300) + "\">";
}

std::string value_text(Amount value, const std::string& resource) {
  return resource.empty() ? std::to_string(value) : projections::amount_text(value, Symbol(resource));
}

bool is_drawn(Amount value) { return value >= 0 && value != unlimited; }

/// What does not change between two steps is one line; -1 and what is unlimited is none.
std::string curve_path(const Curve& curve, const Frame& frame, const Axes& axes) {
  std::string d;
  bool pen_down = false;
  for (const auto& step : curve.steps.all()) {
    if (step.from > frame.to) break;
    const std::string x = units(axes.x(step.from));
    if (pen_down) d += "H" + x;
    if (is_drawn(step.value)) d += (pen_down ? "V" : "M" + x + " ") + units(axes.y(step.value));
    pen_down = is_drawn(step.value);
  }
  if (pen_down) d += "H" + units(axes.x(frame.to));
  return d.empty() ? std::string()
                   : "<path class=\"curve " + std::string(class_of(curve.kind)) + "\" d=\"" + d + "\"><title>" + html_cut(curve.name, 300) +
                         "</title></path>";
}

}  // namespace

std::string_view class_of(LifeSpan::Kind kind) {
  switch (kind) {
    case LifeSpan::Kind::turn:
    case LifeSpan::Kind::quota:
    case LifeSpan::Kind::victims:
      return "wait";
    case LifeSpan::Kind::others_ready:
    case LifeSpan::Kind::held:
    case LifeSpan::Kind::back_off:
    case LifeSpan::Kind::inactive:
    case LifeSpan::Kind::checks:
      return "held";
    case LifeSpan::Kind::running:
      return "run";
    case LifeSpan::Kind::stopping:
      return "stop";
    case LifeSpan::Kind::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view class_of(Curve::Kind kind) {
  switch (kind) {
    case Curve::Kind::queue:
      return "queue";
    case Curve::Kind::queue_limit:
      return "queue limit";
    case Curve::Kind::tree:
      return "tree";
    case Curve::Kind::tree_limit:
      return "tree limit";
    case Curve::Kind::count:
      return "queue";
  }
  return "";
}

std::string life_picture(const Frame& frame) {
  const Axes axes(frame, strip_height, 1);
  return opened(top + strip_height + foot, "What it did over time") + bands(frame, axes, strip_height, true) + marks(frame, axes) +
         "</svg>";
}

std::string plot_picture(const Plot& plot, const Frame& frame) {
  Amount largest = 0;
  for (const auto& curve : plot.curves)
    for (const auto& step : curve.steps.all())
      if (is_drawn(step.value)) largest = std::max(largest, step.value);
  const Axes axes(frame, plot_height, largest);
  std::string out = opened(top + plot_height + foot, plot.title) + bands(frame, axes, plot_height, false);
  out += line(left, axes.bottom(), width - right, axes.bottom(), "axis") + line(left, top, width - right, top, "grid");
  out += text_at(left - 60, axes.bottom(), "end", "0");
  if (largest > 0) out += text_at(left - 60, top + 60, "end", value_text(largest, plot.resource));
  for (const auto& curve : plot.curves) out += curve_path(curve, frame, axes);
  return out + marks(frame, axes) + "</svg>";
}

}  // namespace hindsight::casefile
