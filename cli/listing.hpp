#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "projections/tables.hpp"

namespace hindsight::cli {

/// Objects of one kind, as objects and as the rows of a table: row i shows object i.
struct Listing {
  projections::Table table;
  std::vector<Json> objects;
  std::vector<std::string> phases;  ///< Of Workloads: where each stands; else empty.

  [[nodiscard]] std::string phase(std::size_t i) const { return i < phases.size() ? phases[i] : std::string(); }
  /// Only these, in this order.
  void choose(const std::vector<std::size_t>& places);
};

/// What of a listing is needed; making the rest would cost.
struct ListingParts {
  bool table = true;
  bool objects = true;
};

/// All objects of the kind that the filter lets through; not events, which no state holds.
[[nodiscard]] Listing list_objects(const admission::StateView& state, const KnownKind& kind, const projections::Filter& filter,
                                   const ListingParts& parts);

/// "namespace/name", or the name alone.
[[nodiscard]] std::string full_name_in(const Json& object);

}  // namespace hindsight::cli
