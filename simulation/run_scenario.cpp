#include "simulation/run_scenario.hpp"

#include <algorithm>

#include "admission/model/catalog_view.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/settings.hpp"
#include "simulation/topology_requests.hpp"

namespace hindsight::simulation {
namespace {

using connectors::Json;

/// See ScenarioOptions::to_the_end.
Result<void> play_to_the_end(Engine& engine, const SimulatedWorld& world, Duration limit) {
  constexpr Duration idle = Duration::seconds(24 * 3600);
  const Time last = engine.now() + limit;
  for (;;) {
    const std::uint64_t ended = world.jobs_ended();
    const Time next_end = world.next_event();
    const Time until = (next_end.is_set() ? std::max(next_end, engine.now()) : engine.now()) + idle;
    if (auto ok = engine.settle(limit, std::min(until, last)); !ok) return ok;
    const bool goes_on = world.next_event().is_set() || world.jobs_ended() != ended;
    if (!goes_on || until >= last) return {};
  }
}

connectors::TemplateMutability mutability_of(const connectors::simulated::JobRules& rules) {
  using connectors::TemplateMutability;
  using connectors::simulated::JobApiLevel;
  if (rules.level == JobApiLevel::v1_34 || !rules.mutable_directives) return TemplateMutability::never_started;
  return rules.level == JobApiLevel::v1_36_2 ? TemplateMutability::suspended : TemplateMutability::suspended_condition;
}

connectors::simulated::ClusterOptions cluster_options(const std::string& configuration, bool defaults_jobs,
                                                      const ScenarioOptions& options) {
  auto out = cluster_options_of(configuration, defaults_jobs);
  out.webhooks = options.webhooks;
  out.jobs = options.job_rules;
  return out;
}

/// hindsight.messageInterval of a configuration that was judged before; nothing: it says none.
std::optional<Duration> message_interval_of(const std::string& configuration) {
  if (configuration.empty()) return std::nullopt;
  const Json document = Json::parse(configuration);
  const Json& own = connectors::object_or_empty(document, "hindsight");
  if (!own.contains("messageInterval")) return std::nullopt;
  const auto interval = parse_duration(connectors::text_member(own, "messageInterval"));
  return interval ? std::optional(*interval) : std::nullopt;
}

/// Which jobs come suspended (BA-169, BA-172). A namespace that nobody labelled has the label with its name.
connectors::simulated::JobDefaults job_defaults_of(const std::string& configuration) {
  admission::Settings settings;
  if (auto read = events::read_settings(configuration.empty() ? "{}" : configuration); read) settings = std::move(*read);
  connectors::simulated::JobDefaults out;
  out.on = true;
  out.without_queue_name = settings.manage_jobs_without_queue_name;
  out.manages_namespace = [selector = std::move(settings.managed_jobs_namespaces)](std::string_view name, const Json& labels) {
    std::vector<std::pair<Symbol, std::string>> given;
    if (labels.is_object())
      for (const auto& [key, value] : labels.items())
        if (value.is_string()) given.emplace_back(Symbol(key), value.get<std::string>());
    if (given.empty()) given.emplace_back(Symbol("kubernetes.io/metadata.name"), std::string(name));
    return admission::matches(selector, given);
  };
  return out;
}

}  // namespace

connectors::simulated::ClusterOptions cluster_options_of(const std::string& configuration, bool defaults_jobs) {
  connectors::simulated::ClusterOptions out;
  if (defaults_jobs) out.job_defaults = job_defaults_of(configuration);
  if (configuration.empty()) return out;
  const Json document = Json::parse(configuration);
  if (const auto own = document.find("hindsight"); own != document.end()) out.max_options = own->value("maxOptions", out.max_options);
  const auto gates = document.find("featureGates");
  if (gates == document.end() || !gates->is_object()) return out;
  for (const auto& [name, value] : gates->items()) out.gates[name] = value.get<bool>();
  return out;
}

Result<std::string> configuration_of(const connectors::manifests::Scenario& scenario, const std::string& base) {
  Json config = Json::object();
  if (!base.empty()) {
    config = Json::parse(base, nullptr, false);
    if (!config.is_object()) return fail(ErrorKind::invalid, "configuration: not a JSON object");
  }
  if (scenario.config.is_object()) config.update(scenario.config, true);
  if (scenario.feature_gates.is_object()) config["featureGates"].update(scenario.feature_gates);
  if (config.empty()) return std::string();
  std::string text = config.dump();
  if (auto settings = events::read_settings(text); !settings)
    return fail(settings.error().kind, scenario.source + ": " + settings.error().message);
  return text;
}

Result<ScenarioResult> run_scenario(connectors::manifests::Scenario scenario, const ScenarioOptions& options) {
  auto configuration = configuration_of(scenario, options.configuration);
  if (!configuration) return tl::unexpected(configuration.error());

  ScenarioResult out;
  auto jobs = options.jobs;
  jobs.every_job |= scenario.runs_every_job;
  auto world_options = cluster_options(*configuration, scenario.defaults_jobs, options);
  if (scenario.defaults_jobs) out.notices = topology_notices(scenario, world_options.gates);
  out.world = std::make_unique<SimulatedWorld>(std::move(world_options), jobs, options.server);
  auto& cluster = out.world->simulated();
  out.start = cluster.now();
  EngineOptions engine_options;
  engine_options.message_interval = message_interval_of(*configuration).value_or(options.message_interval);
  engine_options.configuration = std::move(*configuration);
  engine_options.log = options.log;
  engine_options.release = options.release;
  engine_options.on_written = options.on_written;
  engine_options.template_mutability = mutability_of(options.job_rules);
  if (options.on_record) engine_options.on_record = [&options, &out](const RecordView& r) { options.on_record(r, *out.engine); };
  if (options.on_start) options.on_start(cluster);
  out.engine = std::make_unique<Engine>(*out.world, std::move(engine_options));
  Engine& engine = *out.engine;
  cluster.watch(connectors::watched_resource_types, [&engine](const connectors::WatchEvent& e) { engine.on_watch(e); });

  connectors::simulated::ScenarioPlayer player(cluster, std::move(scenario));
  const std::string name = player.scenario().name;
  const std::size_t steps = player.scenario().steps.size();
  Json states = Json::array();
  constexpr Duration calm = Duration::seconds(1);
  engine.step_to(cluster.now());
  if (auto ok = engine.run_until(cluster.now()); !ok) return tl::unexpected(ok.error());
  while (const auto at = player.next_step()) {
    // what falls due on the way happens before the step; the step itself comes first among what happens at its moment
    if (*at > engine.now())
      if (auto ok = engine.run_until(*at - Duration{1}); !ok) return tl::unexpected(ok.error());
    engine.step_to(*at);
    const std::size_t step = player.steps_done();
    auto refused = player.run_step();
    if (!refused) return tl::unexpected(refused.error());
    for (const auto& r : *refused)
      out.refused.push_back("step " + std::to_string(step) + ": " + r.verb + " " + r.kind + " " + r.name + ": " +
                            std::to_string(r.http_status) + " " + r.message);
    const auto next = player.next_step();
    if (auto ok = engine.settle(calm, next ? *next : Time::never()); !ok) return tl::unexpected(ok.error());
    if (options.states) states.push_back(player.state());
    if (options.on_step) options.on_step(step + 1, steps);
  }
  if (options.to_the_end)
    if (auto ok = play_to_the_end(engine, *out.world, options.limit); !ok) return tl::unexpected(ok.error());
  if (auto ok = engine.write_postponed(); !ok) return tl::unexpected(ok.error());
  if (auto ok = engine.flush(); !ok) return tl::unexpected(ok.error());
  out.states = Json{{"case", name}, {"states", std::move(states)}};
  out.notices.insert(out.notices.end(), engine.notices().begin(), engine.notices().end());
  out.records = engine.records();
  out.decisions = engine.decisions();
  out.repeated_steps = engine.repeated_steps();
  out.state_hash = engine.driver().state_hash();
  out.end = engine.now();
  return out;
}

}  // namespace hindsight::simulation
