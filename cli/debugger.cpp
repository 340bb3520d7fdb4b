#include "cli/debugger.hpp"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/json_path.hpp"
#include "cli/log_filter.hpp"
#include "events/json.hpp"
#include "projections/gates.hpp"
#include "projections/tables.hpp"
#include "projections/why.hpp"
#include "replay/moment.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

constexpr std::string_view help_text =
    "step [N], s        N records on\n"
    "back [N], b        N records back\n"
    "next [N], n        to the Nth decision on\n"
    "previous [N], p    to the Nth decision back\n"
    "goto MOMENT        to a position, a time, or so long before the end\n"
    "break CONDITION    stop where it holds; 'break' alone lists them\n"
    "delete [N]         the Nth breakpoint goes; all without N\n"
    "run, r             on to the next record behind which a breakpoint holds, else to the end\n"
    "reverse            back to the last such record, else to the beginning\n"
    "watch VALUE        tell when KIND/NAME:.path changes; 'watch' alone lists them\n"
    "print VALUE        KIND/NAME:.path, or the object whole\n"
    "record             the record here, as JSON\n"
    "queues, workloads  the state here\n"
    "why NAME           why a workload waits, or what became of it\n"
    "where              where it stands\n"
    "help, quit\n";

Result<std::size_t> count_of(const std::string& text) {
  if (text.empty()) return 1;
  std::size_t out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || out > 100'000'000)
      return fail(ErrorKind::invalid, "found \"" + text + "\" for how often; allowed: a whole number from 1 to 1000000000");
    out = out * 10 + static_cast<std::size_t>(c - '0');
  }
  if (out == 0) return fail(ErrorKind::invalid, "found 0 for how often; allowed: a whole number from 1 on");
  return out;
}

constexpr replay::Position records_at_once = 256;

}  // namespace

Debugger::Debugger(const Session& session, Journey journey) : session_(session), journey_(std::move(journey)) {
  if (const auto first = journey_.log->beginning(journey_.past->domain_name())) begin_ = *first;
  journey_.past->look_on({}, [this](replay::Position at, const RecordView& record) { note(at, record); });
  // The record that led here was folded before anybody looked on.
  const replay::Position here = journey_.position();
  (void)replay::scan(*journey_.log, journey_.past->domain_name(), here > records_at_once ? here - records_at_once : 1, here,
                     [&](const events::StoredRecord& stored, const RecordView& record) {
                       note(stored.offset, record);
                       return true;
                     });
}

void Debugger::note(replay::Position at, const RecordView& record) {
  here_ = Seen{at, events::to_text(record), std::holds_alternative<Decisions>(record.body)};
}

std::string Debugger::prompt() const { return moment_text(journey_.position(), journey_.state().domain().now()) + "> "; }

void Debugger::print_place() const {
  session_.out << "At " << moment_text(journey_.position(), journey_.state().domain().now()) << "\n";
  if (here_ && here_->position == journey_.position()) session_.out << "  " << printable(here_->text) << "\n";
}

Result<replay::Position> Debugger::end() const { return journey_.log->last(); }

bool Debugger::stops(const admission::StateView& state, const RecordView& record, std::string& why) const {
  for (const auto& [text, condition] : breakpoints_)
    if (condition.holds(state, record)) {
      why = text;
      return true;
    }
  return false;
}

Result<void> Debugger::go_to(replay::Position position) {
  here_.reset();
  if (auto ok = fold(*journey_.past, position); !ok) return ok;
  if (here_ && here_->position == position) return {};
  // A jump to a snapshot showed nobody the record.
  return replay::scan(*journey_.log, journey_.past->domain_name(), position, position,
                      [&](const events::StoredRecord& stored, const RecordView& record) {
                        note(stored.offset, record);
                        return true;
                      });
}

