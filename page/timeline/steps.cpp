#include "page/timeline/steps.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "admission/domain/domain.hpp"
#include "events/record.hpp"
#include "events/record_kind.hpp"
#include "page/timeline/object_filter.hpp"
#include "page/timeline/object_index.hpp"
#include "page/timeline/told_line.hpp"
#include "page/views/record_lines.hpp"
#include "page/views/sight.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using timeline::ObjectFilter;
using timeline::ObjectName;

enum class StepBy : std::uint8_t { record, decision, event };

struct Asked {
  Position from = 0;
  bool forward = true;
  StepBy by = StepBy::record;
  std::optional<ObjectFilter> object;
  std::uint64_t times = 1;
};

tl::unexpected<Error> wrong_step(const char* name, std::string_view found, const char* allowed) {
  return fail(ErrorKind::invalid, std::string(name) + ": found \"" + printable(cut_text(found, 80)) + "\"; allowed: " + allowed);
}

Result<Asked> read_asked(const Look& look, const Parameters& p) {
  Asked out;
  const auto from = p.number("from", look.position(), 0, std::numeric_limits<std::int64_t>::max());
  if (!from) return tl::unexpected(from.error());
  out.from = *from;
  const auto last = look.log.last();
  if (!last) return tl::unexpected(last.error());
  if (out.from > *last)
    return wrong_step("from", std::to_string(out.from), ("a position up to " + std::to_string(*last) + ", the end of the log").c_str());
  const auto direction = p.text("direction");
  if (!direction.empty() && direction != "forward" && direction != "back") return wrong_step("direction", direction, "forward, back");
  out.forward = direction != "back";
  const auto by = p.text("by");
  if (!by.empty() && by != "record" && by != "decision" && by != "event") return wrong_step("by", by, "record, decision, event");
  out.by = by == "decision" ? StepBy::decision : by == "event" ? StepBy::event : StepBy::record;
  const auto times = p.number("times", 1, 1, step_times_max);
  if (!times) return tl::unexpected(times.error());
  out.times = *times;
  const auto object = p.text("object");
  if (out.by != StepBy::event) {
    if (!object.empty()) return wrong_step("object", object, "none, unless one goes by event");
    return out;
  }
  auto name = ObjectName::parse(object);
  if (!name) return tl::unexpected(name.error());
  if (!name->namespace_.empty() && !look.audience.may_see(name->namespace_))
    return fail(ErrorKind::denied,
                "object: found one of the namespace \"" + printable(name->namespace_) + "\"; allowed: those that you may see");
  out.object.emplace(std::move(*name), look.past.driver());
  return out;
}

/// Goes through the records of the domain, a batch after the other, in one direction.
class StepSearch {
 public:
  StepSearch(const Look& look, Asked& asked) : look_(look), asked_(asked) {}

  [[nodiscard]] Result<Json> answer() {
    const auto first = look_.log.first();
    if (!first) return tl::unexpected(first.error());
    const auto last = look_.log.last();
    if (!last) return tl::unexpected(last.error());
    if (auto ok = asked_.forward ? forward(std::max(asked_.from + 1, *first), *last) : back(asked_.from, *first); !ok)
      return tl::unexpected(ok.error());
    const bool end = found_ < asked_.times && !ended_early_;
    auto out = at(place_ == 0 ? asked_.from : place_, *first);
    if (!out) return out;
    (*out)["end"] = end;
    if (ended_early_ && found_ < asked_.times) {
      (*out)["scannedTo"] = scanned_to_;
      (*out)["found"] = found_;
    }
    return out;
  }

 private:
  static constexpr Position piece_first = 64, piece_max = 8192;

  /// Whether the record is one of those that are counted. Those that cannot be read are records, and nothing else.
  bool counts(const events::StoredRecord& stored) {
    if (stored.domain != look_.past.domain_name()) return false;
    if (asked_.by == StepBy::record) return true;
    if (asked_.by == StepBy::decision) return events::is_decision(stored.bytes);
    const auto record = reader_.read(stored.bytes);
    return record && asked_.object->matches(**record);
  }

  /// False: the search is over.
  [[nodiscard]] bool may_go_on() {
    if (looked_at_ < step_scan_max && !look_.is_over()) return true;
    ended_early_ = true;
    return false;
  }

