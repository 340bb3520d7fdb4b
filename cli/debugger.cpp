#include "cli/debugger.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/how.hpp"
#include "cli/json_path.hpp"
#include "cli/remembered_values.hpp"
#include "cli/value_changes.hpp"
#include "events/json.hpp"
#include "projections/explain_target.hpp"
#include "projections/noted.hpp"
#include "projections/tables.hpp"
#include "projections/why.hpp"
#include "projections/why_queue.hpp"
#include "replay/moment.hpp"
#include "replay/scan.hpp"
#include "replay/snapshots.hpp"
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
    "watch VALUE        tell when KIND/NAME.FIELD or KIND/NAME:.path changes; 'watch' alone lists them\n"
    "blame VALUE        which record changed it last, up to here\n"
    "print VALUE        KIND/NAME.FIELD, KIND/NAME:.path, or the object whole\n"
    "record             the record here, as JSON\n"
    "queues, workloads  the state here; 'state' for both\n"
    "show WHAT          from now on beside each record: queues, workloads, state, or nothing\n"
    "why NAME           why a workload waits, or what became of it; or clusterqueue/NAME, cohort/NAME, localqueue/NAME\n"
    "how [N] [WHO]      how the decision here came about, N workloads in detail; WHO: a workload, or clusterqueue/NAME\n"
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

Debugger::Debugger(const Session& session, Journey journey)
    : session_(session), journey_(std::move(journey)), behind_(*journey_.log, journey_.past->domain_name()) {
  if (const auto first = journey_.log->beginning(journey_.past->domain_name()); first || first.error().kind != ErrorKind::not_found) {
    begin_ = first.value_or(0);
  } else if (const auto snapshots = replay::snapshots_of(*journey_.log, journey_.past->domain_name()); snapshots && !snapshots->empty()) {
    begin_ = snapshots->back().position;  // its records before that are forgotten
  }
  look_on();
  behind_.prepare(journey_.position());  // for the first step back
  // The record that led here was folded before anybody looked on.
  const replay::Position here = journey_.position();
  (void)replay::scan(*journey_.log, journey_.past->domain_name(), here > records_at_once ? here - records_at_once : 1, here,
                     [&](const events::StoredRecord& stored, const RecordView& record) {
                       note(stored.offset, record);
                       return true;
                     });
}

void Debugger::look_on() {
  journey_.past->look_on({}, [this](replay::Position at, const RecordView& record) { note(at, record); });
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

bool Debugger::stops(const admission::StateView& state, const RecordView& record, RememberedValues& remembered, std::string& why) const {
  for (const auto& [text, condition] : breakpoints_)
    if (condition.holds(state, record, &remembered)) {
      why = text;
      return true;
    }
  return false;
}

Result<void> Debugger::go_to(replay::Position position) {
  here_.reset();
  if (position < journey_.position()) {
    (void)behind_.go_to(journey_.past, position);  // what is wrong the fold says
    look_on();
  } else {
    behind_.prepare(position);
  }
  if (auto ok = fold(*journey_.past, position); !ok) return ok;
  if (here_ && here_->position == position) return {};
  const auto first = journey_.log->first();
  if (!first) return tl::unexpected(first.error());
  if (position < *first) return {};  // behind a record that is not kept any more
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
    const replay::Position target = found == 0 ? *last : found;
    behind_.prepare(target);
    return fold(past, target);
  }
  RememberedValues remembered;
  past.look_on({}, [&](replay::Position at, const RecordView& record) {
    if (found != 0) return;
    note(at, record);
    remembered.behind(past, record);
    if (stops(past.driver(), record, remembered, stopped_by_)) found = at;
  });
  Result<void> ok;
  while (ok && found == 0 && past.position() < *last) ok = fold_on(past, std::min(*last, past.position() + records_at_once));
  look_on();
  if (!ok) return ok;
  behind_.prepare(past.position());
  if (found != 0) return past.position() == found ? Result<void>() : go_to(found);  // it has gone a little too far
  session_.out << "The log ends here.\n";
  return {};
}