Result<void> Debugger::forth(std::size_t times, Until until) {
  const auto last = end();
  if (!last) return tl::unexpected(last.error());
  stopped_by_.clear();
  auto& past = *journey_.past;
  const replay::Position here = past.position();
  replay::Position found = 0;
  if (until != Until::breakpoint) {
    std::size_t left = times;
    if (auto ok = replay::scan(*journey_.log, past.domain_name(), here + 1, *last,
                               [&](const events::StoredRecord& stored, const RecordView& record) {
                                 const bool counts = until == Until::any || std::holds_alternative<Decisions>(record.body);
                                 if (counts && --left == 0) found = stored.offset;
                                 return found == 0;
                               });
        !ok)
      return ok;
    if (found == 0) session_.out << "The log ends here.\n";
    return fold(past, found == 0 ? *last : found);
  }
  past.look_on({}, [&](replay::Position at, const RecordView& record) {
    if (found != 0) return;
    note(at, record);
    if (stops(past.driver(), record, stopped_by_)) found = at;
  });
  Result<void> ok;
  while (ok && found == 0 && past.position() < *last) ok = past.fold_to(std::min(*last, past.position() + records_at_once));
  past.look_on({}, [this](replay::Position at, const RecordView& record) { note(at, record); });
  if (!ok) return ok;
  if (found != 0) return past.position() == found ? Result<void>() : go_to(found);  // it has gone a little too far
  session_.out << "The log ends here.\n";
  return {};
}

Result<void> Debugger::back(std::size_t times, Until until) {
  stopped_by_.clear();
  const replay::Position here = journey_.position();
  if (here <= begin_) {
    session_.out << "Nothing is before this.\n";
    return {};
  }
  // Where a condition is asked, states are needed, from the beginning; else it is enough to read.
  std::deque<std::pair<replay::Position, std::string>> places;
  if (until == Until::breakpoint) {
    replay::Past scout(*journey_.log, journey_.past->domain_name(), {.use_snapshots = false});
    scout.look_on({}, [&](replay::Position at, const RecordView& record) {
      std::string why;
      if (at < here && stops(scout.driver(), record, why)) places.assign(1, {at, why});
    });
    if (auto ok = scout.fold_to(here - 1); !ok) return ok;
  } else {
    if (auto ok = replay::scan(*journey_.log, journey_.past->domain_name(), begin_ + 1, here - 1,
                               [&](const events::StoredRecord& stored, const RecordView& record) {
                                 if (until == Until::any || std::holds_alternative<Decisions>(record.body)) {
                                   places.emplace_back(stored.offset, "");
                                   if (places.size() > times) places.pop_front();
                                 }
                                 return true;
                               });
        !ok)
      return ok;
  }
  const bool enough = until == Until::breakpoint ? !places.empty() : places.size() >= times;
  const replay::Position target = enough ? places.front().first : begin_;
  if (enough)
    stopped_by_ = places.front().second;
  else
    session_.out << "The log begins here.\n";
  if (target == 0) {
    here_.reset();
    return fold(*journey_.past, 0);
  }
  return go_to(target);
}

void Debugger::print_changes() {
  if (!stopped_by_.empty()) session_.out << "Breakpoint: " << printable(stopped_by_) << "\n";
  print_place();
  for (auto& w : watched_) {
    const std::string now = w.value.text_in(journey_.state());
    if (now != w.last)
      session_.out << "  " << printable(w.value.text()) << ": " << printable(w.last) << " became " << printable(now) << "\n";
    w.last = now;
  }
}

Result<bool> Debugger::run(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || line[begin] == '#') return true;
  line.remove_prefix(begin);
  line.remove_suffix(line.size() - 1 - line.find_last_not_of(" \t\r\n"));
  const auto space = line.find_first_of(" \t");
  const std::string command(line.substr(0, space));
  std::string rest;
  if (space != std::string_view::npos) rest = line.substr(line.find_first_not_of(" \t", space));

  const auto moved = [&](const Result<void>& ok) -> Result<bool> {
    if (!ok) return tl::unexpected(ok.error());
    print_changes();
    return true;
  };
  const auto move = [&](bool on, Until until) -> Result<bool> {
    const auto times = count_of(rest);
    if (!times) return fail(times.error().kind, command + ": " + times.error().message);
    return moved(on ? forth(*times, until) : back(*times, until));
  };
  if (command == "step" || command == "s") return move(true, Until::any);
  if (command == "back" || command == "b") return move(false, Until::any);
  if (command == "next" || command == "n") return move(true, Until::decision);
  if (command == "previous" || command == "p") return move(false, Until::decision);
  if (command == "run" || command == "r") return moved(forth(1, Until::breakpoint));
  if (command == "reverse") return moved(back(1, Until::breakpoint));
  if (command == "goto") {
    const auto moment = replay::parse_moment(rest);
    if (!moment) return fail(moment.error().kind, "goto: " + moment.error().message);
    const auto position = replay::resolve(*journey_.log, *moment);
    if (!position) return fail(ErrorKind::invalid, "goto: " + position.error().message);
    stopped_by_.clear();
    return moved(go_to(*position));
  }
  if (command == "quit" || command == "q" || command == "exit") return false;
  return question(command, rest);
}

