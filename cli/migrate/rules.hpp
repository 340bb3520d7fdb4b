#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/migrate/finding.hpp"
#include "cli/migrate/world.hpp"

namespace hindsight::cli::migrate {

// One area each: its rules, and what looks for them. The order is the one in which findings of equal severity are told.

[[nodiscard]] std::span<const Rule> surroundings_rules();
void look_at_surroundings(const World& world, Findings& out);

[[nodiscard]] std::span<const Rule> definition_rules();
void look_at_definitions(const World& world, Findings& out);

[[nodiscard]] std::span<const Rule> configuration_rules();
/// Reads the configuration, for all other areas too. `feature_gates`: of the command line of Kueue's process, "A=true,B=false".
[[nodiscard]] Configured look_at_configuration(const World& world, Findings& out);

[[nodiscard]] std::span<const Rule> gate_rules();
void look_at_gates(const World& world, Findings& out);

[[nodiscard]] std::span<const Rule> kind_rules();
void look_at_kinds(const World& world, const Configured& configured, Findings& out);

[[nodiscard]] std::span<const Rule> object_rules();
void look_at_objects(const World& world, const Configured& configured, Findings& out);

[[nodiscard]] std::span<const Rule> workload_rules();
void look_at_workloads(const World& world, const Configured& configured, Findings& out);

[[nodiscard]] std::span<const Rule> match_rules();
void look_at_matches(const World& world, Findings& out);

/// All areas.
[[nodiscard]] Findings look_at_everything(const World& world);
/// All rules of all areas, for what lists them.
[[nodiscard]] std::vector<const Rule*> all_rules();

/// What Hindsight has in place of a feature gate of Kueue.
enum class Standing : std::uint8_t {
  same,       ///< The gate does here what it does there.
  always_on,  ///< What it switches on is there, and cannot be switched off.
  absent,     ///< What it switches on is not there.
  inner,      ///< A matter of how Kueue works inside; nothing that anybody sees.
};
struct GateStanding {
  std::string_view name;
  Standing standing = Standing::same;
  std::string_view instead;  ///< For always_on and absent: what there is, a clause.
};
/// One for each gate that operations/feature_gates knows; sorted by name.
[[nodiscard]] std::span<const GateStanding> gate_standings();

/// A name that released versions of Kueue take and `hindsight run` does not: a gate that was taken out since, or a group of gates.
struct EarlierGate {
  std::string_view name;
  std::string_view instead;  ///< What there is here, a clause.
};
/// Sorted by name; none of them is known to operations/feature_gates.
[[nodiscard]] std::span<const EarlierGate> earlier_gates();
[[nodiscard]] bool is_earlier_gate(std::string_view name);

/// The value of --feature-gates of Kueue's Deployment, in two parts.
struct GatesOfProcess {
  std::string known;  ///< "A=true,B=false", whatever is no earlier gate.
  std::vector<std::pair<std::string, std::string>> earlier;
};
[[nodiscard]] GatesOfProcess gates_of_process(const World& world);

/// What the API server or Kueue's process was told: the value of --feature-gates of Kueue's Deployment; empty: none.
[[nodiscard]] std::string feature_gates_of_process(const World& world);

/// Why Kueue's objects of this kind cannot be judged by kinds alone: is the job's kind one that this build runs?
[[nodiscard]] bool is_integrated(std::string_view kind, std::string_view group);

}  // namespace hindsight::cli::migrate
