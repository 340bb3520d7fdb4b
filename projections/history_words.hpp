#pragma once

#include <string>

#include "admission/model/workload_state.hpp"
#include "vocabulary/decisions.hpp"

namespace hindsight::projections {

/// What an event means for the workload that a history is about.
struct EventWords {
  std::string kind, text;
  bool writes = true;  ///< It changes the Workload; without a change it was void.
};

/// `as_preemptor`: the event names the workload as the one that makes room for itself.
[[nodiscard]] EventWords words_for(const Event& event, bool as_preemptor);

/// "reserved … with main x3: cpu=default 3".
[[nodiscard]] std::string plan_words(List<PlannedAmount> plan);
/// "block-1/rack-2: 4, block-1/rack-3: 1", the first few of them.
[[nodiscard]] std::string placement_words(const admission::TopologyAssignment& assignment);
[[nodiscard]] std::string assignment_words(List<PodSetAssignmentFacts> assignments);

/// "main x3 (cpu 1, memory 2Gi each)" for all pod sets.
[[nodiscard]] std::string pod_set_words(const std::vector<admission::PodSetSpec>& pod_sets);

}  // namespace hindsight::projections
