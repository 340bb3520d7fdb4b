#pragma once

#include <cstddef>

#include "connectors/json/node.hpp"
#include "connectors/json/pod_defaults.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

struct ResourceBounds;

/// The surroundings of a pod template.
struct TemplateContext {
  const ClusterDefaults* defaults = nullptr;  ///< nullptr: no RuntimeClasses and LimitRanges are known.
  Text namespace_;
  std::size_t pod_set_index = 0;           ///< Position among the pod sets, for paths in `limits_error`.
  const ResourceBounds* bounds = nullptr;  ///< nullptr: resources stay as they are.
};

/// Reads a PodTemplateSpec into the facts of its pod set: everything but name, count, min_count and a Workload's topologyRequest
/// (topology annotations of the template are read). BA-43.
void read_pod_template(const Node& pod_template, const TemplateContext& context, PodSetFacts& out);

// ---- parts that other kinds share -----------------------------------------------------------------------------------------

/// Tolerations under `key`. Those with the comparison operators Lt and Gt are left out: no taint is matched by them here.
[[nodiscard]] List<Toleration> read_tolerations(const Node& parent, std::string_view key, const limits::Limit& limit);
[[nodiscard]] List<Taint> read_taints(const Node& parent, std::string_view key, const limits::Limit& limit);
/// Refuses pod sets that ask for more of a resource than limits::total_amount, all pods together, and whose facts take more than
/// limits::facts. `object`: where they are from.
void check_pod_sets(const Node& object, List<PodSetFacts> pod_sets);
/// matchLabels (as `in` with one value, sorted by key) and matchExpressions of a label selector.
[[nodiscard]] List<Requirement> read_label_selector(const Node& selector);

}  // namespace hindsight::connectors
