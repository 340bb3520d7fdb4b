#pragma once

#include <optional>
#include <string>
#include <vector>

#include "projections/lookup.hpp"
#include "projections/table.hpp"
#include "projections/tables.hpp"
#include "projections/why.hpp"
#include "vocabulary/decisions.hpp"

namespace hindsight::projections {

/// Who is held back by a gate annotation: a job under scheduling-gated-by, a Workload under admission-gated-by (SG-70).
struct GatedObject {
  GateContract contract = GateContract::scheduling;
  std::string kind, namespace_, name;
  std::string value;
  Time since;  ///< When it was observed; never: that was not decided yet.
};

/// By namespace, name and kind. Of the filter, namespaces and names count.
[[nodiscard]] std::vector<GatedObject> gated_objects(const StateView& state, const Filter& filter = {});
[[nodiscard]] Table gates_table(const StateView& state, const Filter& filter);
[[nodiscard]] Json to_json(const GatedObject& gated);

/// Why a job that is held back has no Workload (SG-77); nothing: it is another job's business, or it is not held back.
[[nodiscard]] std::optional<Why> explain_gate(const StateView& state, const Target& target);

}  // namespace hindsight::projections
