#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::operations {

enum class GateStage : std::uint8_t { alpha, beta, stable, deprecated };

/// A switch of the Kueue API or of our own (base-api §12, 77 §2.1, 2724 §2.10, 6915, 5440 §2.4).
struct FeatureGate {
  std::string_view name;
  GateStage stage = GateStage::alpha;
  bool enabled = false;    ///< Unless told otherwise. A stable gate cannot be told otherwise.
  std::string_view needs;  ///< Cannot be switched on while this one is off; empty: none.
  std::string_view needs_also;
  std::string_view what;  ///< What it does while it is on.
  bool of_kueue = true;   ///< Kueue has a gate of this name.
};

/// All that are known, by name.
[[nodiscard]] std::span<const FeatureGate> feature_gates();
/// nullptr: unknown.
[[nodiscard]] const FeatureGate* find_feature_gate(std::string_view name);

using GateValues = std::map<std::string, bool, std::less<>>;

/// "A=true,B=false", as --feature-gates takes it. Errors: invalid, naming the part that is wrong; an unknown gate with those that are
/// spelled nearly so. What the values mean together is judged by judge_gates().
[[nodiscard]] Result<GateValues> parse_feature_gates(std::string_view text);

/// Appends what is wrong with the values: unknown gates, stable ones that are switched off, one that is on without what it needs.
void judge_gates(const GateValues& given, std::vector<connectors::manifests::Problem>& problems);

/// Every known gate with the value that it has when `given` is asked for.
[[nodiscard]] GateValues resolve_gates(const GateValues& given);

}  // namespace hindsight::operations
