#pragma once

#include <cstdint>
#include <functional>
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

/// How much pods that no assignment stands for use of each node (TAS-25 to TAS-27), from one pod after the other. What changed is told as
/// totals of whole nodes, so that of a DaemonSet's update on thousands of nodes there are as many records as nodes, at most, and a
/// repetition changes nothing.
class NodeUsage {
 public:
  using Tell = std::function<void(const NodeUsageObserved&)>;

  /// A pod as it is now; it replaces what was seen of it before.
  void see(const PodUse& pod);
  void forget(std::string_view uid);
  /// A node that is there is told about even if nothing uses it: a log may know of pods that have gone while nobody watched.
  void see_node(std::string_view name);
  void forget_node(std::string_view name) { listed_.erase(Symbol(name)); }

  /// Something is to be told.
  [[nodiscard]] bool waits() const { return !changed_.empty(); }
  /// Tells of all nodes whose totals differ from what was told last, by name.
  void tell(const Tell& tell);
  [[nodiscard]] std::size_t entries() const { return pods_.size() + totals_.size() + listed_.size() + told_.size(); }

 private:
  using Totals = std::vector<std::pair<Symbol, Amount>>;  ///< Sorted by resource text.
  struct Pod {
    Symbol node;
    Interned<PodRequestTotals> request;
  };

  void change(const Symbol& node, const PodRequestTotals& request, int sign);

  std::unordered_map<std::string, Pod> pods_;  ///< By uid; only those that count.
  std::unordered_map<Symbol, Totals> totals_;
  std::unordered_map<Symbol, Totals> told_;
  std::unordered_set<Symbol> listed_, changed_;
};

}  // namespace hindsight::connectors