Result<bool> Debugger::question(const std::string& command, const std::string& rest) {
  const auto& state = journey_.state();
  if (command == "help" || command == "h" || command == "?") {
    session_.out << help_text;
  } else if (command == "where") {
    print_place();
  } else if (command == "break") {
    if (rest.empty()) {
      for (std::size_t i = 0; i < breakpoints_.size(); ++i) session_.out << i + 1 << "  " << printable(breakpoints_[i].first) << "\n";
      return true;
    }
    auto condition = Condition::parse(rest);
    if (!condition) return fail(condition.error().kind, "break: " + condition.error().message);
    if (breakpoints_.size() == breakpoints_max)
      return fail(ErrorKind::invalid,
                  "break: there are " + std::to_string(breakpoints_max) + " breakpoints; allowed: no more. 'delete N' takes one away");
    breakpoints_.emplace_back(rest, std::move(*condition));
    session_.out << breakpoints_.size() << "  " << printable(rest) << "\n";
  } else if (command == "delete") {
    if (rest.empty()) {
      breakpoints_.clear();
      return true;
    }
    const auto n = count_of(rest);
    if (!n || *n > breakpoints_.size())
      return fail(ErrorKind::invalid,
                  "delete: found \"" + rest + "\"; allowed: 1 to " + std::to_string(breakpoints_.size()) + ", or nothing for all");
    breakpoints_.erase(breakpoints_.begin() + static_cast<std::ptrdiff_t>(*n - 1));
  } else if (command == "watch") {
    if (rest.empty()) {
      for (const auto& w : watched_) session_.out << printable(w.value.text()) << " is " << printable(w.last) << "\n";
      return true;
    }
    auto value = ObjectValue::parse(rest);
    if (!value) return fail(value.error().kind, "watch: " + value.error().message);
    if (watched_.size() == breakpoints_max)
      return fail(ErrorKind::invalid, "watch: " + std::to_string(breakpoints_max) + " values are watched; allowed: no more");
    watched_.push_back({*value, value->text_in(state)});
    session_.out << printable(rest) << " is " << printable(watched_.back().last) << "\n";
  } else if (command == "print") {
    const auto value = ObjectValue::parse(rest);
    if (!value) return fail(value.error().kind, "print: " + value.error().message);
    const auto found = value->in(state);
    for (const Json& v : found) session_.out << (v.is_structured() ? to_json_text(v, 2) : value_text(v)) << "\n";
    if (found.empty()) session_.out << "(nothing)\n";
  } else if (command == "record") {
    return replay::scan(*journey_.log, journey_.past->domain_name(), journey_.position(), journey_.position(),
                        [&](const events::StoredRecord&, const RecordView& record) {
                          session_.out << escaped_document(events::to_json(record), false) << "\n";
                          return true;
                        })
        .map([] { return true; });
  } else if (command == "queues" || command == "workloads") {
    const projections::TableStyle style{.colour = session_.colour};
    session_.out << projections::render(
        command == "queues" ? projections::cluster_queues_table(state, {}) : projections::workloads_table(state, {}), style);
  } else if (command == "why") {
    const auto target = projections::parse_target(rest, "default");
    if (!target) return fail(target.error().kind, "why: " + target.error().message);
    projections::Trail trail(*target);
    if (auto ok = replay::scan(*journey_.log, journey_.past->domain_name(), 1, journey_.position(),
                               [&](const events::StoredRecord& stored, const RecordView& record) {
                                 trail.add(stored.offset, record);
                                 return true;
                               });
        !ok)
      return tl::unexpected(ok.error());
    const auto at = projections::find_workload(state, *target);
    if (!at) return fail(ErrorKind::invalid, "why: " + at.error().message);
    const auto stage = projections::Stage::of(journey_.past->driver());
    session_.out << projections::to_text(projections::explain(state, *at, trail, &stage));
  } else {
    return fail(ErrorKind::invalid, "found the command \"" + command + "\"; allowed: those that 'help' tells");
  }
  return true;
}

}  // namespace hindsight::cli
