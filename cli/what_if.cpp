#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "projections/lookup.hpp"
#include "projections/mentions.hpp"
#include "replay/moment.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "runtime/configuration.hpp"
#include "runtime/log_location.hpp"
#include "runtime/what_if_objects.hpp"
#include "vocabulary/printable.hpp"
#include "whatif/agreement.hpp"
#include "whatif/comparison.hpp"
#include "whatif/document.hpp"
#include "whatif/encoded.hpp"
#include "whatif/many_player.hpp"
#include "whatif/player.hpp"

namespace hindsight::cli {
namespace {

struct WhatIfOptions {
  PastOptions past;
  std::string from, until = "latest", format, result, beyond, config, feature_gates, rules = "recorded", progress = "lose";
  std::vector<std::string> sets, nodes, files, drops;
  bool model_all = false, compare = false, rows_given = false;
  std::size_t rows = 20;
};

constexpr std::size_t shown_max = 5;  // of each kind of notice

/// What --drop names, and whether the log knows it.
struct Dropped {
  std::string text;
  projections::Mentions mentions;
};

Result<std::vector<Dropped>> dropped_of(const WhatIfOptions& o) {
  std::vector<Dropped> out;
  for (const auto& text : o.drops) {
    const auto target = projections::parse_target(text, "default");
    if (!target) return fail(target.error().kind, "--drop: " + target.error().message);
    out.push_back({text, projections::Mentions(*target)});
  }
  return out;
}

Result<whatif::Changes> changes_of(const WhatIfOptions& o, Time at, whatif::Responses& responses) {
  whatif::Changes out;
  for (const auto& text : o.sets) {
    const auto change = whatif::parse_quota_change(text);
    if (!change) return fail(change.error().kind, "--set: " + change.error().message);
    out.quotas.push_back(*change);
  }
  for (const auto& text : o.nodes) {
    auto change = whatif::parse_node_change(text);
    if (!change) return fail(change.error().kind, "--add-nodes: " + change.error().message);
    out.nodes.push_back(std::move(*change));
  }
  out.current_rules = o.rules == "current";
  for (const auto& text : o.drops) {
    const auto target = projections::parse_target(text, "default");
    if (!target) return fail(target.error().kind, "--drop: " + target.error().message);
    out.dropped.push_back((target->is_workload() ? "workload" : target->kind) + "/" + target->namespace_ + "/" + target->name);
  }
  if (!o.files.empty()) {
    auto input = connectors::manifests::read_input(o.files);
    if (!input) return tl::unexpected(input.error());
    auto objects = runtime::what_if_objects(std::move(*input), "-f", at, responses);
    if (!objects) return tl::unexpected(objects.error());
    out.observations = std::move(*objects);
  }
  if (!o.config.empty() || !o.feature_gates.empty()) {
    const auto configuration = runtime::run_configuration(o.config, o.feature_gates);
    if (!configuration) return tl::unexpected(configuration.error());
    out.observations.insert(out.observations.begin(), whatif::encoded(Observation{ConfigurationObserved{configuration->json}}));
  }
  return out;
}

void tell(const Session& session, const std::string& what, const std::set<std::string>& names) {
  if (names.empty()) return;
  std::string text = what + ": " + std::to_string(names.size()) + " (";
  std::size_t n = 0;
  for (const auto& name : names) {
    if (n == shown_max) break;
    text += (n++ == 0 ? "" : ", ") + name;
  }
  session.warn(text + (names.size() > shown_max ? ", …)" : ")"));
}

/// The domains that are played: the one that was named, or all of the log.
Result<std::vector<std::string>> domains_of(const events::Log& log, const std::string& wanted) {
  const auto all = log.domains();
  if (!all) return tl::unexpected(all.error());
  if (!wanted.empty() || all->size() < 2) {
    const auto one = replay::choose_domain(log, wanted);
    if (!one) return tl::unexpected(one.error());
    return std::vector<std::string>{*one};
  }
  std::vector<std::string> out;
  for (const auto& tail : *all) out.push_back(tail.domain);
  return out;
}

/// What became of everybody, in each of several domains.
class Ledgers {
 public:
  explicit Ledgers(std::vector<std::string> domains) : domains_(std::move(domains)) {}

