#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "vocabulary/observations.hpp"

/// Enumerations as the API spells them, for both directions.
namespace hindsight::connectors {

/// Condition types of a Workload that are ours (base-api §6.1).
inline constexpr std::array<std::pair<ConditionType, std::string_view>, 10> condition_types{{
    {ConditionType::quota_reserved, "QuotaReserved"},
    {ConditionType::admitted, "Admitted"},
    {ConditionType::finished, "Finished"},
    {ConditionType::pods_ready, "PodsReady"},
    {ConditionType::evicted, "Evicted"},
    {ConditionType::preempted, "Preempted"},
    {ConditionType::requeued, "Requeued"},
    {ConditionType::deactivation_target, "DeactivationTarget"},
    {ConditionType::waiting_for_replacement_pods, "WaitingForReplacementPods"},
    {ConditionType::blocked_on_preemption_gates, "BlockedOnPreemptionGates"},
}};

[[nodiscard]] constexpr ConditionType condition_type(std::string_view name) {
  for (const auto& [type, text] : condition_types)
    if (text == name) return type;
  return ConditionType::unspecified;
}

[[nodiscard]] constexpr std::string_view wire_name(ConditionType wanted) {
  for (const auto& [type, text] : condition_types)
    if (type == wanted) return text;
  return {};
}

[[nodiscard]] constexpr std::string_view wire_name(ConditionStatus status) {
  return status == ConditionStatus::true_ ? "True" : status == ConditionStatus::false_ ? "False" : "Unknown";
}

[[nodiscard]] constexpr std::string_view wire_name(CheckState state) {
  switch (state) {
    case CheckState::pending:
      return "Pending";
    case CheckState::ready:
      return "Ready";
    case CheckState::retry:
      return "Retry";
    case CheckState::rejected:
      return "Rejected";
  }
  return {};
}

}  // namespace hindsight::connectors
