#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "cli/commands.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "projections/beside.hpp"
#include "projections/format.hpp"
#include "projections/table.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using projections::Beside;
using projections::Matter;
using projections::SideOfTwo;
using projections::Verdict;

struct CompareOptions {
  PastOptions past;
  std::string from, until = "latest", tolerance = "30s", format;
  std::uint64_t limit = 1000;
  bool all = false;
};

std::string side_words(const Matter& m, const std::optional<SideOfTwo>& side) {
  if (!side) return "-";
  std::string out = format_rfc3339_micro(side->time);
  if (m.eviction) return out + " evicted: " + side->reason;
  if (!side->assignments.empty()) out += " " + projections::joined(side->assignments, "; ");
  if (!side->assignments.empty() && side->cluster_queue != m.cluster_queue) out += " in " + side->cluster_queue;
  if (!side->victims.empty())
    out += " preempts " + projections::joined(std::vector<std::string>(side->victims.begin(), side->victims.end()));
  return out;
}

std::string verdict_words(const Matter& m) {
  std::string out(projections::name_of(m.verdict));
  if (m.verdict == Verdict::earlier) out += " by " + projections::human_duration(m.difference);
  return out;
}

std::string why_words(const Matter& m) {
  std::string out;
  for (const auto& w : m.why) out += (out.empty() ? "" : "; ") + w.text + (w.rule.empty() ? "" : " (" + w.rule + ")");
  return out.empty() ? "-" : out;
}

void print_table(const Session& session, const Beside& beside) {
  projections::Table table;
  table.columns = {{"WORKLOAD"}, {"CLUSTERQUEUE"}, {"MATTER"}, {"VERDICT"}, {"HINDSIGHT"}, {"KUEUE"}, {"WHY"}};
  for (const Matter& m : beside.matters()) {
    const bool differs = projections::is_difference(m.verdict);
    table.rows.push_back({m.workload,
                          m.cluster_queue.empty() ? "-" : m.cluster_queue,
                          m.eviction ? "eviction" : "admission",
                          {verdict_words(m), differs ? projections::Tone::bad : projections::Tone::good},
                          side_words(m, m.hindsight),
                          side_words(m, m.kueue),
                          why_words(m)});
  }
  if (!table.rows.empty()) session.out << projections::render(table, {.colour = session.colour}) << "\n";
  if (beside.left_out() > 0) session.out << "... and " << with_commas(beside.left_out()) << " more\n";
  session.out << (beside.differences() == 0 ? "no difference" : projections::counted(beside.differences(), "difference")) << " in "
              << projections::counted(beside.notes(), "note");
  for (std::size_t i = 0; i < projections::verdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (const auto n = beside.count(verdict); n > 0) session.out << ", " << projections::name_of(verdict) << " " << with_commas(n);
  }
  session.out << "\n";
  if (const auto n = beside.count(Verdict::not_looked); n > 0)
    session.out << "of " << projections::counted(n, "matter") << " (NotLooked) nobody found out in time what Hindsight would have done\n";
}

Json document(const Beside& beside, Duration tolerance, replay::Position from, replay::Position until) {
  Json sums = Json::object();
  for (std::size_t i = 0; i < projections::verdicts; ++i)
    sums[std::string(projections::name_of(static_cast<Verdict>(i)))] = beside.count(static_cast<Verdict>(i));
  Json noted = Json::object();
  for (const auto& [kind, n] : beside.noted()) noted[kind] = n;
  Json matters = Json::array();
  for (const Matter& m : beside.matters()) matters.push_back(projections::to_json(m));
  return Json{{"from", from},
              {"until", until},
              {"toleranceSeconds", static_cast<double>(tolerance.micros) / 1e6},
              {"differences", beside.differences()},
              {"sums", std::move(sums)},
              {"notes", beside.notes()},
              {"noted", std::move(noted)},
              {"matters", std::move(matters)},
              {"mattersLeftOut", beside.left_out()}};
}

Result<int> compare(const Session& session, const CompareOptions& o) {
  const auto tolerance = parse_duration(o.tolerance);
  if (!tolerance || tolerance->micros < 0)
    return fail(ErrorKind::invalid, "--tolerance: found \"" + o.tolerance + "\"; allowed: a duration of 0s and more, as 30s");
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
    const auto from = replay::resolve(**log, o.from);
    if (!from) return tl::unexpected(from.error());
    if (auto ok = past.go_to(*from); !ok) return tl::unexpected(ok.error());
  }
  const replay::Position from = past.position();
  if (from > *until)
    return fail(ErrorKind::invalid, "--until: found " + o.until + " (record " + std::to_string(*until) + "), which is before record " +
                                        std::to_string(from) + ", from which is compared; allowed: a moment after it");
  Beside beside({.tolerance = *tolerance, .matters_max = o.limit, .keep_same = o.all});
  beside.begin(past.driver());
  past.look_on({}, [&](replay::Position offset, const RecordView& record) { beside.after(offset, record, past.driver()); });
  if (auto ok = fold_on(past, *until); !ok) return tl::unexpected(ok.error());
  beside.finish(past.driver());
  bar.clear();
  tell_notices(session, past);
  if (!beside.was_observed())
    return fail(ErrorKind::not_found, std::string((*log)->name()) + " has no note of what would be decided between record " +
                                          std::to_string(from) + " and " + std::to_string(*until) +
                                          "; allowed: the log of a 'hindsight run --observe'");
  if (o.format == "table") {
    print_table(session, beside);
  } else {
    print_document(session, document(beside, *tolerance, from, *until), o.format);
  }
  return exit_ok;
}

}  // namespace

void add_compare_kueue(CLI::App& app, Session& session) {
  const auto o = std::make_shared<CompareOptions>();
  auto* c = add_command(app, session, "compare-kueue",
                        "Where Hindsight would have decided otherwise than the controller beside which it looked on (run --observe)",
                        "  hindsight compare-kueue --log observed.db\n"
                        "  hindsight compare-kueue --from -1h --tolerance 10s --all --log observed.db\n"
                        "  hindsight compare-kueue -o json --log observed.db",
                        [o, &session] { return compare(session, *o); });
  c->add_option("--from", o->from, "Compare from this moment on: a position, a time, or a duration back (-5m); else from the beginning")
      ->check(is_moment());
  c->add_option("--until", o->until, "Up to this moment")->check(is_moment())->default_str("latest");
  c->add_option("--tolerance", o->tolerance, "The other controller may take so long for what counts as the same")
      ->type_name("DURATION")
      ->capture_default_str();
  c->add_flag("--all", o->all, "Also what is the same, what both let wait, and what nobody saw or looked at");
  c->add_option("--limit", o->limit, "Show no more than so many; all are counted")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  add_output(*c, o->format, {"table", "json", "yaml"});
  add_past_options(*c, o->past, false);
  add_time_zone(*c);
}

}  // namespace hindsight::cli
