#include "projections/left_out_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/model/node_match.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

using admission::FlavorConfig;
using admission::NodeConfig;

constexpr std::size_t nodes_named = 3;

/// The first label of the flavor that the node has not, or has with another value; empty: it has all.
std::string wrong_label(const NodeConfig& node, const FlavorConfig& flavor) {
  for (const auto& [key, value] : flavor.node_labels) {
    if (!node.has_label(key)) return "no label " + text(key) + "=" + value;
    if (const std::string_view found = node.label(key); found != value)
      return "label " + text(key) + "=" + std::string(found) + " instead of " + value;
  }
  return {};
}

}  // namespace

std::string why_left_out(const admission::StateView& state, const NodeConfig& node, const FlavorConfig& flavor) {
  if (auto wrong = wrong_label(node, flavor); !wrong.empty()) return wrong;
  const auto& topologies = state.domain().catalog()->topologies;
  const auto levels = topologies.find(flavor.topology);
  if (levels == topologies.end()) return "no Topology " + text(flavor.topology);
  for (const std::string& level : levels->second)
    if (!node.has_label(Symbol(level))) return "no label " + level;
  if (!node.ready) return node.silent ? "no condition Ready" : "not ready";
  return node.unschedulable ? "cordoned" : std::string();
}

std::vector<NodeGroup> left_out_nodes(const admission::StateView& state, const FlavorConfig& flavor) {
  std::map<std::string, NodeGroup> by_reason;
  for (const auto& [name, node] : state.domain().nodes()) {
    if (!admission::carries(*node, flavor.node_labels)) continue;
    std::string reason = why_left_out(state, *node, flavor);
    if (reason.empty()) continue;
    NodeGroup& group = by_reason[reason];
    group.reason = std::move(reason);
    ++group.nodes;
    if (group.examples.size() < nodes_named) group.examples.push_back(text(name));
  }
  std::vector<NodeGroup> out;
  for (auto& [reason, group] : by_reason) out.push_back(std::move(group));
  std::stable_sort(out.begin(), out.end(), [](const NodeGroup& a, const NodeGroup& b) { return a.nodes > b.nodes; });
  return out;
}

Json to_json(const std::vector<NodeGroup>& groups) {
  Json out = Json::array();
  for (const NodeGroup& g : groups)
    out.push_back({{"reason", g.reason}, {"nodes", g.nodes}, {"examples", g.examples}, {"examplesLeftOut", names_left_out(g)}});
  return out;
}

std::string example_words(const NodeGroup& group) {
  std::string out = joined(group.examples, ", ");
  if (const auto more = names_left_out(group); more > 0) out += " and " + std::to_string(more) + " more";
  return out;
}

std::string words_of(const NodeGroup& group) {
  return std::to_string(group.nodes) + (group.nodes == 1 ? " node gives" : " nodes give") + " no places: " + group.reason + " (" +
         example_words(group) + ")";
}

}  // namespace hindsight::projections
