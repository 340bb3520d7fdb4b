#pragma once

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"

namespace hindsight::admission {

// Can pods of this shape run on nodes of this flavor (base-admission §5.4 steps 3 and 4)?

/// The first NoSchedule or NoExecute taint of the flavor that neither the pods nor the flavor itself tolerate; nullptr: none (BA-82).
[[nodiscard]] const OwnedTaint* first_untolerated_taint(const FlavorConfig& flavor, const PodShape& shape);

/// As of a flavor, for a taint of a node: does one of these tolerate it, or is it one that keeps no pod away?
[[nodiscard]] bool tolerated(const OwnedTaint& taint, const std::vector<OwnedToleration>& tolerations);

/// nodeSelector and required node affinity, reduced to the label keys of this flavor: terms are OR-ed, and a term that becomes
/// empty matches (BA-81).
[[nodiscard]] bool matches_node_labels(const FlavorConfig& flavor, const PodShape& shape);

/// The node that places call by this name; null: there is none.
[[nodiscard]] const NodeConfig* node_of(const Nodes& nodes, const Hosts& hosts, const Symbol& host);

/// Has the node all of these labels, each with this value?
[[nodiscard]] bool carries(const NodeConfig& node, const std::vector<std::pair<Symbol, std::string>>& labels);
/// nodeSelector of the pods against all labels of a node.
[[nodiscard]] bool selects(const PodShape& shape, const NodeConfig& node);
/// Their required node affinity likewise: terms are OR-ed, and one that says nothing matches nothing.
[[nodiscard]] bool affine(const PodShape& shape, const NodeConfig& node);
/// How much they prefer the node: the sum of the weights of the preferred terms that it matches; a term that says nothing matches all
/// nodes.
[[nodiscard]] std::int64_t affinity_score(const PodShape& shape, const NodeConfig& node);

}  // namespace hindsight::admission
