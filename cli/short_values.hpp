#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kinds.hpp"
#include "cli/output.hpp"

namespace hindsight::cli {

/// A value that people ask for often, under a short name: of a ClusterQueue "pending", or "usage" of a resource, which is the sum over its
/// flavors. Not every kind has some.
struct ShortField {
  std::string_view name;
  std::string_view list;  ///< Where amounts stand in the object, by flavor and resource; empty: it is one value.
  std::string_view path;  ///< A JSON pointer to the one value, or what an entry of the list calls the amount.
};

/// "clusterqueue/team-a.usage.cpu" in its parts.
struct ShortValue {
  std::string object;  ///< "clusterqueue/team-a"
  const ShortField* field = nullptr;
  std::string resource;  ///< Empty: the field has no resources.

  /// Nothing: the object has no such value.
  [[nodiscard]] std::vector<Json> in(const Json& object) const;
};

/// Nothing: it names an object and no value. Names of objects may have dots, so one that ends like a short value is only meant where a
/// path stands behind it.
[[nodiscard]] std::optional<ShortValue> read_short_value(std::string_view text);
/// "pending, reserving, …, usage.RESOURCE": those of a kind; empty: it has none.
[[nodiscard]] std::string short_fields_of(const KnownKind& kind);

}  // namespace hindsight::cli
