#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "connectors/json/json_value.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::connectors {

/// One resource of one container of a template, as it is and as it shall be.
struct ResourceChange {
  std::string container;
  std::string resource;
  Amount from = 0, to = 0;
};

/// The template with other resources. A limit that equals the request stays equal to it, another one stays as it is (5440 MR-42).
[[nodiscard]] Json with_resources(Json pod_template, const std::vector<ResourceChange>& changes);

/// Whose resources a template has: those of `original`, those that `changes` make of them, or others. Quantities count by value.
enum class ResourceOrigin : std::uint8_t { original, changed, other };
[[nodiscard]] ResourceOrigin resource_origin(const Json& pod_template, const Json& original, const std::vector<ResourceChange>& changes);

/// Gives the containers the resources that containers of the same name have in `original`; those that are not there keep theirs.
void restore_resources(Json& pod_spec, const Json& original_spec);

}  // namespace hindsight::connectors