  whatif::Ledger& operator[](std::string_view domain) {
    const auto it = ledgers_.find(domain);
    return it != ledgers_.end() ? it->second : ledgers_.try_emplace(std::string(domain)).first->second;
  }
  /// All as one, up to `end`. The domains of one cluster begin with its name; what other clusters have may be called the same.
  [[nodiscard]] whatif::Ledger together(Time end) && {
    const auto cluster_of = [](const std::string& domain) { return domain.substr(0, domain.find('/')); };
    const bool several = std::ranges::any_of(domains_, [&](const auto& d) { return cluster_of(d) != cluster_of(domains_.front()); });
    whatif::Ledger out;
    for (auto& [domain, ledger] : ledgers_) {
      ledger.end(end);
      out.absorb(std::move(ledger), several ? cluster_of(domain) + ":" : std::string());
    }
    return out;
  }

 private:
  std::vector<std::string> domains_;
  std::map<std::string, whatif::Ledger, std::less<>> ledgers_;
};

/// What was, from one moment to another.
struct Was {
  whatif::Ledger ledger;
  Time begin, end;
};

/// `agreement`: where given, is shown all that is on record.
Result<Was> what_was(const Session& session, const events::Log& log, const std::vector<std::string>& domains, replay::Position from,
                     replay::Position until, whatif::Agreement* agreement) {
  Was out;
  Ledgers ledgers(domains);
  ProgressBar bar(session, "what was");
  for (const auto& domain : domains) {
    replay::Past past(log, domain, {.progress = bar.callback()});
    if (auto ok = fold(past, from); !ok) return tl::unexpected(ok.error());
    out.begin = std::max(out.begin, past.driver().domain().now());
    whatif::Ledger& ledger = ledgers[domain];
    ledger.begin(past.driver(), domain);
    past.look_on({}, [&](replay::Position position, const RecordView& r) {
      // What a replaced writer left behind, or wrote once more, was never carried out.
      if (std::holds_alternative<Decisions>(r.body) && !past.driver().domain().took_decision()) return;
      ledger.see(r, past.driver());
      if (agreement != nullptr) agreement->recorded(position, r);
    });
    if (auto ok = fold_on(past, until); !ok) return tl::unexpected(ok.error());
    out.end = std::max(out.end, past.driver().domain().now());
    tell_notices(session, past);
  }
  out.ledger = std::move(ledgers).together(out.end);
  return out;
}

/// Shows the whole log to those who learn from it, also what is behind the moment.
Result<void> remember(const Session& session, const events::Log& log, const std::vector<std::string>& domains, replay::Position from,
                      whatif::Responses& responses, std::vector<Dropped>& dropped) {
  ProgressBar bar(session, "remembering");
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    responses.remember_gone(stored.offset > from);
    responses.see(record);
    for (auto& one : dropped) (void)one.mentions.concerns(record);
    return true;
  };
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  const std::string domain = domains.size() == 1 ? domains.front() : std::string();  // empty: all
  if (auto ok = replay::scan(log, domain, 1, *last, see, bar.callback()); !ok) return ok;
  for (const auto& one : dropped)
    if (!one.mentions.met())
      return fail(ErrorKind::not_found, "--drop: found \"" + one.text + "\"; allowed: a job or Workload that is in log " +
                                            std::string(log.name()) + ", which has none of this name");
  return {};
}

/// What a reader of the result should know.
void tell_of(const Session& session, const whatif::PlayReport& report) {
  const std::string of_all = " (of " + with_commas(report.timed) + " whose runs were modelled)";
  tell(session, "no run of any job is on record, so these never end" + of_all, report.endless);
  tell(session, "run times taken from other jobs, because no complete run of their own is on record" + of_all, report.estimated);
  tell(session, "admission checks that never answered on record, and do not here", report.silent_checks);
  tell(session, "jobs with so many pods that their places are kept by assignments alone", report.without_pods);
  tell(session, "changes on record that met another state here", {report.contested.begin(), report.contested.end()});
}

/// The answer of --compare.
Result<int> print_compared(const Session& session, const events::Log& log, const whatif::Agreement& agreement) {
  const auto differences = agreement.differences(log);
  if (!differences) return tl::unexpected(differences.error());
  session.out << whatif::to_text(*differences, agreement.counts());
  return differences->empty() ? exit_ok : exit_failure;
}

std::string headline(replay::Position from, Time begin, const std::vector<whatif::DomainReport>& reports,
                     const whatif::PlayReport& report) {
  const std::string fared = report.modelled == 0 ? "all jobs and Workloads fare as on record"
                                                 : "the world was modelled for " + std::to_string(report.modelled) +
                                                       " jobs and Workloads, and is as on record for all others";
  return "From " + moment_text(from, begin) + " to " + format_rfc3339_micro(report.end) + ": " + with_commas(report.records) +
         " records, " + with_commas(report.decisions) + " decisions" +
         (reports.size() > 1 ? " in " + std::to_string(reports.size()) + " domains" : std::string()) + "; " + fared + "\n\n";
}

Result<Duration> beyond_of(const WhatIfOptions& o, Duration played) {
  if (o.compare) return Duration{};  // behind the record nothing is there to compare with
  if (o.beyond.empty()) return o.until != "latest" && o.until != "now" ? Duration{} : played;
  auto beyond = parse_duration(o.beyond);
  if (!beyond) return fail(ErrorKind::invalid, "--beyond: " + beyond.error().message);
  return *beyond;
}

Result<int> what_if(const Session& session, const WhatIfOptions& o) {
  auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domains = domains_of(**log, o.past.domain);
  if (!domains) return tl::unexpected(domains.error());
  const auto from = replay::resolve(**log, o.from), until = replay::resolve(**log, o.until);
  if (!from) return tl::unexpected(from.error());
  if (!until) return tl::unexpected(until.error());
  if (o.rows_given && o.format != "text")
    return fail(ErrorKind::invalid, "--rows: found with -o " + o.format + ", which shows all; allowed: with -o text");
  if (*from > *until)
    return fail(ErrorKind::invalid, "--from: found " + o.from + " (record " + std::to_string(*from) + "), which is behind --until " +
                                        o.until + " (record " + std::to_string(*until) + "); allowed: a moment before it");

  auto dropped = dropped_of(o);
  if (!dropped) return tl::unexpected(dropped.error());
  whatif::Responses responses(o.progress == "keep" ? whatif::Progress::kept : whatif::Progress::lost);
  if (auto ok = remember(session, **log, *domains, *from, responses, *dropped); !ok) return tl::unexpected(ok.error());
  whatif::Agreement agreement;
  const bool agrees = o.compare || o.model_all;
  auto was = what_was(session, **log, *domains, *from, *until, agrees ? &agreement : nullptr);
  if (!was) return tl::unexpected(was.error());

  const auto changes = changes_of(o, was->begin, responses);
  if (!changes) return tl::unexpected(changes.error());
  if (o.compare && (!changes->empty() || o.model_all))
    return fail(ErrorKind::invalid,
                "--compare: found with a change or --model-all; allowed: alone, for it tells what differs although nothing was changed");

  const auto beyond = beyond_of(o, was->ledger.begun().is_set() ? was->end - was->ledger.begun() : Duration{});
  if (!beyond) return tl::unexpected(beyond.error());
  whatif::ManyOptions options{.from = *from, .until = *until, .model_all = o.model_all, .beyond = *beyond};
  std::unique_ptr<events::Log> result;
  if (!o.result.empty()) {
    auto opened = runtime::open_log(o.result, {.durability = events::Durability::normal});
    if (!opened) return tl::unexpected(opened.error());
    result = std::move(*opened);
    options.out = result.get();
  }
  Ledgers ledgers(*domains);
  options.on_begin = [&](const std::string& domain, const admission::LoopDriver& driver) { ledgers[domain].begin(driver, domain); };
  options.on_record = [&](const RecordView& r, const admission::LoopDriver& driver) {
    ledgers[r.envelope.domain].see(r, driver);
    if (agrees) agreement.made(r, was->end + Duration::seconds(1));  // it may be late by so much, and is the same to people
  };
  ProgressBar bar(session, "what if");
  options.progress = bar.callback();
  whatif::ManyPlayer player(**log, *domains, responses, options);
  const auto reports = player.play(*changes);
  bar.clear();
  if (!reports) return tl::unexpected(reports.error());
  const whatif::PlayReport report = whatif::together(*reports);
  tell_of(session, report);
  if (o.compare) return print_compared(session, **log, agreement);
  const auto comparison = whatif::compare(std::move(was->ledger), std::move(ledgers).together(report.end));
  if (o.format != "text") {
    Json document = to_json(comparison, *reports, *from, *until);
    if (o.model_all) document["modelError"] = to_json(agreement.counts(), whatif::start_error_of(comparison));
    print_document(session, document, o.format);
    return exit_ok;
  }
  session.out << headline(*from, was->begin, *reports, report) << to_text(comparison, {.rows = o.rows, .colour = session.colour});
  if (o.model_all) session.out << "\n" << whatif::to_text(agreement.counts(), whatif::start_error_of(comparison));
  if (result != nullptr) session.out << "\nThe result is the log " << result->name() << "\n";
  return exit_ok;
}

}  // namespace

