#include "doctor/checks/configuration.hpp"

#include "operations/config_file.hpp"

namespace hindsight::doctor {

Outcome judge_configuration(const ConfigurationFacts& facts) {
  Outcome out;
  const std::string object = "configuration " + facts.source;
  if (facts.refused) {
    out.add({Severity::error, object, facts.refused->message,
             "a Configuration of config.kueue.x-k8s.io that 'hindsight run' takes (docs/operations.md)",
             "Correct it; it takes effect at the next start", facts.edit});
    out.summary = facts.source + " is refused";
    return out;
  }
  for (const auto& warning : facts.warnings)
    out.add(
        {Severity::note, object, warning, "settings that have an effect", "Take it out, or leave it; nothing depends on it", facts.edit});
  if (facts.other_namespace)
    out.add({Severity::warning, object,
             "namespace is " + facts.namespace_ + ", and Hindsight runs in " + facts.installed_in +
                 ": it looks for its lease, Secrets and Services there",
             "namespace: " + facts.installed_in, "Correct it; it takes effect at the next start", facts.edit});
  if (!facts.other_file.empty())
    out.add({Severity::note, object, "it is another text than that of ConfigMap " + facts.other_file + ", which the Deployment reads",
             "the same text", "Look at the one that runs", facts.edit});
  out.summary = facts.source + (facts.gates.empty() ? ", all gates as by default" : ", gates: " + some_of(facts.gates, 12));
  return out;
}

Outcome examine_configuration(Context& context) {
  const auto& installation = context.installation;
  ConfigurationFacts facts;
  operations::ConfigurationOptions options;
  if (installation.deployed()) options.own_namespace = installation.namespace_;
  if (!context.options.feature_gates.empty()) options.feature_gates = context.options.feature_gates;
  const std::string map = installation.namespace_ + "/" + installation.configuration_map;
  Result<operations::Configuration> configuration = fail(ErrorKind::not_found, "");
  if (!context.options.config.empty()) {
    facts.source = context.options.config;
    facts.edit = "${EDITOR:-vi} " + as_word(context.options.config);
    configuration = operations::read_configuration_file(context.options.config, options);
  } else if (!installation.configuration_map.empty()) {
    facts.source = "ConfigMap " + map;
    facts.edit =
        context.commands.kubectl(in_namespace(installation.namespace_) + " edit configmap " + as_word(installation.configuration_map));
    if (const std::string gates = installation.value_of("--feature-gates"); !gates.empty()) options.feature_gates = gates;
    configuration = operations::read_configuration(installation.configuration, facts.source, options);
  } else if (!context.options.feature_gates.empty()) {
    facts.source = "--feature-gates";
    facts.edit = "hindsight run --help";
    configuration = operations::default_configuration(options);
  } else {
    return skipped("no file is named (--config), and no Deployment has one");
  }
  if (!configuration) {
    facts.refused = configuration.error();
    return judge_configuration(facts);
  }
  facts.warnings = configuration->warnings;
  if (const auto defaults = operations::default_configuration({.own_namespace = options.own_namespace})) {
    for (const auto& [name, value] : configuration->gates)
      if (const auto it = defaults->gates.find(name); it == defaults->gates.end() || it->second != value)
        facts.gates.push_back(std::string(name) + (value ? "=true" : "=false"));
  }
  facts.namespace_ = configuration->namespace_;
  facts.installed_in = installation.namespace_;
  facts.other_namespace = installation.deployed() && facts.namespace_ != installation.namespace_;
  if (!context.options.config.empty() && !installation.configuration.empty()) {
    const auto other = operations::read_configuration(installation.configuration, map, options);
    if (other && other->json != configuration->json) facts.other_file = map;
  }
  return judge_configuration(facts);
}

}  // namespace hindsight::doctor
