#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "connectors/objects/pod_use.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/interned.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::connectors {

/// What a node has; sorted by text.
struct ResourceNames {
  std::vector<Symbol> names;
  friend bool operator==(const ResourceNames&, const ResourceNames&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const ResourceNames& resources);

/// How much pods that no assignment stands for use of each node (TAS-25 to TAS-27), from one pod after the other. What changed is told as
/// totals of whole nodes, so that of a DaemonSet's update on thousands of nodes there are as many records as nodes, at most, and a
/// repetition changes nothing.
class NodeUsage {
 public:
  using Tell = std::function<void(const NodeUsageObserved&)>;

  NodeUsage();
  ~NodeUsage();

  /// A pod as it is now; it replaces what was seen of it before.
  void see(const PodUse& pod);
  void forget(std::string_view uid);
  /// A node and the resources that it has: of others nothing is told, whatever pods ask for.
  void see_node(std::string_view name, List<ResourceAmount> allocatable);
  [[nodiscard]] bool knows_node(std::string_view name) const { return nodes_.contains(Symbol(name)); }
  /// The node is told about even if nothing uses it: a log may know of pods that have gone while nobody watched.
  void must_tell(std::string_view name);
  void forget_node(std::string_view name);

  /// Something is to be told.
  [[nodiscard]] bool waits() const { return !changed_.empty(); }
  /// Tells of all nodes whose totals differ from what was told last, by name.
  void tell(const Tell& tell);
  [[nodiscard]] std::size_t entries() const;

 private:
  /// Sorted by resource text. Exact, also where somebody asks for all there can be, so that nothing is left when they have gone.
  using Totals = std::vector<std::pair<Symbol, WideAmount>>;
  class Pods;

  [[nodiscard]] admission::PodAmounts now(const Symbol& node) const;
  void change(const Symbol& node, const admission::PodAmounts& request, int sign);

  std::unique_ptr<Pods> pods_;  ///< Only those that count.
  std::unordered_map<Symbol, Totals> totals_;
  std::unordered_map<Symbol, admission::PodAmounts> told_;
  std::unordered_map<Symbol, Interned<ResourceNames>> nodes_;
  std::unordered_set<Symbol> must_tell_, changed_;
};

}  // namespace hindsight::connectors