void add_what_if(CLI::App& app, Session& session) {
  const auto o = std::make_shared<WhatIfOptions>();
  auto* c =
      add_command(app, session, "what-if", "What would have become of everybody from a moment on, had something been otherwise",
                  "  hindsight what-if --from -1d --set clusterqueue/team-a:cpu=+40\n"
                  "  hindsight what-if --from \"2026-01-06 14:00\" --drop job/team-b/sweep -f more-queues.yaml --result sqlite:other.db",
                  [o, &session] { return what_if(session, *o); });
  c->add_option("--from", o->from, "From this moment on things are otherwise")->check(is_moment())->required();
  c->add_option("--until", o->until, "What is on record behind this moment is not played")->check(is_moment())->default_str("latest");
  add_time_zone(*c);
  c->add_option(
       "--set", o->sets,
       "Another nominal quota: clusterqueue/NAME:[FLAVOR/]RESOURCE=AMOUNT, =+AMOUNT, =-AMOUNT, or cohort/NAME:...; may be repeated")
      ->type_name("CHANGE");
  c->add_option("--add-nodes", o->nodes,
                "So many more nodes like one that is there at that moment, or in a manifest: COUNTxNODE, as 4xnode-7; may be repeated")
      ->type_name("NODES");
  c->add_option("-f,--filename", o->files, "Manifests of objects that are there instead or beside; files or folders")->type_name("FILE");
  c->add_option("--drop", o->drops, "A job or Workload that never came, as job/NAMESPACE/NAME; may be repeated")->type_name("NAME");
  c->add_option("--config", o->config, "Another configuration, as of 'hindsight run'")->type_name("FILE");
  c->add_option("--feature-gates", o->feature_gates, "A=true,B=false; not together with featureGates in the file")->type_name("GATES");
  c->add_option("--rules", o->rules, "By which rules is decided: those of each epoch on record, or those of this build from the moment on")
      ->check(CLI::IsMember({"recorded", "current"}))
      ->capture_default_str();
  c->add_option("--progress", o->progress,
                "What an eviction does to the work of a job: lose, the next run starts from zero; or keep, it goes on where it stood")
      ->check(CLI::IsMember({"lose", "keep"}))
      ->capture_default_str();
  c->add_flag("--model-all", o->model_all,
              "Every answer of the world comes from the model, also of whoever fares as it was; tells how far decisions and starts are "
              "from those on record");
  auto* compare = c->add_flag(
      "--compare", o->compare,
      "Without changes: list the decisions that differ from those on record, and end with 1 if there are any; a gate for another release");
  c->add_option(
       "--beyond", o->beyond,
       "How long to go on after the last record, while anything is due; by default as long as what was played, with --until not at all")
      ->type_name("DURATION")
      ->excludes(compare);
  c->add_option("--result", o->result, "Keep what would have happened as a log of its own, which all commands read: an empty one")
      ->type_name("LOG");
  c->add_option("--rows", o->rows, "How many of those that differ are shown; 0: all")
      ->check(whole_number())
      ->each([o](const std::string&) { o->rows_given = true; })
      ->capture_default_str()
      ->excludes(compare);
  add_output(*c, o->format, {"text", "json", "yaml"});
  compare->excludes(c->get_option("--output"));
  add_past_options(*c, o->past, false);
  c->get_option("--domain")->description("Play this admission domain alone; without it all domains of the log are played as one world");
}

}  // namespace hindsight::cli
