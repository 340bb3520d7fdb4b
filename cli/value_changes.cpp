#include "cli/value_changes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/past_options.hpp"
#include "cli/remembered_values.hpp"
#include "events/json.hpp"
#include "replay/snapshots.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {

Result<ValueChanges> changes_of(const events::Log& log, const std::string& domain, const ObjectValue& value, replay::Position until,
                                std::size_t limit, const replay::Progress& progress) {
  std::vector<replay::Position> begins;  // of stretches, ascending; 0: the earliest moment that the log can give
  if (limit != 0)
    if (const auto snapshots = replay::snapshots_of(log, domain))
      for (const auto& s : *snapshots)
        if (s.position > 0 && s.position < until) begins.push_back(s.position);
  std::ranges::sort(begins);
  begins.insert(begins.begin(), 0);
  ValueChanges out;
  for (replay::Position end = until; !begins.empty(); begins.pop_back()) {
    const replay::Position from = begins.back();
    replay::Past past(log, domain, {.progress = progress});
    if (from == 0) {
      if (auto ok = fold_to_beginning(log, past); !ok) return tl::unexpected(ok.error());
      if (until < past.position())
        return fail(ErrorKind::not_found, "found record " + std::to_string(until) + ", allowed: from record " +
                                              std::to_string(past.position()) + " on, behind which log " + std::string(log.name()) +
                                              " begins");
      out.beginning_is_gone = past.started_from() > 0;
    } else if (!past.go_to(from) || past.started_from() != from) {
      for (const auto& notice : past.notices())
        if (std::ranges::find(out.notices, notice) == out.notices.end()) out.notices.push_back(notice);
      continue;  // it cannot be read: its stretch is part of the one before
    }
    out.begin = past.position();
    out.at_begin = value.text_in(past.driver());
    std::string now = out.at_begin;
    std::deque<ValueChange> here;
    RememberedValues remembered;
    past.look_on({}, [&](replay::Position at, const RecordView& record) {
      remembered.behind(past, record);
      if (at > end || remembered.knows(value)) return;
      std::string then = ObjectValue::text_of(remembered.of(value, past.driver()));
      if (then == now) return;
      here.push_back({at, record.envelope.time, events::to_text(record), std::exchange(now, then), then});
      if (limit != 0 && here.size() > limit) here.pop_front();
    });
    if (end > past.position())
      if (auto ok = fold_on(past, end); !ok) return tl::unexpected(ok.error());
    for (const auto& notice : past.notices())
      if (std::ranges::find(out.notices, notice) == out.notices.end()) out.notices.push_back(notice);
    out.changes.insert(out.changes.begin(), here.begin(), here.end());
    while (limit != 0 && out.changes.size() > limit) out.changes.pop_front();
    if (limit != 0 && out.changes.size() >= limit) break;
    end = std::min(end, from);
  }
  return out;
}

std::string change_text(const ObjectValue& value, const ValueChange& c) {
  return "At " + moment_text(c.position, c.time) + " " + printable(value.text()) + " became " + printable(c.after) + ", from " +
         printable(c.before) + "\n  " + printable(c.record) + "\n";
}

std::string no_change(const ObjectValue& value, const ValueChanges& found, replay::Position until) {
  if (found.at_begin == nothing_there) return value.text() + " is not there, and never was up to " + std::to_string(until);
  return value.text() + " did not change from record " + std::to_string(found.begin + 1) + " to " + std::to_string(until) + ": it is " +
         found.at_begin;
}

}  // namespace hindsight::cli