  Result<void> forward(Position from, Position last) {
    scanned_to_ = asked_.from;
    while (from <= last && found_ < asked_.times && may_go_on()) {
      if (asked_.object && look_.objects != nullptr) {
        from = look_.objects->next_with(asked_.object->tokens(), from, last);
        scanned_to_ = std::min(last, from - 1);
        if (from > last) return {};
      }
      if (auto ok = look_.log.read(from, {}, batch_); !ok) return ok;
      if (batch_.empty()) return {};
      for (const auto& stored : batch_) {
        if (stored.offset > last || found_ == asked_.times) return {};
        from = stored.offset + 1;
        scanned_to_ = stored.offset;
        ++looked_at_;
        if (!counts(stored)) continue;
        ++found_;
        place_ = stored.offset;
      }
    }
    return {};
  }

  /// In pieces that get longer, each read forward, because a log reads no other way.
  Result<void> back(Position before, Position first) {
    scanned_to_ = before;
    Position length = piece_first;
    while (before > first && found_ < asked_.times && may_go_on()) {
      if (asked_.object && look_.objects != nullptr) {
        before = look_.objects->none_down_to(asked_.object->tokens(), before, first);
        scanned_to_ = before;
        if (before <= first) return {};
      }
      const Position from = before - first > length ? before - length : first;
      std::deque<Position> here;
      for (Position at = from; at < before;) {
        if (auto ok = look_.log.read(at, {.records = before - at}, batch_); !ok) return ok;
        if (batch_.empty()) break;
        for (const auto& stored : batch_) {
          at = stored.offset + 1;
          if (stored.offset >= before) break;
          ++looked_at_;
          if (!counts(stored)) continue;
          here.push_back(stored.offset);
          if (here.size() > asked_.times - found_) here.pop_front();
        }
      }
      if (!here.empty()) place_ = here.front();
      found_ += here.size();
      before = scanned_to_ = from;
      length = std::min(piece_max, length * 2);
    }
    return {};
  }

  /// The place, and what happened there.
  [[nodiscard]] Result<Json> at(Position position, Position first) {
    std::string text;
    Json out = place_json(position, look_.past.driver().now());
    if (position == 0 || position < first) {
      if (position == 0) out = place_json(0, Time::never());
      out["text"] = "Before the first record that is kept";
      return out;
    }
    if (auto ok = look_.log.read(position, {.records = 1}, batch_); !ok) return tl::unexpected(ok.error());
    if (!batch_.empty()) {
      const auto stored = batch_[0];
      out = place_json(position, stored.time);
      if (stored.domain == look_.past.domain_name()) {
        const auto record = reader_.read(stored.bytes);
        text = record ? timeline::told_line(**record, look_.audience, record_text_bytes_max)
                      : "This record cannot be read: " + record.error().message;
      } else {
        text = "A record of another domain";
      }
    }
    const Sight sight(look_.past.driver(), look_.audience);  // for what stands in messages
    out["text"] = sight.told(valid_utf8(cut_message(text, record_text_bytes_max)));
    return out;
  }

  const Look& look_;
  Asked& asked_;
  events::RecordBatch batch_;
  events::RecordReader reader_;
  std::uint64_t found_ = 0, looked_at_ = 0;
  Position place_ = 0;  ///< Of the last that was found; 0: none.
  Position scanned_to_ = 0;
  bool ended_early_ = false;
};

}  // namespace

Result<Json> step(const Look& look, const Parameters& parameters) {
  auto asked = read_asked(look, parameters);
  if (!asked) return tl::unexpected(asked.error());
  return StepSearch(look, *asked).answer();
}

std::vector<ViewRoute> step_views() {
  return {{.path = "step",
           .view = step,
           .summary = "Where one comes to by so many records, decisions, or events of an object, in either direction",
           .parameters = {"from", "direction", "by", "object", "times"}},
          {.path = "moment",
           .view = moment,
           .summary = "The position of a moment as people type it: now, -1d, 14:03, \"2026-01-06 14:03\", a position",
           .parameters = {"text", "tz"}}};
}

}  // namespace hindsight::page
