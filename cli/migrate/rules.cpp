#include "cli/migrate/rules.hpp"

namespace hindsight::cli::migrate {

Findings look_at_everything(const World& world) {
  Findings out;
  look_at_surroundings(world, out);
  look_at_definitions(world, out);
  const Configured configured = look_at_configuration(world, out);
  look_at_gates(world, out);
  look_at_kinds(world, configured, out);
  look_at_objects(world, configured, out);
  look_at_workloads(world, configured, out);
  look_at_matches(world, out);
  return out;
}

std::vector<const Rule*> all_rules() {
  std::vector<const Rule*> out;
  for (const auto& area : {surroundings_rules(), definition_rules(), configuration_rules(), gate_rules(), kind_rules(), object_rules(),
                           workload_rules(), match_rules()})
    for (const auto& rule : area) out.push_back(&rule);
  return out;
}

}  // namespace hindsight::cli::migrate
