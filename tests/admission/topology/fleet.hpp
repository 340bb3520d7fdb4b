#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "admission/topology/placement.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission::topology::testing {

inline const Symbol cpu("cpu"), pods("pods");

/// A tree written as "block/rack/host:pods …", where a pod takes one core, and its free capacity.
class Fleet {
 public:
  explicit Fleet(const std::string& text, std::vector<std::string> levels = {"block", "rack", "kubernetes.io/hostname"}) {
    std::vector<TopologyTree::Node> nodes;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const auto colon = word.rfind(':');
      TopologyTree::Node n;
      std::istringstream path(word.substr(0, colon));
      for (std::string value; std::getline(path, value, '/');) n.values.push_back(value);
      n.name = word.substr(0, colon);
      n.allocatable = {{cpu, std::stoll(word.substr(colon + 1)) * 1'000}, {pods, 110}};
      nodes.push_back(std::move(n));
    }
    tree = TopologyTree::build(std::move(levels), std::move(nodes));
    free = tree.capacity();
  }

  /// Where the gang stands: "leader n2, n1:4 n2:1"; else the sentence that says why not.
  std::string place(const TopologyRequest& request, const Gang& gang, std::vector<std::uint8_t> excluded = {},
                    const std::map<std::string, std::int32_t>& why = {}) {
    const auto rules = rules_for(request, tree.levels(), implied, profile);
    if (!rules) return rules.error().message;
    const auto placed = topology::place(tree, free, *rules, gang, {excluded, {}, {}, {}});
    if (!placed) return text_of(placed.error(), "T", tree, *rules, why);
    if (keep) charge(free, gang, *placed);
    std::string out = placed->leader ? "leader " + name(*placed->leader) + "," : "";
    for (const auto& [leaf, n] : placed->pods) out += (out.empty() ? "" : " ") + name(leaf) + ":" + std::to_string(n);
    return out;
  }
  std::string place(const TopologyRequest& request, std::int32_t count, Amount milli = 1'000) { return place(request, gang(count, milli)); }
  static Gang gang(std::int32_t count, Amount milli = 1'000) { return {count, {{cpu, milli}, {pods, 1}}, {}}; }
  static Gang led(std::int32_t workers, Amount milli, Amount leader_milli) {
    Gang g = gang(workers, milli);
    g.leader = PodRequest{{cpu, leader_milli}, {pods, 1}};
    return g;
  }
  [[nodiscard]] std::string name(DomainIndex leaf) const {
    std::string out;
    for (const auto& value : tree.path(tree.lowest(), leaf)) out += (out.empty() ? "" : "/") + value;
    return out;
  }

  TopologyTree tree;
  Capacity free;
  bool keep = false;  ///< What is placed stays there.
  bool implied = false;
  PlacementProfile profile;
};

inline TopologyRequest required(std::string level) {
  TopologyRequest r;
  r.required = std::move(level);
  return r;
}
inline TopologyRequest preferred(std::string level) {
  TopologyRequest r;
  r.preferred = std::move(level);
  return r;
}
inline TopologyRequest unconstrained() {
  TopologyRequest r;
  r.unconstrained = true;
  return r;
}
inline TopologyRequest sliced(TopologyRequest r, std::string level, std::int32_t size) {
  r.slices.push_back({std::move(level), size});
  return r;
}
inline const std::string host = "kubernetes.io/hostname";

}  // namespace hindsight::admission::topology::testing
