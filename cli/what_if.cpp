#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/objects/observe.hpp"
#include "events/record.hpp"
#include "projections/lookup.hpp"
#include "projections/mentions.hpp"
#include "replay/moment.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "runtime/configuration.hpp"
#include "runtime/log_location.hpp"
#include "vocabulary/printable.hpp"
#include "whatif/comparison.hpp"
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
constexpr std::size_t manifests_max = 100'000;

/// An object of a manifest as the API server would give it: with a uid that follows from its name, and a job suspended.
std::vector<std::byte> as_record(const Observation& o) {
  RecordView r;
  r.envelope.domain = "what-if";
  r.envelope.sequence = 1;
  r.body = o;
  return events::encode(r);
}

Result<std::vector<std::vector<std::byte>>> read_manifests(const std::vector<std::string>& files, Time at, whatif::Responses& responses) {
  auto input = connectors::manifests::read_input(files);
  if (!input) return tl::unexpected(input.error());
  if (!input->scenarios.empty())
    return fail(ErrorKind::invalid, "-f: found the scenario " + input->scenarios.front().name + "; allowed: manifests");
  if (input->manifests.size() > manifests_max)
    return fail(ErrorKind::invalid,
                "-f: found " + with_commas(input->manifests.size()) + " objects; allowed: at most " + with_commas(manifests_max));
  std::vector<std::vector<std::byte>> out;
  for (auto& m : input->manifests) {
    auto& meta = m.object["metadata"];
    const std::string name = meta.value("namespace", "") + "/" + meta.value("name", "");
    meta["uid"] = "what-if/" + std::string(m.kind->type->kind) + "/" + name;
    meta["creationTimestamp"] = format_rfc3339(at);
    meta["generation"] = 1;
    for (const auto* kind : {"Job", "JobSet", "RayJob", "RayCluster"})
      if (m.kind->type->kind == kind) m.object["spec"]["suspend"] = true;  // as the webhook of a cluster does
    const auto run = connectors::manifests::seconds_annotation(m.object, connectors::manifests::run_seconds_annotation);
    if (!run) return fail(run.error().kind, m.source + ": " + run.error().message);
    if (*run) responses.set_run_time(meta["uid"].get<std::string>(), **run);
    Arena arena;
    const auto observed = connectors::observe_text(*m.kind->type, m.object.dump(), arena);
    if (!observed) return fail(observed.error().kind, m.source + ": " + observed.error().message);
    out.push_back(as_record(*observed));
  }
  return out;
}

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
    auto objects = read_manifests(o.files, at, responses);
    if (!objects) return tl::unexpected(objects.error());
    out.observations = std::move(*objects);
  }
  if (!o.config.empty() || !o.feature_gates.empty()) {
    const auto configuration = runtime::run_configuration(o.config, o.feature_gates);
    if (!configuration) return tl::unexpected(configuration.error());
    out.observations.insert(out.observations.begin(), as_record(Observation{ConfigurationObserved{configuration->json}}));
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

Result<int> what_if(const Session& session, const WhatIfOptions& o) {
  auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
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
  {
    ProgressBar bar(session, "remembering");
    const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
      responses.remember_gone(stored.offset > *from);
      responses.see(record);
      for (auto& one : *dropped) (void)one.mentions.concerns(record);
      return true;
    };
    const auto last = (*log)->last();
    if (!last) return tl::unexpected(last.error());
    if (auto ok = replay::scan(**log, *domain, 1, *last, see, bar.callback()); !ok) return tl::unexpected(ok.error());
  }

  for (const auto& one : *dropped)
    if (!one.mentions.met())
      return fail(ErrorKind::not_found, "--drop: found \"" + one.text + "\"; allowed: a job or Workload that is in log " +
                                            std::string((*log)->name()) + ", which has none of this name");

  whatif::Ledger was;
  Time begin, end;
  {
    ProgressBar bar(session, "what was");
    replay::Past past(**log, *domain, {.progress = bar.callback()});
    if (auto ok = fold(past, *from); !ok) return tl::unexpected(ok.error());
    begin = past.driver().domain().now();
    was.begin(past.driver());
    past.look_on({}, [&](replay::Position, const RecordView& r) { was.see(r, past.driver()); });
    if (auto ok = fold_on(past, *until); !ok) return tl::unexpected(ok.error());
    end = past.driver().domain().now();
    was.end(end);
    tell_notices(session, past);
  }

  auto changes = changes_of(o, begin, responses);
  if (!changes) return tl::unexpected(changes.error());
  if (o.compare && (!changes->empty() || o.model_all))
    return fail(ErrorKind::invalid,
                "--compare: found with a change or --model-all; allowed: alone, for it tells what differs although nothing was changed");

  whatif::PlayOptions options{.from = *from, .until = *until, .model_all = o.model_all, .beyond = end - begin};
  if (!o.beyond.empty()) {
    const auto beyond = parse_duration(o.beyond);
    if (!beyond) return fail(ErrorKind::invalid, "--beyond: " + beyond.error().message);
    options.beyond = *beyond;
  } else if (o.until != "latest" && o.until != "now") {
    options.beyond = {};
  }
  std::unique_ptr<events::Log> result;
  if (!o.result.empty()) {
    auto opened = runtime::open_log(o.result, {.durability = events::Durability::normal});
    if (!opened) return tl::unexpected(opened.error());
    result = std::move(*opened);
    options.out = result.get();
  }
  whatif::Ledger would_be;
  options.on_begin = [&](const admission::LoopDriver& driver) { would_be.begin(driver); };
  options.on_record = [&](const RecordView& r, const admission::LoopDriver& driver) { would_be.see(r, driver); };
  ProgressBar bar(session, "what if");
  options.progress = bar.callback();
  whatif::Player player(**log, *domain, responses, std::move(*changes), options);
  const auto report = player.play();
  bar.clear();
  if (!report) return tl::unexpected(report.error());
  would_be.end(report->end);
  tell(session, "no run of any job is on record, so these never end", report->endless);
  tell(session, "run times taken from other jobs, because no complete run of their own is on record", report->estimated);
  tell(session, "admission checks that never answered on record, and do not here", report->silent_checks);
  tell(session, "jobs with so many pods that their places are kept by assignments alone", report->without_pods);
  tell(session, "changes on record that met another state here", {report->contested.begin(), report->contested.end()});

  if (o.compare) {
    const std::uint64_t not_made = report->recorded - report->same;
    for (const auto& who : report->left) session.out << printable(who) << "\n";
    session.out << "Of " << with_commas(report->recorded) << " events on record that the world answered, " << with_commas(not_made)
                << " do not happen again, and " << with_commas(report->others) << " others do\n";
    return not_made == 0 && report->others == 0 && report->left.empty() ? exit_ok : exit_failure;
  }
  const auto comparison = whatif::compare(std::move(was), std::move(would_be));
  if (o.format != "text") {
    Json out = to_json(comparison);
    out["from"] = *from;
    out["until"] = *until;
    out["records"] = report->records;
    out["decisions"] = {{"made", report->decisions}, {"recordedThatTheWorldAnswers", report->recorded}, {"ofThoseMadeAgain", report->same}};
    out["modelled"] = report->modelled;
    out["contested"] = Json::array();
    for (const auto& text : report->contested) out["contested"].push_back(printable(text));
    out["stateHash"] = hex(report->state_hash);
    print_document(session, out, o.format);
    return exit_ok;
  }
  session.out << "From " << moment_text(*from, begin) << " to " << format_rfc3339_micro(report->end) << ": " << with_commas(report->records)
              << " records, " << with_commas(report->decisions) << " decisions; "
              << (report->modelled == 0 ? "all jobs and Workloads fare as on record"
                                        : "the world was modelled for " + std::to_string(report->modelled) + " jobs and Workloads" +
                                              ", and is as on record for all others")
              << "\n\n"
              << to_text(comparison, {.rows = o.rows, .colour = session.colour});
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
              "Every answer of the world comes from the model, also of whoever fares as it was: how far a forecast is off");
  auto* compare = c->add_flag(
      "--compare", o->compare,
      "Without changes: list whose decisions differ from those on record, and end with 1 if there are any; a gate for another release");
  c->add_option(
       "--beyond", o->beyond,
       "How long to go on after the last record, while anything is due; by default as long as what was played, with --until not at all")
      ->type_name("DURATION");
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
}

}  // namespace hindsight::cli