/// The last so many records before this one that count, in their order; fewer where there are no more. They are read backwards in pieces:
/// who goes back a little in a long log waits a little.
Result<std::vector<std::pair<replay::Position, std::string>>> Debugger::last_places(std::size_t times, Until until) const {
  std::vector<std::pair<replay::Position, std::string>> out;  // the last first
  replay::Position piece = records_at_once;
  for (replay::Position end = journey_.position(); end > begin_ + 1 && out.size() < times; piece *= 4) {
    const replay::Position from = end - begin_ > piece + 1 ? end - piece : begin_ + 1;
    std::deque<replay::Position> here;
    if (auto ok = replay::scan(*journey_.log, journey_.past->domain_name(), from, end - 1,
                               [&](const events::StoredRecord& stored, const RecordView& record) {
                                 if (until == Until::any || std::holds_alternative<Decisions>(record.body)) here.push_back(stored.offset);
                                 if (here.size() > times - out.size()) here.pop_front();
                                 return true;
                               });
        !ok)
      return tl::unexpected(ok.error());
    for (auto it = here.rbegin(); it != here.rend() && out.size() < times; ++it) out.emplace_back(*it, "");
    end = from;
  }
  std::ranges::reverse(out);
  return out;
}

/// The last record before this one behind which a breakpoint holds, with what held; nothing where there is none. Conditions are asked of
/// states, so each stretch is folded from the snapshot at its beginning, the last one first.
Result<std::vector<std::pair<replay::Position, std::string>>> Debugger::last_stop() const {
  const replay::Position here = journey_.position();
  std::vector<replay::Position> begins{begin_};
  if (const auto snapshots = replay::snapshots_of(*journey_.log, journey_.past->domain_name()))
    for (auto it = snapshots->rbegin(); it != snapshots->rend(); ++it)
      if (it->position > begins.back() && it->position + 1 < here) begins.push_back(it->position);
  std::vector<std::pair<replay::Position, std::string>> out;
  for (replay::Position end = here; out.empty() && !begins.empty();) {
    const replay::Position from = begins.back();
    begins.pop_back();
    replay::Past scout(*journey_.log, journey_.past->domain_name());
    if (from == begin_) {
      if (auto ok = fold_to_beginning(*journey_.log, scout); !ok) return tl::unexpected(ok.error());
    } else if (!scout.go_to(from) || scout.started_from() != from) {
      continue;  // it cannot be read: its stretch is part of the one before
    }
    RememberedValues remembered;
    scout.look_on({}, [&](replay::Position at, const RecordView& record) {
      std::string why;
      remembered.behind(scout, record);
      if (at < end && stops(scout.driver(), record, remembered, why)) out.assign(1, {at, why});
    });
    if (auto ok = fold_on(scout, end - 1); !ok) return tl::unexpected(ok.error());
    end = from + 1;
  }
  return out;
}

Result<void> Debugger::back(std::size_t times, Until until) {
  stopped_by_.clear();
  const replay::Position here = journey_.position();
  if (here <= begin_) {
    session_.out << "Nothing is before this.\n";
    return {};
  }
  const auto found = until == Until::breakpoint ? last_stop() : last_places(times, until);
  if (!found) return tl::unexpected(found.error());
  const auto& places = *found;
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
  print_state(shows_queues_, shows_workloads_);
}

void Debugger::print_state(bool queues, bool workloads) const {
  const projections::TableStyle style{.colour = session_.colour};
  const auto& state = journey_.state();
  if (queues) session_.out << projections::render(projections::cluster_queues_table(state, {}), style);
  if (queues && workloads) session_.out << "\n";
  if (workloads) session_.out << projections::render(projections::workloads_table(state, {}), style);
}

Result<void> Debugger::show(const std::string& what) {
  const bool queues = what == "queues" || what == "state", workloads = what == "workloads" || what == "state";
  if (!queues && !workloads && what != "nothing")
    return fail(ErrorKind::invalid, "show: found \"" + what + "\"; allowed: queues, workloads, state, nothing");
  shows_queues_ = queues;
  shows_workloads_ = workloads;
  print_state(queues, workloads);
  return {};
}

