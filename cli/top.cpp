#include "projections/top.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "projections/format.hpp"

namespace hindsight::cli {
namespace {

using projections::Top;
using projections::TopKind;
using projections::TopOrder;

struct TopOptions {
  PastOptions past;
  std::string kind = "clusterqueues", since, order = "use", format;
  bool reasons = false;
};

/// So many reasons stand below the table; --reasons lists them all.
constexpr std::size_t reasons_below = 10;

const std::vector<std::pair<std::string, TopKind>>& top_kinds() {
  static const std::vector<std::pair<std::string, TopKind>> kinds{{"clusterqueues", TopKind::cluster_queues},
                                                                  {"cohorts", TopKind::cohorts},
                                                                  {"localqueues", TopKind::local_queues},
                                                                  {"resourceflavors", TopKind::flavors}};
  return kinds;
}

const std::vector<std::pair<std::string, TopOrder>>& top_orders() {
  static const std::vector<std::pair<std::string, TopOrder>> orders{
      {"use", TopOrder::use}, {"wait", TopOrder::wait}, {"pending", TopOrder::pending}, {"name", TopOrder::name}};
  return orders;
}

/// A kind by any of its names, as `get` takes it.
const TopKind* find_top_kind(const std::string& name) {
  const auto* known = find_kind(name);
  if (known == nullptr) return nullptr;
  for (const auto& [plural, kind] : top_kinds())
    if (plural == known->plural) return &kind;
  return nullptr;
}

CLI::Validator is_top_kind() {
  return {[](std::string& text) {
            return find_top_kind(text) != nullptr ? std::string()
                                                  : "found kind \"" + text + "\"; allowed: clusterqueues, cohorts, localqueues, flavors";
          },
          "KIND"};
}

struct SpanOfLog {
  std::string from, to;  ///< In words.
};

/// What happened from one moment of the log to another; the journey ends there.
Result<Top> top_over(const Session& session, const TopOptions& o, TopKind kind, TopOrder order, Journey& journey, SpanOfLog& span) {
  PastOptions begin = o.past;
  begin.at = o.since;
  auto started = travel(session, begin);
  if (!started) return tl::unexpected(started.error());
  journey = std::move(*started);
  const auto moment = replay::parse_moment(o.past.at);
  if (!moment) return tl::unexpected(moment.error());
  const auto end = replay::locate(*journey.log, *moment);
  if (!end) return tl::unexpected(end.error());
  auto& past = *journey.past;
  span.from = moment_text(journey.position(), journey.state().now());
  const bool later = end->time.is_set() && end->time < journey.state().now();
  if (end->position < journey.position() || later)
    return fail(ErrorKind::invalid, "--since: found \"" + o.since + "\", which is position " + span.from +
                                        "; allowed: a moment that is not after that of --at, position " + std::to_string(end->position));
  const std::size_t started_with_notices = past.notices().size();  // these have been told
  projections::TopOverTime watch(kind, journey.state());
  ProgressBar bar(session, "folding");
  past.look_on([&](replay::Position, const RecordView& r) { watch.before(r, past.driver()); },
               [&](replay::Position, const RecordView& r) { watch.after(r, past.driver()); });
  if (auto ok = fold_on(past, end->position); !ok) return tl::unexpected(ok.error());
  past.look_on({}, {});
  bar.clear();
  if (started_with_notices != past.notices().size()) tell_notices(session, past);
  past.driver().look_at(end->time);
  span.to = moment_text(journey.position(), journey.state().now());
  return watch.finish(journey.state(), order);
}

Result<int> top(const Session& session, const TopOptions& o) {
  const TopKind kind = *find_top_kind(o.kind);
  TopOrder order = TopOrder::use;
  for (const auto& [name, value] : top_orders())
    if (name == o.order) order = value;
  Journey journey;
  Top found;
  SpanOfLog span;
  if (o.since.empty()) {
    auto arrived = travel(session, o.past);
    if (!arrived) return tl::unexpected(arrived.error());
    journey = std::move(*arrived);
    if (!o.reasons) found = projections::top_of(journey.state(), kind, order);
  } else {
    auto seen = top_over(session, o, kind, order, journey, span);
    if (!seen) return tl::unexpected(seen.error());
    found = std::move(*seen);
  }
  const Time now = journey.state().now();
  const bool text = o.format == "text";
  if (text && o.since.empty()) session.out << "At " << moment_text(journey.position(), now) << "\n";
  if (text && !o.since.empty())
    session.out << "From " << span.from << "\nto " << span.to << ": " << projections::wait_text(found.span->micros / 1'000) << "\n";
  if (text && !o.reasons) {
    session.out << projections::to_text(found, session.colour, reasons_below);
    return exit_ok;
  }
  const auto waiters = o.reasons ? projections::waiters_of(journey.state()) : projections::Waiters();
  if (text) {
    session.out << projections::reasons_text(waiters, now, session.colour);
    return exit_ok;
  }
  Json out{{"position", journey.position()}, {"time", format_rfc3339_micro(now)}};
  out.update(o.reasons ? projections::reasons_document(waiters, now) : projections::to_json(found));
  print_document(session, out, o.format);
  return exit_ok;
}

}  // namespace

void add_top(CLI::App& app, Session& session) {
  const auto o = std::make_shared<TopOptions>();
  auto* c =
      add_command(app, session, "top",
                  "Queues, cohorts or flavors by use and wait, and how many wait for which reason, at any moment; or what happened in a "
                  "span: averages, waits, admissions, evictions",
                  "  hindsight top --log hindsight.db\n"
                  "  hindsight top cohorts --at 2026-01-01T00:00:10Z --log hindsight.db\n"
                  "  hindsight top localqueues --since -1d --sort-by wait --log hindsight.db\n"
                  "  hindsight top --reasons --log hindsight.db",
                  [o, &session] { return top(session, *o); });
  auto* kind =
      c->add_option("kind", o->kind, "clusterqueues, cohorts, localqueues, flavors")->default_str("clusterqueues")->check(is_top_kind());
  auto* since = c->add_option("--since,--from", o->since, "Not of a moment, but of the span from here to that of --at")->check(is_moment());
  std::vector<std::string> orders;
  for (const auto& [name, order] : top_orders()) orders.push_back(name);
  auto* sort =
      c->add_option("--sort-by", o->order,
                    "The largest first by use (of the flavor and resource that is used most), wait (the longest now, in a span the 95th "
                    "percentile) or pending; or by name")
          ->check(CLI::IsMember(orders))
          ->default_str("use");
  c->add_flag("--reasons", o->reasons, "Only how many wait for which reason, in each ClusterQueue")
      ->excludes(since)
      ->excludes(kind)
      ->excludes(sort);
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
