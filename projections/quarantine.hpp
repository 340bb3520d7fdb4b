#pragma once

#include <optional>
#include <string>
#include <vector>

#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "projections/table.hpp"
#include "projections/tables.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {

/// An object that was set aside because something about it failed (ObjectQuarantined).
struct QuarantinedObject {
  std::string kind;        ///< As the API calls it: "Job", "LimitRange".
  std::string namespace_;  ///< Empty: it is in none.
  std::string name, uid;
  std::uint64_t resource_version = 0;
  QuarantineStage stage = QuarantineStage::read;
  std::string reason;
  Time since;
};

/// By namespace, name and kind. Of the filter, namespaces and names count; what is in no namespace is in all of them.
[[nodiscard]] std::vector<QuarantinedObject> quarantined_objects(const StateView& state, const Filter& filter = {});
[[nodiscard]] Table quarantined_table(const StateView& state, const Filter& filter);
[[nodiscard]] Json to_json(const QuarantinedObject& object);

/// Why nothing is done with a job or Workload that was never read; nothing: it is another object's business.
[[nodiscard]] std::optional<Why> explain_quarantine(const StateView& state, const Target& target);

}  // namespace hindsight::projections
