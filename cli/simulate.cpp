#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/simulate_load.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "projections/tables.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"
#include "runtime/complain.hpp"
#include "runtime/configuration.hpp"
#include "runtime/log_location.hpp"
#include "runtime/release.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::cli {
namespace {

using runtime::complain_of_file;
using runtime::open_log;
using runtime::release;

constexpr Duration write_time_max = Duration::seconds(60);

struct SimulateOptions {
  std::vector<std::string> files;
  std::string output = "table", log, config, feature_gates;
  std::string write_time = "0s";
  std::optional<std::uint32_t> writes_at_a_time;
  LoadOptions load;
};

/// All of standard input. Errors: invalid (it is longer than a file may be), io.
Result<std::string> standard_input() {
  const std::size_t most = connectors::manifests::ReadLimits().bytes;
  std::string out;
  std::array<char, 65536> buffer{};
  while (std::cin.read(buffer.data(), buffer.size()), std::cin.gcount() > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(std::cin.gcount()));
    if (out.size() > most)
      return fail(ErrorKind::invalid, "standard input: is longer than " + std::to_string(most) + " bytes, allowed: at most so many");
  }
  if (std::cin.bad()) return fail(ErrorKind::io, "standard input: cannot be read");
  return out;
}

/// What the files hold, in their order; "-" is standard input.
Result<connectors::manifests::Input> read_files(const std::vector<std::string>& files) {
  if (std::count(files.begin(), files.end(), "-") > 1)
    return fail(ErrorKind::invalid, "files: found - twice; allowed: standard input once");
  connectors::manifests::Input out;
  for (const auto& file : files) {
    Result<connectors::manifests::Input> input = connectors::manifests::Input();
    if (file == "-") {
      const auto text = standard_input();
      if (!text) return tl::unexpected(text.error());
      input = connectors::manifests::read_text(*text, "standard input");
    } else {
      input = connectors::manifests::read_input({file});
    }
    if (!input) return input;
    std::move(input->manifests.begin(), input->manifests.end(), std::back_inserter(out.manifests));
    std::move(input->scenarios.begin(), input->scenarios.end(), std::back_inserter(out.scenarios));
  }
  return out;
}

/// Snapshots as a control plane makes them, by folding the log beside; but only records make one due, since virtual time passes at any
/// speed. A log without them is only slower: the first that cannot be made is told, and no other is tried.
class SimulatedSnapshots {
 public:
  explicit SimulatedSnapshots(events::Log& log) : past_(log, domain_), writer_(log, domain_, {.interval = {}}) {}

  void pass(const Session& session, events::Position position) {
    if (failed_ || !writer_.is_worth_it(position, Time{0})) return;
    auto done = past_.fold_to(position);
    if (done) done = writer_.store(replay::encode_state(past_.driver().entities(), domain_, position, release));
    if (done) return;
    failed_ = true;
    session.warn("a snapshot at position " + std::to_string(position) + " was not stored: " + done.error().message);
  }

 private:
  const std::string domain_ = simulation::EngineOptions().domain;
  replay::Past past_;
  replay::SnapshotWriter writer_;
  bool failed_ = false;
};

/// Errors: invalid (what a write takes is no duration, or beyond what makes sense).
Result<connectors::simulated::ServerPace> pace_of(const SimulateOptions& o) {
  const auto takes = parse_duration(o.write_time);
  if (!takes || takes->micros < 0 || *takes > write_time_max)
    return fail(ErrorKind::invalid, "--write-time: found \"" + o.write_time + "\", allowed: a duration from 0s to 1m, as 5ms");
  if (o.writes_at_a_time && takes->micros == 0)
    return fail(ErrorKind::invalid, "--writes-at-a-time: found without --write-time; allowed: with it");
  connectors::simulated::ServerPace out;
  out.write = *takes;
  out.at_a_time = o.writes_at_a_time.value_or(out.at_a_time);
  return out;
}

