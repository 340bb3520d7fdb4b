#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "projections/format.hpp"
#include "projections/table.hpp"
#include "replay/diff.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using projections::Tone;
using replay::ObjectChange;

struct DiffOptions {
  PastOptions past;
  std::string before, after = "latest", format;
  bool summary = false;
};

struct Side {
  replay::Position position = 0;
  Time time;
  std::uint64_t hash = 0;
  replay::Picture picture;
};

Result<Side> look(replay::Past& past, const events::Log& log, const std::string& moment) {
  const auto position = replay::resolve(log, moment);
  if (!position) return tl::unexpected(position.error());
  if (auto ok = fold(past, *position); !ok) return tl::unexpected(ok.error());
  return Side{*position, past.driver().domain().now(), past.driver().state_hash(), replay::picture_of(past.driver())};
}

const char* name_of(ObjectChange::Kind kind) {
  return kind == ObjectChange::Kind::appeared ? "appeared" : kind == ObjectChange::Kind::gone ? "gone" : "changed";
}

void print_text(const Session& session, const std::vector<ObjectChange>& changes, bool summary) {
  const auto line = [&](const std::string& text, Tone tone) {
    session.out << (session.colour ? projections::painted(printable(text), tone) : printable(text)) << "\n";
  };
  for (const auto& c : changes) {
    const std::string name = c.object.kind + " " + projections::full_name(c.object.namespace_, c.object.name);
    const char sign = c.kind == ObjectChange::Kind::appeared ? '+' : c.kind == ObjectChange::Kind::gone ? '-' : '~';
    const Tone tone = sign == '+' ? Tone::good : sign == '-' ? Tone::bad : Tone::waiting;
    line(std::string(1, sign) + " " + name, tone);
    if (summary) continue;
    for (const auto& f : c.fields) {
      const auto or_none = [](const std::string& value) { return value.empty() ? std::string("(none)") : value; };
      const bool changed = c.kind == ObjectChange::Kind::changed;
      const std::string value = c.kind == ObjectChange::Kind::appeared ? f.after
                                : changed                              ? or_none(f.before) + " -> " + or_none(f.after)
                                                                       : f.before;
      session.out << printable("    " + f.field + ": " + value) << "\n";
    }
  }
  if (changes.empty()) session.out << "no difference\n";
}

Json side_json(const Side& side) {
  Json out{{"position", side.position}};
  if (side.time.micros > 0) out["time"] = format_rfc3339_micro(side.time);
  out["hash"] = hex(side.hash);
  return out;
}

Json document(const Side& before, const Side& after, const std::vector<ObjectChange>& changes, bool summary) {
  Json list = Json::array();
  for (const auto& c : changes) {
    Json one{{"kind", c.object.kind}};
    if (!c.object.namespace_.empty()) one["namespace"] = c.object.namespace_;
    one["name"] = c.object.name;
    one["change"] = name_of(c.kind);
    if (!summary) {
      Json fields = Json::array();
      for (const auto& f : c.fields) {
        Json field{{"field", f.field}};
        if (!f.before.empty()) field["before"] = f.before;
        if (!f.after.empty()) field["after"] = f.after;
        fields.push_back(std::move(field));
      }
      one["fields"] = std::move(fields);
    }
    list.push_back(std::move(one));
  }
  return {{"before", side_json(before)}, {"after", side_json(after)}, {"changes", std::move(list)}};
}

Result<int> diff(const Session& session, const DiffOptions& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  ProgressBar bar(session, "folding");
  replay::Past past(**log, *domain, {.progress = bar.callback()});
  const auto before = look(past, **log, o.before);
  if (!before) return tl::unexpected(before.error());
  const auto after = look(past, **log, o.after);
  if (!after) return tl::unexpected(after.error());
  bar.clear();
  tell_notices(session, past);
  const auto changes = replay::diff(before->picture, after->picture);
  if (o.format == "text") {
    print_text(session, changes, o.summary);
  } else {
    print_document(session, document(*before, *after, changes, o.summary), o.format);
  }
  return exit_ok;
}

}  // namespace

void add_diff(CLI::App& app, Session& session) {
  const auto o = std::make_shared<DiffOptions>();
  auto* c = add_command(app, session, "diff", "What changed between two moments: workloads, queues, configuration",
                        "  hindsight diff 100 200 --log hindsight.db\n"
                        "  hindsight diff -5m latest -o json --log hindsight.db",
                        [o, &session] { return diff(session, *o); });
  c->add_option("before", o->before, "A position, a time, or a duration back from the end (-5m)")->required()->check(is_moment());
  c->add_option("after", o->after, "The same; the end of the log if it is left out")->check(is_moment())->default_str("latest");
  c->add_flag("--summary", o->summary, "Only which objects changed");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, false);
  add_time_zone(*c);
}

}  // namespace hindsight::cli
