// The configuration file of Kueue's process, as `hindsight run --config` would take it.

#include <algorithm>
#include <sstream>

#include "cli/migrate/rules.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "operations/config_file.hpp"
#include "operations/configuration_schema.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::member;

enum ConfigurationRule {
  config_refused,
  config_absent,
  config_warning,
  config_no_effect,
  config_needs_option,
  config_framework,
  config_external_framework,
  config_devices,
  config_jitter
};

constexpr Rule configuration_table[] = {
    {"config-refused", Severity::blocks, "hindsight run does not start with this configuration.",
     "Mend the field in a copy of the file, and give that with --config."},
    {"config-absent", Severity::note, "No configuration was found; without --config Hindsight runs with the defaults of the Kueue API.",
     "Name the file with --kueue-config, if Kueue has one."},
    {"config-warning", Severity::differs, "", "docs/operations.md, Configuration."},
    {"config-no-effect", Severity::note, "It is accepted and has no effect.", ""},
    {"config-needs-option", Severity::note, "", "docs/operations.md, HTTP."},
    {"config-framework", Severity::differs, "Jobs of this kind are not managed: they get no Workload, are not held back, and use no quota.",
     "Keep Kueue for clusters that need this kind, or move its jobs to a kind that is managed."},
    {"config-external-framework", Severity::differs, "Nothing is done for external frameworks: jobs of this kind are no owners of others.",
     "Let the framework's controller make Workloads by itself."},
    {"config-devices", Severity::differs, "Devices of resource claims are not counted: a pod that claims some uses no quota for them.",
     "Give quota in extended resources, or keep Kueue."},
    {"config-jitter", Severity::note, "Back-offs after evictions have the same length without the random part.", ""},
};

/// Fields that this process reads and makes no use of, or only with an option of `hindsight run`.
struct PlainField {
  const char* path;
  ConfigurationRule rule;
  const char* happens;  ///< nullptr: the rule's text.
};
constexpr PlainField plain_fields[] = {
    {"/pprofBindAddress", config_no_effect, nullptr},
    {"/controller/groupKindConcurrency", config_no_effect, nullptr},
    {"/controller/cacheSyncTimeout", config_no_effect, nullptr},
    {"/leaderElection/resourceLock", config_no_effect, nullptr},
    {"/health/readinessEndpointName", config_no_effect, nullptr},
    {"/health/livenessEndpointName", config_no_effect, nullptr},
    {"/multiKueue", config_no_effect, nullptr},
    {"/metrics/bindAddress", config_needs_option, "Metrics are served there with --metrics only."},
    {"/health/healthProbeBindAddress", config_needs_option, "Probes are served there with --probe-address only."},
    {"/webhook", config_needs_option, "Webhooks are served with --webhooks only."},
    {"/visibilityServer", config_needs_option, "The visibility API is served with --visibility only."},
    {"/resources/deviceClassMappings", config_devices, nullptr},
    {"/waitForPodsReady/requeuingStrategy/backoffBaseSeconds", config_jitter, nullptr},
};

std::string dotted(std::string_view pointer) {
  std::string out(pointer.substr(1));
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

void look_at_frameworks(const Json& written, const std::string& source, Findings& out) {
  const Json& integrations = member(written, "integrations");
  if (const Json& names = member(integrations, "frameworks"); names.is_array())
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].is_string()) continue;
      const auto all = operations::frameworks();
      const auto known =
          std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == names[i].get_ref<const std::string&>(); });
      if (known != all.end() && !is_integrated(known->kind, known->group))
        out.add(configuration_table[config_framework], source, "integrations.frameworks[" + std::to_string(i) + "]",
                names[i].get<std::string>());
    }
  if (const Json& names = member(integrations, "externalFrameworks"); names.is_array())
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i].is_string())
        out.add(configuration_table[config_external_framework], source, "integrations.externalFrameworks[" + std::to_string(i) + "]",
                names[i].get<std::string>());
}

/// What is written in the file, before defaults are put in; null: it cannot be read.
Json as_written(const std::string& text) {
  auto documents = connectors::manifests::read_yaml(text, {.bytes = std::size_t{4} << 20U, .values = 100'000});
  return documents && documents->size() == 1 ? std::move(documents->front().value) : Json();
}

/// "…: Configuration: field: what" → the field. The reader's errors name it so.
std::pair<std::string, std::string> field_and_problem(const std::string& line) {
  constexpr std::string_view head = ": Configuration: ";
  const auto at = line.find(head);
  if (at == std::string::npos) return {"", line};
  const std::string rest = line.substr(at + head.size());
  const auto colon = rest.find(": ");
  return colon == std::string::npos ? std::pair{std::string(), rest} : std::pair{rest.substr(0, colon), rest.substr(colon + 2)};
}

}  // namespace

std::span<const Rule> configuration_rules() { return configuration_table; }

Configured look_at_configuration(const World& world, Findings& out) {
  Configured configured;
  operations::ConfigurationOptions options{.own_namespace = "kueue-system", .feature_gates = {}};
  // Earlier gates are refused as well; gate_rules tells of each what to do.
  if (auto gates = gates_of_process(world).known; !gates.empty()) options.feature_gates = std::move(gates);
  auto read = world.configuration ? operations::read_configuration(world.configuration->text, world.configuration->source, options)
                                  : operations::default_configuration(options);
  const std::string source = world.configuration ? world.configuration->source : "configuration";
  if (!world.configuration) out.add(configuration_table[config_absent], source, "", "none");
  if (!read) {
    std::istringstream lines(read.error().message);
    for (std::string line; std::getline(lines, line);) {
      const auto [field, problem] = field_and_problem(line);
      constexpr std::string_view gates = "featureGates.";
      if (field.starts_with(gates) && is_earlier_gate(std::string_view(field).substr(gates.size()))) continue;
      out.add(configuration_table[config_refused], source, field, problem);
    }
  } else {
    constexpr std::string_view frameworks = "integrations.frameworks: ";  // these have a rule of their own
    for (const auto& warning : read->warnings)
      if (!warning.starts_with(frameworks)) out.add(configuration_table[config_warning], source, "", "", warning + ".");
    configured.manages_all = read->manage_jobs_without_queue_name;
    configured.read = std::move(*read);
  }
  if (!world.configuration) return configured;
  const Json written = as_written(world.configuration->text);
  if (!written.is_object()) return configured;
  for (const auto& field : plain_fields)
    if (const Json::json_pointer at(field.path); written.contains(at))
      out.add(configuration_table[field.rule], source, dotted(field.path), connectors::manifests::shortened(written.at(at)),
              field.happens == nullptr ? "" : field.happens);
  look_at_frameworks(written, source, out);
  return configured;
}

}  // namespace hindsight::cli::migrate
