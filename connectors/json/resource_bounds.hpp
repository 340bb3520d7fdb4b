#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/json/node.hpp"
#include "connectors/json/pod_template.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// How far the resources of a job may be changed when it is admitted (5440 §2.4): its annotations resource-policy and resource-bounds.
struct ResourceBounds {
  struct Range {
    std::optional<Amount> min, max;  ///< Absent: as the template has it.
    Amount step = 0;                 ///< Above 0.
  };
  ResourcePolicy policy = ResourcePolicy::none;
  std::map<std::string, std::map<std::string, Range, std::less<>>, std::less<>> containers;  ///< By container, then resource.
};

/// Reads both annotations; empty texts are absent ones. Errors: invalid, naming what was found and what is allowed.
[[nodiscard]] Result<ResourcePolicy> parse_resource_policy(std::string_view policy);
[[nodiscard]] Result<ResourceBounds> parse_resource_bounds(std::string_view policy, std::string_view bounds);

/// The bounds of an object with these annotations; nothing where its resources stay as they are, or the annotations cannot be read
/// (webhooks refuse such).
[[nodiscard]] std::optional<ResourceBounds> bounds_of(std::string_view policy, std::string_view bounds);

/// `sized` and `bare_hash` of a pod set, where the bounds are about one of its containers. Bounds keep to the limits of the template and of
/// the namespace (MR-42, MR-43). Resources that the pod as a whole asks for are left alone: its containers say nothing about them.
void read_sized_containers(const Node& pod_template, const TemplateContext& context, PodSetFacts& out);

/// Annotation resource-plan, {pod set: {container: {resource: quantity}}}, against the pod sets that it is about. What does not fit these
/// is left out.
[[nodiscard]] List<PlannedAmount> read_resource_plan(std::string_view text, List<PodSetFacts> pod_sets, Arena& arena);

}  // namespace hindsight::connectors
