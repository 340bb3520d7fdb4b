#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "cli/commands.hpp"
#include "cli/naming.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "events/record.hpp"
#include "projections/history_short.hpp"
#include "projections/node_history.hpp"
#include "projections/table.hpp"
#include "replay/scan.hpp"

namespace hindsight::cli {
namespace {

using projections::HistoryEntry;
using projections::ShortEntry;
using replay::Position;

struct HistoryOptions {
  PastOptions past;
  std::string workload, namespace_ = "default", format;
  bool full = false;
};

/// The first and the last record that name whom the history is about; (0, 0): none does.
Result<std::pair<Position, Position>> span_of(const Session& session, const events::Log& log, const std::string& domain, Position to,
                                              const std::function<bool(const RecordView&)>& concerns) {
  ProgressBar bar(session, "reading");
  std::pair<Position, Position> out{0, 0};
  std::set<Position> mentioned;  // to tell which of them were set aside
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    const auto* o = std::get_if<Observation>(&record.body);
    const auto* q = o == nullptr ? nullptr : std::get_if<RecordQuarantined>(o);
    if (!concerns(record) && (q == nullptr || !mentioned.contains(q->position))) return true;
    mentioned.insert(stored.offset);
    if (out.first == 0) out.first = stored.offset;
    out.second = stored.offset;
    return true;
  };
  if (auto ok = replay::scan(log, domain, 1, to, see, bar.callback()); !ok) return tl::unexpected(ok.error());
  return out;
}

/// Each as it is.
std::vector<ShortEntry> in_full(const std::vector<HistoryEntry>& entries) {
  std::vector<ShortEntry> out;
  out.reserve(entries.size());
  for (const auto& e : entries) out.push_back({e, 1, e.offset, e.time});
  return out;
}

void print_text(const Session& session, const std::vector<ShortEntry>& entries) {
  projections::Table table;
  table.columns = {{"OFFSET", false, true}, {"TIME"}, {"CAUSE"}, {"OBJECT"}, {"WHAT"}};
  for (const auto& line : entries) {
    const HistoryEntry& e = line.entry;
    const std::string cause = e.decided      ? "decided at " + std::to_string(e.cause)
                              : e.noted      ? "noted at " + std::to_string(e.cause)
                              : e.cause != 0 ? "after " + std::to_string(e.cause)
                                             : "observed";
    table.rows.push_back({std::to_string(e.offset),
                          format_rfc3339_micro(e.time),
                          cause,
                          e.object,
                          {projections::short_text(line), e.void_ ? projections::Tone::faint : projections::Tone::plain}});
  }
  session.out << projections::render(table, {.colour = session.colour});
}

void print(const Session& session, const HistoryOptions& o, const std::vector<HistoryEntry>& entries) {
  const auto lines = o.full ? in_full(entries) : projections::condensed(entries);
  if (o.format == "text") return print_text(session, lines);
  Json list = Json::array();
  for (const auto& line : lines) list.push_back(o.full ? projections::to_json(line.entry) : projections::to_json(line));
  print_document(session, list, o.format);
}

/// Folds the records from the first one that names `whom` up to the last one, or with `whole` up to the end, before `story`.
template <class Story>
Result<int> tell(const Session& session, const HistoryOptions& o, const std::string& whom,
                 const std::function<bool(const RecordView&)>& concerns, bool whole, Story story) {
  auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto to = replay::resolve(**log, o.past.at);
  if (!to) return tl::unexpected(to.error());
  const auto span = span_of(session, **log, *domain, *to, concerns);
  if (!span) return tl::unexpected(span.error());
  if (span->first == 0)
    return fail(ErrorKind::not_found, whom + " is nowhere in log " + std::string((*log)->name()) + " up to " + std::to_string(*to));

  ProgressBar bar(session, "folding");
  replay::Past past(**log, *domain, {.progress = bar.callback()});
  if (auto ok = past.go_to(span->first - 1); !ok) return tl::unexpected(ok.error());
  past.look_on([&](Position, const RecordView& r) { story.before(r, past.driver()); },
               [&](Position offset, const RecordView& r) { story.after(offset, r, past.driver()); });
  events::RecordReader reader;
  past.look_on_passed_over([&](const events::StoredRecord& stored) {
    const auto record = reader.read(stored.bytes);
    if (!record) return;
    reader.number(past.driver().domain().sequence());
    story.passed_over(stored.offset, **record);
  });
  if (auto ok = fold_on(past, whole ? *to : span->second); !ok) return tl::unexpected(ok.error());
  bar.clear();
  tell_notices(session, past);
  print(session, o, story.entries());
  return exit_ok;
}

Result<int> history(const Session& session, const HistoryOptions& o) {
  if (const auto node = projections::node_target(o.workload)) {
    const auto names_it = [&](const RecordView& record) { return projections::mentions_node(record, *node); };
    return tell(session, o, "Node " + *node, names_it, true, projections::NodeHistory(*node));
  }
  const auto target = projections::parse_target(o.workload, o.namespace_);
  if (!target) return tl::unexpected(target.error());
  projections::Mentions mentions(*target);
  const auto names_it = [&](const RecordView& record) { return mentions.concerns(record); };
  return tell(session, o, target->text(), names_it, false, projections::History(*target));
}

}  // namespace

void add_history(CLI::App& app, Session& session) {
  const auto o = std::make_shared<HistoryOptions>();
  auto* c = add_command(app, session, "history",
                        "Every record that changed one workload or its job, or one node: what was seen, what was decided, and from what",
                        "  hindsight history job/train --log hindsight.db\n"
                        "  hindsight history node/gpu-17 --log hindsight.db\n"
                        "  hindsight history team-a/job-train-1f2e3 -o json --log hindsight.db",
                        [o, &session] { return history(session, *o); });
  c->add_option("workload", o->workload, "NAME, NAMESPACE/NAME, job/NAME, job/NAMESPACE/NAME, node/NAME")->required();
  const auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->get_option("workload")->check(in_namespace_of(one));
  c->add_flag("--full", o->full, "Every try of a workload that waits on a line of its own; without it those that came out alike are one");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