/// Of whatever `hindsight why` answers.
Result<void> Debugger::say_why(const std::string& name) const {
  const auto& state = journey_.state();
  const auto queue = projections::parse_queue_target(name, "default");
  if (!queue) return tl::unexpected(queue.error());
  if (*queue) {
    const auto why = projections::explain_queue(state, **queue);
    if (!why) return fail(ErrorKind::invalid, why.error().message);
    session_.out << projections::to_text(*why, session_.colour);
    return {};
  }
  const auto target = projections::parse_target(name, "default");
  if (!target) return tl::unexpected(target.error());
  projections::Trail trail(*target);
  projections::Noted noted(*target);
  const auto set_aside = journey_.log->quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  if (auto ok = replay::scan(*journey_.log, journey_.past->domain_name(), 1, journey_.position(),
                             [&](const events::StoredRecord& stored, const RecordView& record) {
                               if (replay::find_quarantined(*set_aside, stored) != nullptr) return true;
                               trail.add(stored.offset, record);
                               noted.add(stored.offset, record);
                               return true;
                             });
      !ok)
    return ok;
  const auto why = projections::explain_target(
      state, *target, trail, [&](const projections::WorkloadAt& at) { return projections::Stage::of_tree(journey_.past->driver(), at); });
  if (!why) return fail(ErrorKind::invalid, why.error().message);
  session_.out << projections::to_text(*why) << projections::to_text(noted);
  return {};
}

Result<void> Debugger::say_who_changed(const std::string& text) const {
  const auto value = ObjectValue::parse(text);
  if (!value) return tl::unexpected(value.error());
  const auto found = changes_of(*journey_.log, journey_.past->domain_name(), *value, journey_.position(), 1);
  if (!found) return tl::unexpected(found.error());
  if (found->changes.empty())
    session_.out << printable(no_change(*value, *found, journey_.position())) << "\n";
  else
    session_.out << change_text(*value, found->changes.back());
  return {};
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
  constexpr std::array<std::string_view, 12> alone{"run",   "r",      "reverse", "help", "h", "?",
                                                   "where", "record", "queues",  "quit", "q", "exit"};
  if (!rest.empty() && (command == "workloads" || command == "state" || std::ranges::find(alone, command) != alone.end()))
    return fail(ErrorKind::invalid, command + ": found \"" + rest + "\"; allowed: nothing behind it");
  if (command == "step" || command == "s") return move(true, Until::any);
  if (command == "back" || command == "b") return move(false, Until::any);
  if (command == "next" || command == "n") return move(true, Until::decision);
  if (command == "previous" || command == "p") return move(false, Until::decision);
  if (command == "run" || command == "r") return moved(forth(1, Until::breakpoint));
  if (command == "reverse") return moved(back(1, Until::breakpoint));
  if (command == "goto") {
    const auto position = replay::resolve(*journey_.log, rest);
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
    for (const auto& pair : condition->incomparable(state)) session_.warn(pair);
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
    if (found.empty()) session_.out << nothing_there << "\n";
  } else if (command == "record") {
    return replay::scan(*journey_.log, journey_.past->domain_name(), journey_.position(), journey_.position(),
                        [&](const events::StoredRecord&, const RecordView& record) {
                          session_.out << escaped_document(events::to_json(record), false) << "\n";
                          return true;
                        })
        .map([] { return true; });
  } else if (command == "queues" || command == "workloads" || command == "state") {
    print_state(command != "workloads", command != "queues");
  } else if (command == "how") {
    const auto options = read_how(state, rest);
    if (!options) return fail(ErrorKind::invalid, "how: " + options.error().message);
    const auto again = replay::decide_again(*journey_.log, journey_.past->domain_name(), journey_.position(), trace_for(options->filter));
    if (!again)
      return fail(again.error().kind == ErrorKind::not_found ? ErrorKind::invalid : again.error().kind, "how: " + again.error().message);
    session_.out << how_text(*again, *options);
  } else if (command == "why") {
    if (auto ok = say_why(rest); !ok) return fail(ok.error().kind, "why: " + ok.error().message);
  } else if (command == "blame") {
    if (auto ok = say_who_changed(rest); !ok) return fail(ok.error().kind, "blame: " + ok.error().message);
  } else if (command == "show") {
    if (auto ok = show(rest); !ok) return tl::unexpected(ok.error());
  } else {
    return fail(ErrorKind::invalid, "found the command \"" + command + "\"; allowed: those that 'help' tells");
  }
  return true;
}

}  // namespace hindsight::cli