Result<int> simulate(const Session& session, const SimulateOptions& o) {
  const auto server = pace_of(o);
  if (!server) return tl::unexpected(server.error());
  auto configuration = runtime::run_configuration(o.config, o.feature_gates);
  if (!configuration) return complain_of_file(session.err, configuration.error());
  auto input = read_files(o.files);
  if (!input) return complain_of_file(session.err, input.error());
  const auto notices = add_load(o.load, *input);
  if (!notices) return complain_of_file(session.err, notices.error());
  for (const auto& notice : *notices) session.warn(notice);
  auto scenarios = std::move(input->scenarios);
  if (!input->manifests.empty()) scenarios.push_back(connectors::simulated::scenario_of(std::move(input->manifests), "manifests"));
  if (scenarios.empty()) return fail(ErrorKind::invalid, "nothing to simulate: no manifests and no scenarios in the files given");
  if (!o.log.empty() && scenarios.size() > 1)
    return fail(ErrorKind::invalid, "--log: found with " + std::to_string(scenarios.size()) + " scenarios; allowed: one");
  std::unique_ptr<events::Log> log;  // only now: bad input leaves no empty log behind
  if (!o.log.empty()) {
    auto opened = open_log(o.log, {.durability = events::Durability::normal});
    if (!opened) return tl::unexpected(opened.error());
    log = std::move(*opened);
    if (const auto last = log->last(); !last || *last != 0)
      return fail(ErrorKind::conflict, "--log: " + o.log + " has records already; allowed: a new file");
  }

  for (auto& scenario : scenarios) {
    simulation::ScenarioOptions options;
    if (!o.config.empty() || !o.feature_gates.empty()) options.configuration = configuration->json;
    // Of a large load nobody reads before the end how much each job still lacks; a story that somebody wrote down is shown with every
    // write.
    if (!o.load.generate.empty() || !o.load.trace.empty()) options.message_interval = Duration{std::numeric_limits<std::int64_t>::max()};
    options.server = *server;
    options.states = o.output == "states";
    options.to_the_end = o.output != "states";
    options.log = log.get();
    std::optional<SimulatedSnapshots> snapshots;
    if (log) options.on_written = [&, &kept = snapshots.emplace(*log)](events::Position position) { kept.pass(session, position); };
    options.release = release;
    const std::string name = scenario.name;
    ProgressBar bar(session, name);
    options.on_step = [&](std::size_t step, std::size_t steps) { bar.show(step, steps); };
    auto result = simulation::run_scenario(std::move(scenario), options);
    bar.clear();
    if (!result) return tl::unexpected(result.error());
    for (const auto& notice : result->notices) session.warn(notice);
    if (o.output == "states") {
      session.out << to_json_text(result->states) << "\n";
      continue;
    }
    for (const auto& r : result->refused) session.warn(name + ": " + r);
    const std::string hash = hex(result->state_hash);
    const double seconds = static_cast<double>((result->end - result->start).micros) / 1e6;
    if (o.output == "json") {
      connectors::Json j{{"scenario", name},          {"records", result->records}, {"decisions", result->decisions}, {"hash", hash},
                         {"virtualSeconds", seconds}, {"refused", result->refused}, {"notices", result->notices}};
      session.out << to_json_text(j) << "\n";
      continue;
    }
    const auto& view = result->engine->driver();
    const projections::TableStyle style{.colour = session.colour};
    session.out << projections::render(projections::cluster_queues_table(view, {}), style) << "\n"
                << projections::render(projections::workloads_table(view, {}), style) << "\n"
                << name << ": " << static_cast<std::int64_t>(seconds) << " s of virtual time, " << result->records << " records, "
                << result->decisions << " decisions, state " << hash << "\n";
  }
  return exit_ok;
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  auto o = std::make_shared<SimulateOptions>();
  auto* command = app.add_subcommand("simulate", "Scenarios or plain manifests in virtual time, without a cluster");
  command->add_option("files", o->files, "Scenarios, manifests, or folders of them; - for standard input")->required();
  command
      ->add_option("-o,--output", o->output, "table: queues and Workloads at the end; json: a summary; states: the state after each step")
      ->check(CLI::IsMember({"table", "json", "states"}))
      ->capture_default_str();
  command->add_option("--log", o->log, "Keep the log of the run: sqlite:FILE, a new file");
  command->add_option("--config", o->config, "Configuration, as of 'hindsight run'; what a scenario says itself comes on top")
      ->type_name("FILE");
  command->add_option("--feature-gates", o->feature_gates, "A=true,B=false; not together with featureGates in the file")
      ->type_name("GATES");
  command->add_option("--write-time", o->write_time, "What each of our writes takes on the API server, which then is a busy one")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--writes-at-a-time", o->writes_at_a_time, "How many of them it carries out beside each other, 4 without this")
      ->check(whole_number(1, 1000));
  add_load_options(*command, o->load);
  command->footer(
      "Jobs run for annotation hindsight.dev/run-seconds, those of manifests without one to the end; objects arrive at "
      "hindsight.dev/arrive-seconds.\nExample: hindsight simulate "
      "examples/quickstart --log sqlite:sim.db\n         cat queues.yaml jobs.yaml | hindsight simulate -");
  command->callback([o, &session] { session.action = [o, &session] { return simulate(session, *o); }; });
}

}  // namespace hindsight::cli
