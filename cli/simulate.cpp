#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "cli/commands.hpp"
#include "cli/log_location.hpp"
#include "cli/release.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "projections/tables.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::cli {
namespace {

struct SimulateOptions {
  std::vector<std::string> files;
  std::string output = "table", log;
};

int complain(const Error& e) {
  std::fprintf(stderr, "hindsight: error: %s\n", e.message.c_str());
  return e.kind == ErrorKind::invalid || e.kind == ErrorKind::not_found ? 2 : 1;
}

int simulate(const SimulateOptions& o) {
  std::unique_ptr<events::SqliteLog> log;
  if (!o.log.empty()) {
    auto opened = open_log(o.log, {.durability = events::Durability::normal});
    if (!opened) return complain(opened.error());
    log = std::move(*opened);
    if (const auto last = log->last(); !last || *last != 0)
      return complain({ErrorKind::conflict, "--log: " + o.log + " has records already; allowed: a new file"});
  }
  auto input = connectors::manifests::read_input(o.files);
  if (!input) return complain(input.error());
  auto scenarios = std::move(input->scenarios);
  if (!input->manifests.empty()) scenarios.push_back(connectors::simulated::scenario_of(std::move(input->manifests), "manifests"));
  if (scenarios.empty()) return complain({ErrorKind::invalid, "nothing to simulate: no manifests and no scenarios in the files given"});
  if (log && scenarios.size() > 1)
    return complain({ErrorKind::invalid, "--log: found with " + std::to_string(scenarios.size()) + " scenarios; allowed: one"});

  const bool progress = isatty(STDERR_FILENO) != 0;
  for (auto& scenario : scenarios) {
    simulation::ScenarioOptions options;
    options.states = o.output == "states";
    options.to_the_end = o.output != "states";
    options.log = log.get();
    options.release = release;
    const std::string name = scenario.name;
    if (progress)
      options.on_step = [&](std::size_t step, std::size_t steps) {
        if (step % 50 == 0 || step == steps)
          std::fprintf(stderr, "\r%s: step %zu of %zu\x1b[K%s", name.c_str(), step, steps, step == steps ? "\r\x1b[K" : "");
      };
    auto result = simulation::run_scenario(std::move(scenario), options);
    if (!result) return complain(result.error());
    for (const auto& notice : result->notices) std::fprintf(stderr, "hindsight: %s\n", notice.c_str());
    if (o.output == "states") {
      std::printf("%s\n", result->states.dump().c_str());
      continue;
    }
    for (const auto& r : result->refused) std::fprintf(stderr, "hindsight: %s: %s\n", name.c_str(), r.c_str());
    char hash[32];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(result->state_hash));
    const double seconds = static_cast<double>((result->end - result->start).micros) / 1e6;
    if (o.output == "json") {
      connectors::Json j{{"scenario", name},          {"records", result->records}, {"decisions", result->decisions}, {"hash", hash},
                         {"virtualSeconds", seconds}, {"refused", result->refused}, {"notices", result->notices}};
      std::printf("%s\n", j.dump().c_str());
      continue;
    }
    const auto& view = result->engine->driver();
    std::printf("%s\n%s\n%s: %.0f s of virtual time, %llu records, %llu decisions, state %s\n",
                projections::render(projections::cluster_queues_table(view, {})).c_str(),
                projections::render(projections::workloads_table(view, {})).c_str(), name.c_str(), seconds,
                static_cast<unsigned long long>(result->records), static_cast<unsigned long long>(result->decisions), hash);
  }
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  auto o = std::make_shared<SimulateOptions>();
  auto* command = app.add_subcommand("simulate", "Scenarios or plain manifests in virtual time, without a cluster");
  command->add_option("files", o->files, "Scenarios, manifests, or folders of them")->required();
  command
      ->add_option("-o,--output", o->output, "table: queues and Workloads at the end; json: a summary; states: the state after each step")
      ->check(CLI::IsMember({"table", "json", "states"}))
      ->capture_default_str();
  command->add_option("--log", o->log, "Keep the log of the run: sqlite:FILE, a new file");
  command->footer(
      "Jobs run for annotation hindsight.dev/run-seconds; objects arrive at hindsight.dev/arrive-seconds.\nExample: hindsight simulate "
      "examples/quickstart --log sqlite:sim.db");
  command->callback([o, &session] { session.action = [o]() -> Result<int> { return simulate(*o); }; });
}

}  // namespace hindsight::cli
