#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/condition.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "cli/remembered_values.hpp"
#include "cli/value_changes.hpp"
#include "events/json.hpp"
#include "replay/moment.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct BisectOptions {
  PastOptions past;
  std::string condition, from, until = "latest", format;
};

struct BlameOptions {
  PastOptions past;
  std::string value, format;
  std::size_t limit = 1;
};

constexpr replay::Position stretch = 1024;

/// A record of a log, as it is told.
struct Told {
  replay::Position position = 0;
  Time time;
  std::string record;
  std::vector<std::pair<std::string, std::string>> values;  ///< As they are behind it.
};

Json to_json(const Told& t) {
  Json values = Json::object();
  for (const auto& [name, value] : t.values) values[name] = value;
  return {{"position", t.position}, {"time", format_rfc3339_micro(t.time)}, {"record", t.record}, {"values", values}};
}

Result<int> bisect(const Session& session, const BisectOptions& o) {
  const auto condition = Condition::parse(o.condition);
  if (!condition) return fail(condition.error().kind, "the condition: " + condition.error().message);
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto until = replay::resolve(**log, o.until);
  if (!until) return tl::unexpected(until.error());
  ProgressBar bar(session, "folding");
  replay::Past past(**log, *domain, {.progress = bar.callback()});
  if (o.from.empty()) {
    if (auto ok = fold_to_beginning(session, **log, past); !ok) return tl::unexpected(ok.error());
  } else {
    const auto from = replay::first_record(**log, o.from);
    if (!from) return tl::unexpected(from.error());
    if (*from > *until + 1)
      return fail(ErrorKind::invalid, "--from: found " + o.from + " (record " + std::to_string(*from) + "), which is behind --until " +
                                          o.until + " (record " + std::to_string(*until) + "); allowed: a moment before it");
    if (auto ok = fold(past, *from - 1); !ok) return tl::unexpected(ok.error());
  }
  std::optional<Told> found;
  RememberedValues remembered;
  past.look_on({}, [&](replay::Position at, const RecordView& record) {
    if (found) return;
    remembered.behind(past, record);
    if (!condition->holds(past.driver(), record, &remembered)) return;
    found = Told{at, record.envelope.time, events::to_text(record), condition->values(past.driver())};
  });
  while (!found && past.position() < *until)
    if (auto ok = fold_on(past, std::min(*until, past.position() + stretch)); !ok) return tl::unexpected(ok.error());
  bar.clear();
  tell_notices(session, past);
  if (!found) {
    session.warn("it holds behind no record up to " + std::to_string(*until));
    for (const auto& pair : condition->incomparable(past.driver())) session.warn(pair);
    return exit_failure;
  }
  if (o.format != "text") {
    print_document(session, to_json(*found), o.format);
    return exit_ok;
  }
  session.out << "First at " << moment_text(found->position, found->time) << "\n  " << printable(found->record) << "\n";
  for (const auto& [name, value] : found->values) session.out << "  " << printable(name) << " is " << printable(value) << "\n";
  return exit_ok;
}

Result<int> blame(const Session& session, const BlameOptions& o) {
  const auto value = ObjectValue::parse(o.value);
  if (!value) return tl::unexpected(value.error());
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto until = replay::resolve(**log, o.past.at);
  if (!until) return tl::unexpected(until.error());
  ProgressBar bar(session, "folding");
  const auto found = changes_of(**log, *domain, *value, *until, o.limit, bar.callback());
  bar.clear();
  if (!found) {
    if (found.error().kind != ErrorKind::not_found) return tl::unexpected(found.error());
    return fail(ErrorKind::not_found, "--at: " + found.error().message);
  }
  for (const auto& notice : found->notices) session.warn(notice);
  if (found->beginning_is_gone)
    session.warn("the beginning of log " + std::string((*log)->name()) + " is not kept any more: what is told begins behind record " +
                 std::to_string(found->begin));
  const auto& changes = found->changes;
  if (changes.empty()) return fail(ErrorKind::not_found, no_change(*value, *found, *until));
  if (o.format != "text") {
    Json list = Json::array();
    for (const auto& c : changes) {
      Json j = to_json(Told{c.position, c.time, c.record, {{value->text(), c.after}}});
      j["before"] = c.before;
      list.push_back(std::move(j));
    }
    print_document(session, list, o.format);
    return exit_ok;
  }
  for (const auto& c : changes) session.out << change_text(*value, c);
  return exit_ok;
}

}  // namespace

void add_bisect(CLI::App& app, Session& session) {
  const auto o = std::make_shared<BisectOptions>();
  auto* c = add_command(app, session, "bisect", "The first record behind which a condition holds",
                        "  hindsight bisect 'queue team-a pending>10'\n"
                        "  hindsight bisect 'clusterqueue/team-a:.status.pendingWorkloads > 10 and not job/team-a/train'\n"
                        "  hindsight bisect --from -1d 'event WorkloadPreempted of team-a/job-train-1f2e3'",
                        [o, &session] { return bisect(session, *o); });
  c->add_option(
       "condition", o->condition,
       "event KIND [of NAME], workload NAME, job NAME, queue NAME FIELD [OP VALUE], KIND/NAME[.FIELD] [OP VALUE], or KIND/NAME[:.path] "
       "[OP VALUE], with OP one of == != < <= > >=; joined by and, or, not, ( )")
      ->required();
  c->add_option("--from", o->from, "Look from this moment on")->check(is_moment())->default_str("the beginning");
  c->add_option("--until", o->until, "Look up to this moment")->check(is_moment())->default_str("latest");
  add_time_zone(*c);
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, false);
}

void add_blame(CLI::App& app, Session& session) {
  const auto o = std::make_shared<BlameOptions>();
  auto* c = add_command(app, session, "blame", "Which record changed a value of an object last",
                        "  hindsight blame clusterqueue/team-a.usage.cpu\n"
                        "  hindsight blame clusterqueue/team-a:.status.pendingWorkloads\n"
                        "  hindsight blame workload/team-a/job-train-1f2e3:.status.admission --at -1h --limit 5",
                        [o, &session] { return blame(session, *o); });
  c->add_option(
       "value", o->value,
       "KIND/NAME:.path, as 'get -o json' shows the object; KIND/NAME.FIELD, as .pending or .usage.cpu of a queue; KIND/NAME: any of "
       "its values")
      ->required();
  c->add_option("--limit", o->limit, "So many of the last changes; 0: all")->check(whole_number())->capture_default_str();
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
