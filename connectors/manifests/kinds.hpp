#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::manifests {

/// How the API server treats a kind.
struct Kind {
  const ResourceType* type = nullptr;
  const Schema* schema = nullptr;
  bool custom = false;              ///< Served from a CustomResourceDefinition; otherwise built into Kubernetes.
  bool status_subresource = false;  ///< spec and status are written apart.
  enum class Generation : std::uint8_t { none, fixed, counted };
  Generation generation = Generation::none;  ///< metadata.generation: absent, always 1, or growing with each change of what is wanted.
  bool looked_into = true;                   ///< false: only metadata is known here (Ray kinds).

  [[nodiscard]] std::string api_version() const;
};

/// Every kind that manifests and the simulated cluster know, in the order in which a simulated API server lists them.
[[nodiscard]] const std::vector<Kind>& kinds();

/// The kind of that name; nullptr: unknown. Kind names are unique among the kinds here.
[[nodiscard]] const Kind* find_kind(std::string_view name);
[[nodiscard]] const Kind& kind_of(std::string_view name);  ///< A bug where there is none.

/// All kind names, for suggestions.
[[nodiscard]] std::vector<std::string_view> kind_names();

/// Named types that are no kinds: "Scenario".
[[nodiscard]] const Schema& named_schema(std::string_view name);

}  // namespace hindsight::connectors::manifests
